/**
 * From nothing to the first step through the real engine, as a server does it: node measure-cold-start.mjs FOLDER TOKENIZER THREADS [float32|int8].
 * Prints one line of JSON: seconds since this process began at which the first step began, stages ended and the picture was done.
 */
import { createEngine } from "../../services/easel/dist/engine/engine-host.js";

const [folder, tokenizerFolder, threads, cpuMath = "float32"] = process.argv.slice(2);
const seconds = () => Math.round(performance.now()) / 1000;
const stages = {};
let begun;
const steps = [];
const engine = await createEngine({ backend: "cpu", cpuMath, threads: Number(threads), tokenizerFolder });
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
      if (progress.type === "stage_start" && progress.name === "denoising") begun = seconds();
      if (progress.type === "stage_done") stages[progress.name] = seconds();
      if (progress.type === "denoise_step") steps.push(seconds());
    },
  },
);
const end = seconds();
await engine.close();
const step = steps[2] - steps[1];
// begun: the moment the first step's call was made; toFirstStep: its end less the time of a later one, so that what only the first one does counts too
const toFirstStep = Math.round((steps[0] - step) * 1000) / 1000;
console.log(JSON.stringify({ begun, toFirstStep, firstStepDone: steps[0], step, picture: end, stages }));
