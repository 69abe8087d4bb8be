// Who is asking: the socket's address, or the one a trusted proxy vouches for; grouped so that one client is one key.
import { isIP } from "node:net";
import { SettingError } from "./setting-error.js";

/** Nothing trusted, everything, the nearest so many hops, or these networks; as fastify takes it. */
export type TrustProxy = boolean | string[] | ((address: string, hop: number) => boolean);

/** `true`, `false`, a count of hops, or a comma-separated list of addresses and networks. */
export function parseTrustProxy(value: string | boolean | undefined): TrustProxy {
  if (value === undefined || value === "" || value === false || value === "false") return false;
  if (value === true || value === "true") return true;
  if (/^[0-9]{1,2}$/.test(value)) return (_address, hop) => hop < Number(value);
  return value.split(",").map((network) => checkNetwork(network.trim()));
}

function checkNetwork(network: string): string {
  const [address = "", bits, ...rest] = network.split("/");
  const family = isIP(address);
  const widest = family === 4 ? 32 : 128;
  const badBits = bits !== undefined && !(/^[0-9]{1,3}$/.test(bits) && Number(bits) <= widest);
  if (family === 0 || badBits || rest.length > 0) {
    throw new SettingError(
      `--trust-proxy: '${network}' is not true, a count of hops, an address or a network like 10.0.0.0/8`,
    );
  }
  return network;
}

const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** IPv6 clients own a whole /64, so that is the key; text that is no address (a forged header) counts as `fallback`. */
export function rateLimitKey(address: string, fallback: string): string {
  const mapped = MAPPED_IPV4.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const family = isIP(address);
  if (family === 4) return address;
  if (family === 6) return networkOf(address);
  return address === fallback ? fallback : rateLimitKey(fallback, fallback);
}

function networkOf(address: string): string {
  const [bare = ""] = address.split("%");
  const [left = "", right] = bare.split("::");
  const before = left === "" ? [] : left.split(":");
  const after = right === undefined || right === "" ? [] : right.split(":");
  const zeros = right === undefined ? 0 : 8 - before.length - after.length - (bare.includes(".") ? 1 : 0);
  const groups = [...before, ...Array<string>(Math.max(0, zeros)).fill("0"), ...after];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}
