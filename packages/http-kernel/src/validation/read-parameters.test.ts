import fc from "fast-check";
import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { compileQuery } from "./read-parameters.js";

const read = compileQuery(
  Type.Object({
    q: Type.String({ minLength: 1, maxLength: 256 }),
    exact: Type.Optional(Type.Boolean()),
    limit: Type.Integer({ minimum: 0, default: 50 }),
    offset: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 }),
    sort: Type.Optional(Type.Union([Type.Literal("date"), Type.Literal("name")])),
    ratio: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  }),
  (message) => new Error(message),
);

describe("compileQuery", () => {
  it("fills defaults and leaves out what is optional", () =>
    expect(read("q=a")).toEqual({ q: "a", limit: 50, offset: 0 }));
  it("decodes once, as UTF-8, with + as a space", () =>
    expect(read("q=a%2Bb+c%20%F0%9F%98%80%2526")["q"]).toBe("a+b c \u{1F600}%26"));
  it.each([
    ["true", true],
    ["1", true],
    ["false", false],
    ["0", false],
  ])("reads the boolean %s", (text, value) => expect(read(`q=a&exact=${text}`)["exact"]).toBe(value));
  it.each(["TRUE", "yes", "", "2", " true", "null"])("refuses the boolean '%s'", (text) => {
    expect(() => read(`q=a&exact=${encodeURIComponent(text)}`)).toThrow(
      `Query parameter 'exact' is '${text}': it must be true, false, 1 or 0`,
    );
  });
  it.each(["-1", "+1", "1.0", "1e3", "0x10", " 1", "", "\u0661", "NaN"])("refuses the integer '%s'", (text) => {
    expect(() => read(`q=a&limit=${encodeURIComponent(text)}`)).toThrow("plain decimal digits");
  });
  it("lets handlers clamp huge numbers, unless the declaration refuses them", () => {
    expect(read(`q=a&limit=${"9".repeat(400)}`)["limit"]).toBe(2 ** 53);
    expect(read(`q=a&offset=${Number.MAX_SAFE_INTEGER}`)["offset"]).toBe(Number.MAX_SAFE_INTEGER);
    expect(() => read("q=a&offset=9007199254740992")).toThrow("from 0 to 9007199254740991");
  });
  it("names the allowed values", () =>
    expect(() => read("q=a&sort=size")).toThrow("'sort' is 'size': it must be one of 'date', 'name'"));
  it("refuses a known parameter given twice, even twice the same", () => {
    expect(() => read("q=a&limit=1&limit=1")).toThrow("'limit' is given more than once");
    expect(() => read("q=a&%71=b")).toThrow("'q' is given more than once");
  });
  it("ignores unknown ones, also twice, also odd", () =>
    expect(read("x=1&x=2&__proto__=a&toString&=&&q=a")).toEqual({ q: "a", limit: 50, offset: 0 }));
  it("says what is missing", () => {
    expect(() => read("")).toThrow("Query parameter 'q' is missing");
    expect(() => read("q")).toThrow("'q' is ''");
  });
  it.each(["q=%", "q=%zz", "q=%ff", "%ff=1&q=a"])("refuses the bad encoding %s", (search) =>
    expect(() => read(search)).toThrow("percent-encoded UTF-8"),
  );
  it("any text either comes back as given or is refused with an Error", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1, maxLength: 50 }), (text) => {
        expect(read(new URLSearchParams({ q: text }).toString())["q"]).toBe(text.toWellFormed());
      }),
    );
    fc.assert(
      fc.property(fc.string({ maxLength: 100 }), (search) => {
        try {
          expect(read(search)).toHaveProperty("q");
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
          expect((error as Error).message).toMatch(/parameter/);
        }
      }),
    );
  });
});
