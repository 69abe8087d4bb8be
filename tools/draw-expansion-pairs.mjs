/**
 * Draws ten prompts before and after expansion with doodle and writes the sheet and the table into docs/expand.md.
 *
 *     node tools/draw-expansion-pairs.mjs [--seed N] [--model NAME]
 *
 * The prompts are drawn at random from doodle's things and from common English nouns (half each) by that seed, and all ten are shown, whatever they became.
 * Needs the build and the shipped models.
 */
import { spawn } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import sharp from "sharp";

const PAIRS = 10;
const SIDE = 192;
const GAP = 8;
const COLUMNS = 5;
const root = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const SHEET = "docs/images/expansion-pairs.webp";
const PAGE = "docs/expand.md";
const MARKS = ["<!-- pairs -->", "<!-- /pairs -->"];

const option = (name, otherwise) => {
  const at = process.argv.indexOf(name);
  return at > 0 ? process.argv[at + 1] : otherwise;
};
const seed = Number(option("--seed", "1"));
const model = option("--model", "doodle:base");

function random(state) {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function choosePrompts() {
  const lexicon = JSON.parse(await readFile(root("tools/train-expander/lexicon.json"), "utf8"));
  const next = random(seed);
  const pick = (list) => list[Math.floor(next() * list.length)];
  // Signs and flags are left out: a flag in a landscape says nothing about expansion.
  const kinds = Object.keys(lexicon.english).filter((kind) => !["sign", "flag", "body"].includes(kind));
  const chosen = new Set();
  while (chosen.size < PAIRS) {
    const kind = pick(kinds);
    chosen.add(chosen.size % 2 === 0 ? pick(lexicon.doodle[kind])[0] : pick(lexicon.english[kind]));
  }
  return [...chosen];
}

function startServer() {
  const child = spawn(process.execPath, [root("services/easel/bin/easel.js"), "serve", "--port", "0"], {
    env: { ...process.env, SERVICE_OUTPUT_DIR: "" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return new Promise((resolve, reject) => {
    let text = "";
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
    child.stdout.on("data", (chunk) => {
      text += chunk;
      const url = /listening on (http:\S+)/.exec(text)?.[1];
      if (url) resolve({ url, stop: () => child.kill("SIGTERM") });
    });
  });
}

async function post(url, body) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response;
}

const server = await startServer();
try {
  const rows = [];
  for (const [index, prompt] of (await choosePrompts()).entries()) {
    const picture = async (words) => {
      const request = { prompt: words, model, seed: seed + index, width: 256, height: 256 };
      return Buffer.from(await (await post(`${server.url}/api/generate`, request)).arrayBuffer());
    };
    const answer = await (await post(`${server.url}/api/expand`, { prompt, model, seed: seed + index })).json();
    const expanded = answer.expanded[0];
    rows.push({ prompt, expanded, before: await picture(prompt), after: await picture(expanded) });
    console.log(`${prompt} → ${expanded}`);
  }
  await writeSheet(rows);
  await writePage(rows);
} finally {
  server.stop();
}

async function writeSheet(rows) {
  const cell = SIDE + GAP;
  const lines = Math.ceil(PAIRS / COLUMNS);
  const width = COLUMNS * cell + GAP;
  const height = lines * (2 * cell + 2 * GAP) + GAP;
  const layers = [];
  for (const [index, { before, after }] of rows.entries()) {
    const left = GAP + (index % COLUMNS) * cell;
    const top = GAP + Math.floor(index / COLUMNS) * (2 * cell + 2 * GAP);
    layers.push({ input: await sharp(before).resize(SIDE, SIDE).png().toBuffer(), left, top });
    layers.push({ input: await sharp(after).resize(SIDE, SIDE).png().toBuffer(), left, top: top + cell });
  }
  await mkdir(root("docs/images"), { recursive: true });
  await sharp({ create: { width, height, channels: 3, background: "#d8d8d8" } })
    .composite(layers)
    .webp({ quality: 85 })
    .toFile(root(SHEET));
}

async function writePage(rows) {
  const page = await readFile(root(PAGE), "utf8");
  const [start, end] = MARKS.map((mark) => page.indexOf(mark));
  if (start < 0 || end < 0) throw new Error(`${PAGE} has no ${MARKS.join(" ... ")}`);
  const table = rows.map(({ prompt, expanded }, i) => `| ${i + 1} | ${prompt} | ${expanded} | ${seed + i} |`);
  const text = [
    MARKS[0],
    `Chosen by \`node tools/draw-expansion-pairs.mjs --seed ${seed} --model ${model}\`; upper picture before, lower after, the same seed for both, left to right.`,
    "",
    "![ten prompts drawn before and after expansion](images/expansion-pairs.webp)",
    "",
    "| | prompt | expanded | seed |",
    "| --- | --- | --- | --- |",
    ...table,
    "",
  ].join("\n");
  await writeFile(root(PAGE), page.slice(0, start) + text + page.slice(end));
}
