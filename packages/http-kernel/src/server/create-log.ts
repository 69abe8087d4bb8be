// Structured logs: JSON lines, pretty on a terminal. They go to stderr; stdout belongs to the program's own words.
import { type DestinationStream, destination, type Logger, pino, stdTimeFunctions } from "pino";
import pretty from "pino-pretty";
import { SettingError } from "./setting-error.js";

export type { Logger } from "pino";

const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LEVELS)[number];

export interface LogOptions {
  readonly name: string;
  readonly level?: string;
  /** For tests and for programs with their own sink. */
  readonly stream?: DestinationStream;
}

const STDERR = 2;

export function createLog(options: LogOptions): Logger {
  const level = parseLogLevel(options.level ?? "info");
  return pino(
    { name: options.name, level, base: null, timestamp: stdTimeFunctions.isoTime },
    options.stream ?? defaultStream(),
  );
}

function parseLogLevel(level: string): LogLevel {
  const known = LEVELS.find((name) => name === level);
  if (known === undefined)
    throw new SettingError(`--log-level: '${level}' is not a level; write one of ${LEVELS.join(", ")}`);
  return known;
}

function defaultStream(): DestinationStream {
  if (process.stderr.isTTY)
    return pretty({
      destination: STDERR,
      colorize: process.env["NO_COLOR"] === undefined,
      ignore: "pid,hostname",
      // One line a request: several fields below each other would push everything else off the screen.
      singleLine: true,
      sync: true,
    });
  // Asynchronous: a request never waits for the log. What is still in memory at the end is written by the exit handler.
  const lines = destination({ fd: STDERR, sync: false });
  process.on("exit", () => lines.flushSync());
  return lines;
}
