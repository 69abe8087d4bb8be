import { choice, pictureProtocols, text } from "@kit/command-line";

/** Where a drawn picture goes, for `run` and `again`. */
export const deliverySettings = {
  output: text({
    flag: "-o, --output <file>",
    doc: "file to write, or - for standard output",
    default: undefined,
    defaultText: "easel-<seed>.<format> here, or standard output when that is piped",
  }),
  show: choice({
    flag: "--show <how>",
    env: "EASEL_SHOW",
    key: "run.show",
    doc: "show the picture in the terminal",
    default: "auto",
    choices: ["auto", ...pictureProtocols],
  }),
} as const;
