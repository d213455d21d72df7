/**
 * Whether the server can be connected to, asked once for all requests.
 *
 * Where a Service has no endpoints, kube-proxy has connections refused by ICMP, of which the kernel
 * sends a pod about one a second (Linux, Documentation/networking/ip-sysctl.rst, `icmp_ratelimit`). Of
 * many attempts at once most hear nothing then, and try again after 1, 2, 4, … 16 s by themselves: a
 * request hangs for half a minute, also when the server has long been back. So after a request that
 * nobody answered, or a stream that broke, one short attempt stands for all, until one comes about.
 *
 * @module
 */

/** Connects to the server and lets go again. Throws when no connection comes about. */
export type Connect = () => Promise<void>;

/** A memory of whether the server could be reached. */
export interface Reachability {
  /** Resolves when there is no doubt, or an attempt has come about; throws what that throws. */
  ensure(): Promise<void>;
  /** The server has answered. */
  confirm(): void;
  /** The server has not answered. */
  doubt(): void;
}

/** No doubt yet. */
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

/** A packet that was lost is sent again after one second: there is time for one. */
const CONNECT_TIMEOUT_MS = 2000;

/** Connects to a server's host and port over TCP. */
export function connectTo(server: string): Connect {
  const { hostname, port, protocol } = new URL(server);
  const address = { hostname, port: port === "" ? DEFAULT_PORTS[protocol] ?? 0 : Number(port) };
  return async () => {
    try {
      (await Deno.connect({ ...address, signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) })).close();
    } catch (cause) {
      const why = cause instanceof DOMException ? `no answer in ${CONNECT_TIMEOUT_MS} ms` : cause;
      throw new TypeError(`Cannot connect to ${hostname}:${address.port}: ${why}`, { cause });
    }
  };
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { "https:": 443, "http:": 80 };
