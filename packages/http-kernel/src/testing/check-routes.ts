// Property tests over declarations: whatever is asked, the answer's status, headers and body stay within what is declared.
import fc from "fast-check";
import { Compile } from "typebox/compile";
import { contentTypesOf, type RouteDeclaration } from "../contract/declare-route.js";
import type { ErrorTable } from "../contract/define-errors.js";
import { readEvents } from "../contract/read-events.js";
import { arbitraryRequest, type GeneratedRequest, type KnownValues } from "./arbitrary-request.js";

export interface CheckRoutesOptions {
  readonly baseUrl: string;
  readonly errors: ErrorTable;
  /** Requests per route. */
  readonly runs?: number;
  readonly known?: KnownValues;
  /** Sent with each request (an API key, say). */
  readonly headers?: Readonly<Record<string, string>>;
  readonly seed?: number;
}

const DEFAULT_RUNS = 60;
/** Raised by the kernel for any route, whatever it declares. */
const EVERYWHERE = ["BAD_REQUEST", "NOT_FOUND", "URI_TOO_LONG"];

/** Throws with the smallest request that breaks the route's declaration. */
export async function checkRoute(route: RouteDeclaration, options: CheckRoutesOptions): Promise<void> {
  const verify = createVerifier(route, options.errors);
  await fc.assert(
    fc.asyncProperty(arbitraryRequest(route, options.known), async (request) =>
      verify(await send(route, request, options)),
    ),
    {
      numRuns: options.runs ?? DEFAULT_RUNS,
      includeErrorInReport: true,
      ...(options.seed === undefined ? {} : { seed: options.seed }),
    },
  );
}

function send(route: RouteDeclaration, request: GeneratedRequest, options: CheckRoutesOptions): Promise<Response> {
  return fetch(options.baseUrl + request.path, {
    method: route.method,
    headers: { ...request.headers, ...options.headers },
    ...(request.body === undefined ? {} : { body: request.body }),
  });
}

function createVerifier(route: RouteDeclaration, errors: ErrorTable): (answer: Response) => Promise<void> {
  const answers = new Map(
    Object.entries(route.responses).map(([status, response]) => [
      Number(status),
      { types: contentTypesOf(response), schema: response.schema === undefined ? undefined : Compile(response.schema) },
    ]),
  );
  const codes = new Set([
    ...route.errors,
    ...EVERYWHERE,
    errors.$invalid().code,
    ...(route.body === undefined ? [] : [errors.$malformedBody().code, "PAYLOAD_TOO_LARGE"]),
  ]);
  return async (answer) => {
    demand(answer.headers.get("x-request-id") !== null, "has no X-Request-ID");
    const declared = answers.get(answer.status);
    if (declared === undefined || answer.status >= 400) return verifyError(answer, codes, errors);
    const type = (answer.headers.get("content-type") ?? "").split(";", 1)[0] as string;
    demand(declared.types.includes(type), `has the type '${type}', declared are ${declared.types.join(", ")}`);
    if (type === "text/event-stream") return verifyEvents(answer, route);
    const bytes = await answer.arrayBuffer();
    if (type !== "application/json") return;
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    const [problem] = declared.schema?.Errors(value) ?? [];
    demand(problem === undefined, `breaks its schema at '${problem?.instancePath}': ${problem?.message}`);
  };
}

async function verifyError(answer: Response, codes: ReadonlySet<string>, errors: ErrorTable): Promise<void> {
  demand(answer.headers.get("content-type") === "application/json", `${answer.status} is not application/json`);
  const body = (await answer.json()) as { code: string; message: string };
  demand(
    Object.keys(body).join() === "code,message" && typeof body.message === "string" && body.message !== "",
    `${answer.status} is not {code, message}`,
  );
  demand(errors.$rows[body.code]?.status === answer.status, `${body.code} came with ${answer.status}`);
  demand(codes.has(body.code), `${body.code} (${body.message}) is not declared`);
}

async function verifyEvents(answer: Response, route: RouteDeclaration): Promise<void> {
  const shapes = new Map(Object.entries(route.events ?? {}).map(([name, schema]) => [name, Compile(schema)]));
  for await (const { event, data } of readEvents(answer)) {
    if (event === "error" && !shapes.has("error")) continue;
    const shape = shapes.get(event);
    demand(shape !== undefined, `sends the undeclared event '${event}'`);
    const [problem] = shape?.Errors(JSON.parse(data)) ?? [];
    demand(
      problem === undefined,
      `sends '${event}' that breaks its schema at '${problem?.instancePath}': ${problem?.message}`,
    );
  }
}

function demand(holds: boolean, problem: string): asserts holds {
  if (!holds) throw new Error(`The answer ${problem}`);
}
