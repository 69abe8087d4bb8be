// Token bucket per client. Written here because the usual plugin counts fixed windows, which let twice the rate through
// at every window's edge and know no burst.
import { SettingError } from "./setting-error.js";

export interface RateLimitRule {
  readonly tokensPerMs: number;
  readonly burst: number;
}

const PERIODS_MS: Readonly<Record<string, number>> = { s: 1000, min: 60_000, h: 3_600_000 };

/** `N[/s|/min|/h]`, bare N per second; `burst` defaults to 2N. Nothing given: no limit. */
export function parseRateLimit(
  rate: string | undefined,
  burst?: string | number | undefined,
): RateLimitRule | undefined {
  if (rate === undefined || rate === "") {
    if (burst !== undefined && burst !== "") throw new SettingError("--rate-limit-burst needs --rate-limit");
    return undefined;
  }
  const match = /^([0-9]{1,9})(?:\/(s|min|h))?$/.exec(rate.trim());
  const amount = Number(match?.[1]);
  if (match === null || amount < 1)
    throw new SettingError(`--rate-limit: '${rate}' is not a rate; write N, N/s, N/min or N/h with N of at least 1`);
  const period = PERIODS_MS[match[2] ?? "s"] as number;
  return { tokensPerMs: amount / period, burst: burst === undefined || burst === "" ? amount * 2 : parseBurst(burst) };
}

function parseBurst(burst: string | number): number {
  const amount = /^[0-9]{1,9}$/.test(String(burst).trim()) ? Number(burst) : 0;
  if (amount < 1) throw new SettingError(`--rate-limit-burst: '${burst}' is not a whole number of at least 1`);
  return amount;
}

export interface RateDecision {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the bucket is full again. */
  readonly resetSeconds: number;
  /** Seconds until one request passes again; at least 1. */
  readonly retryAfterSeconds: number;
}

interface Bucket {
  tokens: number;
  updatedAt: number;
}

/** One bucket is about 100 bytes: at most some 10 MB, however many addresses come. */
const MAX_KEYS = 100_000;
/** Buckets that are full again hold no information; they are looked for once in so many requests. */
const REQUESTS_BETWEEN_SWEEPS = 10_000;

/** Tokens are fractions; a client that waits exactly as long as it was told must not miss by the last bit of one. */
const ROUNDING = 1e-6;

function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1000 - ROUNDING);
}

export class RateLimiter {
  readonly #rule: RateLimitRule;
  readonly #now: () => number;
  readonly #maxKeys: number;
  readonly #buckets = new Map<string, Bucket>();
  #untilSweep = REQUESTS_BETWEEN_SWEEPS;

  constructor(rule: RateLimitRule, options: { readonly now?: () => number; readonly maxKeys?: number } = {}) {
    this.#rule = rule;
    this.#now = options.now ?? (() => performance.now());
    this.#maxKeys = options.maxKeys ?? MAX_KEYS;
  }

  get size(): number {
    return this.#buckets.size;
  }

  take(key: string): RateDecision {
    const now = this.#now();
    if (--this.#untilSweep <= 0) this.prune(now);
    const bucket = this.#bucketOf(key, now);
    this.#refill(bucket, now);
    const allowed = bucket.tokens >= 1 - ROUNDING;
    if (allowed) bucket.tokens = Math.max(0, bucket.tokens - 1);
    const { tokensPerMs, burst } = this.#rule;
    return {
      allowed,
      limit: burst,
      remaining: Math.floor(bucket.tokens + ROUNDING),
      resetSeconds: wholeSeconds((burst - bucket.tokens) / tokensPerMs),
      retryAfterSeconds: Math.max(1, wholeSeconds((1 - bucket.tokens) / tokensPerMs)),
    };
  }

  /** Forgets clients whose bucket has filled up again. */
  prune(now: number = this.#now()): void {
    this.#untilSweep = REQUESTS_BETWEEN_SWEEPS;
    for (const [key, bucket] of this.#buckets) {
      this.#refill(bucket, now);
      if (bucket.tokens >= this.#rule.burst) this.#buckets.delete(key);
    }
  }

  #bucketOf(key: string, now: number): Bucket {
    const known = this.#buckets.get(key);
    if (known !== undefined) return known;
    if (this.#buckets.size >= this.#maxKeys) this.#makeRoom(now);
    const bucket = { tokens: this.#rule.burst, updatedAt: now };
    this.#buckets.set(key, bucket);
    return bucket;
  }

  #refill(bucket: Bucket, now: number): void {
    bucket.tokens = Math.min(
      this.#rule.burst,
      bucket.tokens + Math.max(0, now - bucket.updatedAt) * this.#rule.tokensPerMs,
    );
    bucket.updatedAt = now;
  }

  #makeRoom(now: number): void {
    this.prune(now);
    // Still full of busy clients: the oldest tenth start anew, which is cheaper for everyone than refusing newcomers.
    let excess = this.#buckets.size - Math.floor(this.#maxKeys * 0.9);
    for (const key of this.#buckets.keys()) {
      if (excess-- <= 0) break;
      this.#buckets.delete(key);
    }
  }
}
