// Every limit and timeout of the HTTP server, set on purpose. Node's defaults are for nobody in particular.

export interface ServerLimits {
  /** Longest address. Our longest legal one (256 characters of q, percent-encoded) is about 3 KiB. */
  readonly maxUrlLength: number;
  /** All headers of a request, names and values. */
  readonly maxHeaderBytes: number;
  /**
   * Request line and headers together, as the parser counts them. Far above the two limits above, so that what breaks them
   * still parses and can be told apart; beyond it the parser knows only "too much" and the answer is 431.
   */
  readonly maxParsedBytes: number;
  /** Node drops headers beyond this count silently; nobody sends so many. */
  readonly maxHeadersCount: number;
  /** Body limit for routes that declare none. */
  readonly bodyLimit: number;
  /** All headers must be here by then: a client that drips bytes holds a socket no longer than this. */
  readonly headersTimeoutMs: number;
  /** The whole request, body included. A 64 MiB body at 256 KiB/s takes 256 s. */
  readonly requestTimeoutMs: number;
  /** Idle kept-alive connections. Above the 60 s of common load balancers, so that they close first and never hit a closed socket. */
  readonly keepAliveTimeoutMs: number;
  /** How often the two timeouts above are looked at; the default of 30 s would make a 20 s timeout mean 50 s. */
  readonly connectionsCheckingIntervalMs: number;
  /** 0: any number. A limit would answer 503 in the midst of a healthy connection. */
  readonly maxRequestsPerSocket: number;
  /** 0: none. Event streams and slow generations are silent on purpose; the heartbeat finds dead peers. */
  readonly socketTimeoutMs: number;
}

export const SERVER_LIMITS: ServerLimits = {
  maxUrlLength: 8 * 1024,
  maxHeaderBytes: 32 * 1024,
  maxParsedBytes: 256 * 1024,
  maxHeadersCount: 1000,
  bodyLimit: 1024 * 1024,
  headersTimeoutMs: 20_000,
  requestTimeoutMs: 300_000,
  keepAliveTimeoutMs: 65_000,
  connectionsCheckingIntervalMs: 5_000,
  maxRequestsPerSocket: 0,
  socketTimeoutMs: 0,
};

/** Time given to requests under way when the server is asked to stop. */
export const SHUTDOWN_DEADLINE_MS = 10_000;
