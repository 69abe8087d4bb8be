import fc from "fast-check";
import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { compileBody } from "./check-body.js";

const check = compileBody(
  Type.Object({
    prompt: Type.String({ minLength: 1, maxLength: 10 }),
    width: Type.Optional(Type.Integer({ minimum: 64, maximum: 2048, multipleOf: 8 })),
    guidance: Type.Optional(Type.Number({ minimum: 0 })),
    expand: Type.Optional(Type.Boolean()),
    format: Type.Optional(Type.Union([Type.Literal("png"), Type.Literal("jpeg")])),
    inner: Type.Optional(Type.Object({ list: Type.Array(Type.Object({ deep: Type.String() })) })),
    note: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    free: Type.Optional(Type.Object({ known: Type.Optional(Type.String()) }, { additionalProperties: true })),
    batch: Type.Integer({ default: 1 }),
  }),
  (message) => new Error(message),
);

describe("compileBody", () => {
  it("fills defaults and changes nothing else", () => {
    expect(check({ prompt: "a", note: null, free: { other: 1 } })).toEqual({
      prompt: "a",
      note: null,
      free: { other: 1 },
      batch: 1,
    });
  });
  it.each<[unknown, string]>([
    [{}, "Field 'prompt' is missing: it must be a string of 1 to 10 characters"],
    [{ prompt: "" }, "Field 'prompt' is '': it must be a string of 1 to 10 characters"],
    [{ prompt: 5 }, "Field 'prompt' is 5: it must be a string"],
    [{ prompt: null }, "Field 'prompt' is null"],
    [{ prompt: "a", width: "512" }, "Field 'width' is '512': it must be an integer from 64 to 2048, a multiple of 8"],
    [{ prompt: "a", width: 65 }, "Field 'width' is 65: it must be an integer from 64 to 2048, a multiple of 8"],
    [{ prompt: "a", width: 64.5 }, "Field 'width' is 64.5"],
    [{ prompt: "a", guidance: -1 }, "Field 'guidance' is -1: it must be a number of at least 0"],
    [{ prompt: "a", expand: 1 }, "Field 'expand' is 1: it must be true or false"],
    [{ prompt: "a", format: "gif" }, "Field 'format' is 'gif': it must be one of 'png', 'jpeg'"],
    [{ prompt: "a", widht: 64 }, "Field 'widht' is not known. Did you mean 'width'?"],
    [{ prompt: "a", zzzzzz: 1 }, "Field 'zzzzzz' is not known. Known fields: prompt, width"],
    [{ prompt: "a", inner: { list: [{ deep: 1 }] } }, "Field 'inner.list.0.deep' is 1: it must be a string"],
    [
      { prompt: "a", inner: { list: [{ deep: "a", deeep: 1 }] } },
      "Field 'inner.list.0.deeep' is not known. Did you mean 'deep'?",
    ],
    [{ prompt: "a", note: 5 }, "Field 'note' is 5: it must be a string or null"],
    [[], "The body is []: it must be an object"],
    ["text", "The body is 'text': it must be an object"],
    [null, "The body is null: it must be an object"],
    [JSON.parse('{"prompt":"a","__proto__":{"x":1}}'), "Field '__proto__' is not known"],
    [{ prompt: "x".repeat(5000) }, "..."],
  ])("%j: %s", (body, message) => expect(() => check(body)).toThrow(message));
  it("any JSON is either accepted as it is or refused with a message", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        try {
          expect(check(value)).toMatchObject(value as object);
        } catch (error) {
          expect((error as Error).message).toMatch(/^(Field|The body)/);
        }
      }),
    );
  });
});
