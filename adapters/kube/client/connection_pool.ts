/**
 * The pool of connections to one server, which is replaced when its connections are dead, and whether
 * the server can be reached.
 *
 * @module
 */

/** Connections to one server. */
export interface Pool {
  readonly client: Deno.HttpClient;
  /** Aborted when the connections are dead, to end streams over them. */
  readonly dead: AbortController;
  /** When it last received data, ms of a monotonic clock; -Infinity before. */
  receivedAtMs: number;
}

/** Keeps the pool in use. */
export interface ConnectionPool {
  /** The pool in use; a new one when there is none. */
  pool(): Promise<Pool>;
  /** Drops this pool if it is in use: the next request opens another. Requests in flight go on. */
  drop(pool: Pool): void;
  /** Drops the pool in use. Requests in flight go on. */
  close(): void;
}

interface PoolInUse {
  readonly opening: Promise<Pool>;
  /** Absent while it is being opened. */
  pool?: Pool;
}

/** Creates a keeper that opens a pool at the first request. */
export function createConnectionPool(
  open: () => Promise<Deno.HttpClient>,
): ConnectionPool {
  let inUse: PoolInUse | undefined;

  async function openPool(): Promise<Pool> {
    return { client: await open(), dead: new AbortController(), receivedAtMs: -Infinity };
  }

  function close(): void {
    const dropped = inUse;
    inUse = undefined;
    // An error of opening goes to the request that waits for the pool.
    dropped?.opening.then(({ client }) => client.close(), () => {});
  }

  return {
    async pool() {
      const entry = inUse ??= { opening: openPool() };
      try {
        entry.pool = await entry.opening;
        return entry.pool;
      } catch (error) {
        if (inUse === entry) inUse = undefined;
        throw error;
      }
    },
    drop(pool) {
      if (inUse?.pool === pool) close();
    },
    close,
  };
}

/** Connects to the server and closes again. Throws when the connection fails. */
export type Connect = () => Promise<void>;

/**
 * Whether the server can be reached, tested once for all requests.
 *
 * When a Service has no endpoints, kube-proxy rejects connections by ICMP, of which the kernel sends a
 * pod about one per second (Linux, Documentation/networking/ip-sysctl.rst, `icmp_ratelimit`). Most of
 * many simultaneous attempts get none, and retry after 1, 2, 4, … 16 s: requests would hang for half a
 * minute even if the server is back. So after a request without a response, or a broken stream, all
 * requests wait for one short attempt to connect, which is repeated until it succeeds.
 */
export interface Reachability {
  /** Resolves unless the server is in doubt; then tries to connect, and throws the attempt's error. */
  ensure(): Promise<void>;
  /** Ends the doubt: the server has answered. */
  confirm(): void;
  /** Puts the server in doubt: it did not answer. */
  doubt(): void;
}

/** Assumes that the server can be reached. */
export function createReachability(connect: Connect): Reachability {
  let doubtful = false;
  let attempt: Promise<void> | undefined;

  async function tryToConnect(): Promise<void> {
    try {
      await connect();
      doubtful = false;
    } finally {
      attempt = undefined;
    }
  }

  return {
    ensure: () => doubtful ? attempt ??= tryToConnect() : Promise.resolve(),
    confirm: () => void (doubtful = false),
    doubt: () => void (doubtful = true),
  };
}

/** Enough for one retry: the kernel sends a lost packet again after one second. */
const CONNECT_TIMEOUT_MS = 2000;

/** Connects to a server's host and port over TCP. */
export function connectTo(server: string): Connect {
  const { hostname, port, protocol } = new URL(server);
  const defaultPort = protocol === "https:" ? 443 : 80;
  const address = { hostname, port: port === "" ? defaultPort : Number(port) };
  return async () => {
    try {
      (await Deno.connect({ ...address, signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) })).close();
    } catch (cause) {
      const why = cause instanceof DOMException ? `no answer in ${CONNECT_TIMEOUT_MS} ms` : cause;
      throw new TypeError(`Cannot connect to ${address.hostname}:${address.port}: ${why}`, {
        cause,
      });
    }
  };
}
