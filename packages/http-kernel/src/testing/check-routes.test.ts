import { describe, expect, it } from "vitest";
import { checkRoute } from "./check-routes.js";
import { errors, routes } from "./fixture/fixture-routes.js";
import { useFixture } from "./fixture/use-fixture.js";

const FINITE = { ...routes, stream: undefined, slow: undefined, fail: undefined, getFile: undefined };

describe("answers stay within their declaration", () => {
  const fixture = useFixture();
  it.each(Object.entries(FINITE).flatMap(([name, route]) => (route === undefined ? [] : [[name, route] as const])))(
    "%s",
    async (_, route) => {
      await checkRoute(route, { baseUrl: fixture.url(), errors, known: { name: ["no-such", "one"] } });
    },
  );
  it("streams too", async () => {
    const known = { count: [0, 1, 5], everyMs: [0], padding: [0], bytes: [0, 10], failAt: [1] };
    await checkRoute(
      { ...routes.stream, body: limitedStreamBody() },
      { baseUrl: fixture.url(), errors, known, runs: 30 },
    );
  });
});

describe("the check itself", () => {
  const fixture = useFixture({ checkAnswers: false });
  const refused = (route: Parameters<typeof checkRoute>[0]) =>
    expect(checkRoute(route, { baseUrl: fixture.url(), errors, runs: 100 })).rejects;
  it("finds an answer of another shape", () =>
    refused({
      ...routes.getItem,
      responses: { 200: { description: "", schema: routes.health.responses[200].schema } },
    }).toThrow("breaks its schema"));
  it("finds an undeclared type", () =>
    refused({ ...routes.getItem, responses: { 200: { description: "", contentType: "image/png" } } }).toThrow(
      "has the type",
    ));
  it("finds an undeclared code", () => refused({ ...routes.fail, errors: [] }).toThrow("is not declared"));
});

/** The fixture can count for hours; generated requests should not ask for that. */
function limitedStreamBody(): typeof routes.stream.body {
  const properties = Object.fromEntries(
    Object.entries(routes.stream.body.properties).map(([name, schema]) => [
      name,
      schema.type === "integer" ? { ...schema, maximum: 5 } : schema,
    ]),
  );
  return { ...routes.stream.body, properties } as unknown as typeof routes.stream.body;
}
