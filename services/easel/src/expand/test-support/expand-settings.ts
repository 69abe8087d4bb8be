import type { ExpandSettings } from "../create-expander.js";

/** Settings as a server without any configuration has them, except what a test is about. */
export const settingsWith = (changes: Partial<ExpandSettings> = {}): ExpandSettings => ({
  expandUrl: undefined,
  expandKey: undefined,
  expandModel: undefined,
  expandTimeout: 60_000,
  expandRetries: 2,
  expandGpu: "off",
  expandIdle: 60_000,
  ...changes,
});
