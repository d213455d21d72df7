/**
 * The pool of connections in use, opened when it is needed and replaced when it is of no use.
 *
 * @module
 */
import type { Login } from "./login.ts";

/** A pool of connections to one server. */
export interface Pool {
  readonly client: Deno.HttpClient;
  /** Aborted when the pool is known to lead nowhere: its streams will never hear of it. */
  readonly dead: AbortSignal;
  /** When anything last came over it, ms of a monotonic clock; -Infinity before. */
  heardAtMs: number;
}

/** Room for one pool. */
export interface ClientSlot {
  /** The pool for this login; a new one when there is none or the certificate is another one. */
  pool(login: Login): Promise<Pool>;
  /**
   * Lets go of this pool, if it is in use still: the next request opens another. What is under way
   * over it goes on, unless it is `dead`.
   */
  drop(pool: Pool, options?: { readonly dead?: boolean }): void;
  /** Lets go of the pool in use, whichever it is. What is under way goes on. */
  close(): void;
}

interface PresentPool {
  readonly cert: string | undefined;
  readonly opening: Promise<Pool>;
  /** Once it is open. */
  pool?: Pool;
}

/** An empty slot. */
export function createClientSlot(
  open: (login: Login) => Promise<Deno.HttpClient>,
): ClientSlot {
  let present: PresentPool | undefined;
  const deaths = new WeakMap<Pool, AbortController>();

  async function openPool(login: Login): Promise<Pool> {
    const death = new AbortController();
    const pool = { client: await open(login), dead: death.signal, heardAtMs: -Infinity };
    deaths.set(pool, death);
    return pool;
  }

  function close(): void {
    const dropped = present;
    present = undefined;
    // A pool that could not be opened has told whoever waited for it.
    dropped?.opening.then(({ client }) => client.close(), () => {});
  }

  return {
    async pool(login) {
      const cert = login.certificate?.cert;
      if (present === undefined || present.cert !== cert) {
        close();
        present = { cert, opening: openPool(login) };
      }
      const own = present;
      try {
        own.pool = await own.opening;
        return own.pool;
      } catch (error) {
        if (present === own) present = undefined;
        throw error;
      }
    },
    drop(pool, { dead = false } = {}) {
      if (present?.pool === pool) close();
      if (dead) deaths.get(pool)?.abort();
    },
    close,
  };
}
