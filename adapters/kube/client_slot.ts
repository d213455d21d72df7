/**
 * The pool of connections in use, opened when it is needed and replaced when it is of no use.
 *
 * @module
 */
import type { Login } from "./login.ts";

/** Room for one pool. */
export interface ClientSlot {
  /** The pool for this login; a new one when there is none or the certificate is another one. */
  client(login: Login): Promise<Deno.HttpClient>;
  /** Lets go of the pool: the next request opens another. What is under way goes on. */
  drop(): void;
}

interface OpenClient {
  readonly cert: string | undefined;
  readonly client: Promise<Deno.HttpClient>;
}

/** An empty slot. */
export function createClientSlot(
  open: (login: Login) => Promise<Deno.HttpClient>,
): ClientSlot {
  let present: OpenClient | undefined;

  function drop(): void {
    const dropped = present;
    present = undefined;
    // A pool that could not be opened has told whoever waited for it.
    dropped?.client.then((client) => client.close(), () => {});
  }

  return {
    async client(login) {
      const cert = login.certificate?.cert;
      if (present === undefined || present.cert !== cert) {
        drop();
        present = { cert, client: open(login) };
      }
      const { client } = present;
      try {
        return await client;
      } catch (error) {
        if (present?.client === client) present = undefined;
        throw error;
      }
    },
    drop,
  };
}
