/**
 * From nothing to the first step through the real engine, as a server does it: node measure-cold-start.mjs FOLDER TOKENIZER THREADS.
 * Prints one line of JSON: seconds since this process began at which each stage ended and each step was done.
 */
import { createEngine } from "../../services/easel/dist/engine/engine-host.js";

const [folder, tokenizerFolder, threads] = process.argv.slice(2);
const seconds = () => Math.round(performance.now()) / 1000;
const stages = {};
const steps = [];
const engine = await createEngine({ backend: "cpu", threads: Number(threads), tokenizerFolder });
await engine.generate(
  {
    model: { name: "sd15", path: folder },
    prompt: "a red fox in the snow",
    negativePrompt: "",
    width: 512,
    height: 512,
    steps: 3,
    guidance: 1,
    seed: 1,
    batch: 1,
    adapters: [],
    preview: false,
  },
  {
    onProgress: (progress) => {
      if (progress.type === "stage_done") stages[progress.name] = seconds();
      if (progress.type === "denoise_step") steps.push(seconds());
    },
  },
);
const end = seconds();
await engine.close();
const step = steps[2] - steps[1];
// what is left of the first step's end when a later step's time is taken off: the moment it could begin
console.log(JSON.stringify({ toFirstStep: steps[0] - step, firstStepDone: steps[0], step, picture: end, stages }));
