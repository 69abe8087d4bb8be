/** Settings of prompt expansion, one row each; the templates are the free-form table `expand.templates` of the configuration file. */
import { choice, duration, integer, text } from "@kit/command-line";
import { GPU_CHOICES } from "./llama-messages.js";

export const TEMPLATES_TABLE = "expand.templates";

export const expandSettings = {
  expandUrl: text({
    env: "SERVICE_EXPAND_URL",
    key: "expand.url",
    doc: "OpenAI-compatible endpoint that expands prompts, such as http://127.0.0.1:11434/v1",
    default: undefined,
    defaultText: "a model on this machine",
  }),
  expandKey: text({
    env: "SERVICE_EXPAND_KEY",
    key: "expand.key",
    doc: "key for that endpoint",
    default: undefined,
    secret: true,
  }),
  expandModel: text({
    env: "SERVICE_EXPAND_MODEL",
    key: "expand.model",
    doc: "language model: its name at the endpoint, else a pulled model or a .gguf file",
    default: undefined,
    defaultText: "the built-in one",
  }),
  expandTimeout: duration({
    env: "SERVICE_EXPAND_TIMEOUT",
    key: "expand.timeout",
    doc: "longest time one expansion may take, loading included",
    default: 60_000,
    min: 100,
    max: 600_000,
  }),
  expandRetries: integer({
    env: "SERVICE_EXPAND_RETRIES",
    key: "expand.retries",
    doc: "further tries at an endpoint that is busy or failing",
    default: 2,
    min: 0,
    max: 10,
  }),
  expandGpu: choice({
    env: "SERVICE_EXPAND_GPU",
    key: "expand.gpu",
    doc: "where a model on this machine runs; off keeps the GPU's memory for pictures",
    default: "off",
    choices: GPU_CHOICES,
  }),
  expandIdle: duration({
    env: "SERVICE_EXPAND_IDLE",
    key: "expand.idle",
    doc: "a model on this machine leaves the memory after so long without work",
    default: 120_000,
    min: 0,
  }),
} as const;
