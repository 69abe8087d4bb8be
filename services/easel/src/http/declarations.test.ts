/** Requests made at random from each route's own declaration: whatever is asked, the answer stays within it. */
import { checkRoute } from "@kit/http-kernel/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { errors } from "../contract/errors.js";
import { routes } from "../contract/routes.js";
import { startEasel, type TestEasel } from "../testing/start-easel.js";

let easel: TestEasel;
beforeAll(async () => {
  easel = await startEasel();
});
afterAll(() => easel.stop());

/** Routes whose answers cost a drawing get fewer requests, with values that keep the drawings small. */
const DRAWING = new Set<string>(["generate", "generateStream", "openAiGenerate", "loadModel", "expand"]);

describe("every answer is one that the route declares", () => {
  test.each(Object.entries(routes))("%s", async (name, route) => {
    await checkRoute(route, {
      baseUrl: easel.url,
      errors,
      runs: DRAWING.has(name) ? 25 : 40,
      known: {
        prompt: ["a fox", " ", "狐"],
        model: ["tiny", "tiny:local", "nobody"],
        name: ["tiny", "sd15:fp16", "x.png", "nobody"],
        width: [64, 65],
        height: [64, 72],
        steps: [1, 2, 151],
        batch: [1, 2],
        n: [1, 17],
        size: ["64x64", "auto", "7x7"],
        image: ["AAAA"],
        mask: ["AAAA"],
        lora: ["style.safetensors", "../x.safetensors"],
        expand: [false],
        variations: [1],
      },
    });
  });
});

test("the OpenAPI document is the reviewed one", async () => {
  const document = (await (await fetch(`${easel.url}/api/openapi.json`)).json()) as object;
  await expect(`${JSON.stringify(document, null, 1)}\n`).toMatchFileSnapshot("./openapi.snapshot");
});
