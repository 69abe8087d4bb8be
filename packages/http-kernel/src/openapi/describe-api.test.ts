import { describe, expect, it } from "vitest";
import { errors, routes } from "../testing/fixture/fixture-routes.js";
import { describeApi } from "./describe-api.js";

const document = describeApi({
  title: "Fixture",
  version: "1.0.0",
  errors,
  routes: Object.values(routes),
  hasKeys: true,
});

describe("describeApi", () => {
  it("has every route with its parameters, answers and errors", () =>
    expect(document.paths["/api/items/{name}"]).toMatchSnapshot());
  it("has bodies and events", () => {
    expect(document.paths["/api/items"]?.["post"]).toMatchSnapshot();
    expect(document.paths["/api/stream"]?.["post"]).toMatchSnapshot();
  });
  it("names shared shapes once, and every reference has its shape", () => {
    const text = JSON.stringify(document);
    const names = [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map((match) => match[1]);
    expect(new Set(names)).toEqual(new Set(["Item", "Error"]));
    expect(Object.keys(document.components["schemas"] as object).sort()).toEqual(["Error", "Item"]);
  });
  it("operation ids are unique", () => {
    const ids = Object.values(document.paths).flatMap((path) =>
      Object.values(path).map((operation) => (operation as { operationId: string }).operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });
  it("a code that is in no table is found at the start", () => {
    expect(() =>
      describeApi({ title: "", version: "", errors, routes: [{ ...routes.health, errors: ["NO_SUCH"] }] }),
    ).toThrow("'NO_SUCH' is not in the error table");
  });
});
