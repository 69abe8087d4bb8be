// `npm start`: set-up, then both services until Ctrl-C or SIGTERM.
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { setUp } from "./set-up.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const usage = `npm start -- [--strata-port 8080] [--easel-port 7680] [--host 127.0.0.1]

Starts both services. For more options start one alone: npx strata serve --help, npx easel serve --help.
`;

const options = readOptions();
setUp();
const services = [startService("strata", options["strata-port"]), startService("easel", options["easel-port"])];
let stopping = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, stopAll);
const codes = await Promise.all(services.map((service) => service.ended));
process.exitCode = codes.every((code) => code === 0) ? 0 : 1;

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        "strata-port": { type: "string" },
        "easel-port": { type: "string" },
        host: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    });
    if (!values.help) return values;
    process.stdout.write(usage);
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${error.message}\n\n${usage}`);
    process.exit(2);
  }
}

function startService(name, port) {
  const flags = [
    ...(port === undefined ? [] : ["--port", port]),
    ...(options.host === undefined ? [] : ["--host", options.host]),
  ];
  const child = spawn(process.execPath, [join(root, "services", name, "bin", `${name}.js`), "serve", ...flags], {
    stdio: ["ignore", "inherit", "inherit"],
    // A group of its own: Ctrl-C reaches this script alone, which then stops each service exactly once.
    detached: true,
  });
  const ended = new Promise((resolve) => {
    child.once("error", (error) => {
      process.stderr.write(`${name} could not be started: ${error.message}\n`);
      resolve(1);
    });
    child.once("exit", (code, signal) => {
      if (!stopping) {
        process.stderr.write(`${name} ended (${signal ?? `exit code ${code}`}); stopping the other service.\n`);
        process.stderr.write(`Another port for it: npm start -- --${name}-port NUMBER\n`);
      }
      stopAll();
      resolve(code ?? 1);
    });
  });
  return { child, ended };
}

function stopAll() {
  if (stopping) return;
  stopping = true;
  for (const { child } of services) if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
}
