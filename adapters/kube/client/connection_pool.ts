/**
 * The pool of connections to one server, which is replaced when its connections are dead, and whether
 * the server can be connected to.
 *
 * @module
 */
/** Connections to one server. */
export interface Pool {
  readonly client: Deno.HttpClient;
  /** Aborted when the connections are dead: its streams would never end. */
  readonly dead: AbortController;
  /** When data last came over it, ms of a monotonic clock; -Infinity before. */
  receivedAtMs: number;
}

/** Keeps the pool in use. */
export interface ConnectionPool {
  /** The pool in use; a new one when there is none. */
  pool(): Promise<Pool>;
  /** Drops this pool if it is still in use: the next request opens another. Requests in flight go on. */
  drop(pool: Pool): void;
  /** Drops the pool in use. Requests in flight go on. */
  close(): void;
}

interface PoolInUse {
  readonly opening: Promise<Pool>;
  /** Once it is open. */
  pool?: Pool;
}

/** Keeps no pool before the first request. */
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
    // The request that waits for a pool gets the error of opening it.
    dropped?.opening.then(({ client }) => client.close(), () => {});
  }

  return {
    async pool() {
      const own = inUse ??= { opening: openPool() };
      try {
        own.pool = await own.opening;
        return own.pool;
      } catch (error) {
        if (inUse === own) inUse = undefined;
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
 * many attempts at once get no ICMP then, and retry after 1, 2, 4, … 16 s: a request hangs for half a
 * minute, also when the server has long been back. So after a request without a response, or a broken
 * stream, requests wait for one short attempt, until one succeeds.
 */
export interface Reachability {
  /** Resolves when the server was reached last, or an attempt succeeds; throws the attempt's error. */
  ensure(): Promise<void>;
  confirm(): void;
  doubt(): void;
}

/** Assumes that the server can be reached. */
export function createReachability(connect: Connect): Reachability {
  let doubtful = false;
  let attempt: Promise<void> | undefined;

  async function tried(): Promise<void> {
    try {
      await connect();
      doubtful = false;
    } finally {
      attempt = undefined;
    }
  }

  return {
    ensure: () => doubtful ? attempt ??= tried() : Promise.resolve(),
    confirm: () => void (doubtful = false),
    doubt: () => void (doubtful = true),
  };
}

/** The kernel sends a lost packet again after one second: enough for one retry. */
const CONNECT_TIMEOUT_MS = 2000;

/** The port of a server's address. */
function portOf({ port, protocol }: URL): number {
  if (port !== "") return Number(port);
  return protocol === "https:" ? 443 : 80;
}

/** Connects to a server's host and port over TCP. */
export function connectTo(server: string): Connect {
  const url = new URL(server);
  const address = { hostname: url.hostname, port: portOf(url) };
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
