import { text } from "@kit/command-line";

/** Rows of every command that talks to a server. */
export const connectionSettings = {
  server: text({
    flag: "--server <url>",
    env: "SERVICE_URL",
    key: "server",
    doc: "server to talk to",
    default: undefined,
    defaultText: "the one on this machine; where none runs, an engine is started in place",
  }),
  apiKey: text({
    flag: "--api-key <key>",
    env: "SERVICE_CLIENT_KEY",
    key: "api_key",
    doc: "key the server asks for",
    default: undefined,
    secret: true,
  }),
} as const;
