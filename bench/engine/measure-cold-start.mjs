/**
 * From nothing to the first step through the real engine, as a server does it: node measure-cold-start.mjs FOLDER TOKENIZER THREADS [float32|int8] [first-step].
 * Prints one line of JSON: seconds since this process began at which the first step began, stages ended and the picture was done. With "first-step" it ends
 * after that step.
 */
import { createEngine } from "../../services/easel/dist/engine/engine-host.js";

const [folder, tokenizerFolder, threads, ...words] = process.argv.slice(2);
const cpuMath = words.includes("int8") ? "int8" : "float32";
const endsEarly = words.includes("first-step");
const seconds = () => Math.round(performance.now()) / 1000;
const stages = {};
let begun;
const steps = [];
const stop = new AbortController();
const engine = await createEngine({ backend: "cpu", cpuMath, threads: Number(threads), tokenizerFolder });
const drawing = engine.generate(
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
    signal: stop.signal,
    onProgress: (progress) => {
      if (progress.type === "stage_start" && progress.name === "denoising") begun = seconds();
      if (progress.type === "stage_done") stages[progress.name] = seconds();
      if (progress.type === "denoise_step") steps.push(seconds());
      if (endsEarly && steps.length > 0) stop.abort();
    },
  },
);
await drawing.catch((error) => {
  if (!endsEarly || error.code !== "CANCELLED") throw error;
});
const end = seconds();
await engine.close();
if (endsEarly) {
  console.log(JSON.stringify({ begun, firstStepDone: steps[0] }));
  process.exit(0);
}
const step = steps[2] - steps[1];
// begun: the moment the first step's call was made; toFirstStep: its end less the time of a later one, so that what only the first one does counts too
const toFirstStep = Math.round((steps[0] - step) * 1000) / 1000;
console.log(JSON.stringify({ begun, toFirstStep, firstStepDone: steps[0], step, picture: end, stages }));
