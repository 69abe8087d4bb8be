import { checkRoute } from "@kit/http-kernel/testing";
import { afterAll, beforeAll, describe, it } from "vitest";
import { errors } from "../contract/errors.js";
import { routes } from "../contract/routes.js";
import { startEasel, type TestEasel } from "../testing/start-easel.js";

/** Routes that only look: generated requests may ask them anything. Work and deletion have tests with chosen requests. */
const LOOKING = Object.entries(routes).filter(([, route]) => route.method === "GET");

describe("whatever is asked, the answers stay within their declaration", () => {
  let easel: TestEasel;
  const known: Record<string, string[]> = {};
  beforeAll(async () => {
    easel = await startEasel({ flags: ["--log-level", "warn"] });
    const drawn = await easel.client.generate.response({ body: { prompt: "a dot", width: 64, height: 64, steps: 1 } });
    await drawn.arrayBuffer();
    const { images } = await easel.client.listGallery({});
    known["name"] = [...images.map((image) => image.name), "tiny", "tiny:local"];
    known["id"] = [drawn.headers.get("x-service-job-id") ?? ""];
  });
  afterAll(async () => {
    await easel.stop();
  });
  it.each(LOOKING)("%s", async (_, route) => {
    await checkRoute(route, { baseUrl: easel.url, errors, known });
  });
});
