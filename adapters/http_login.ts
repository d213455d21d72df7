/**
 * Who asks a server, from files.
 *
 * @module
 */
import type { Clock } from "../shared/clock.ts";
import type { LoginFiles } from "../shared/config/login_files.ts";
import { createTokenReader, type TokenReader } from "./kube/token_file.ts";

/** What goes with a request. */
export interface LoginParts {
  readonly headers: Readonly<Record<string, string>>;
  /** Absent: the runtime's own, which trusts the usual authorities. */
  readonly client?: Deno.HttpClient;
}

/** A login to one server. */
export interface HTTPLogin {
  /**
   * For one request; with `refresh` the files are read whenever they were read last. Throws an `Error`
   * that names a file which can't be used, and shows nothing of it.
   */
  parts(options: { readonly refresh: boolean }): Promise<LoginParts>;
  /** Lets go of idle connections. */
  close(): void;
}

/** What a header can carry: visible characters. A secret with others would stand in an exception. */
const FIT = /^[\x21-\x7e]+$/;

/** A login; files are read when it is used, and again every minute. */
export function createHTTPLogin(
  { tokenFile, user, caFile }: LoginFiles,
  { clock, headers = new Map() }: {
    readonly clock: Clock;
    /** Others that go with each request, by name. @default none */
    readonly headers?: ReadonlyMap<string, string>;
  },
): HTTPLogin {
  const reader = (path: string | undefined): TokenReader | undefined =>
    path === undefined ? undefined : createTokenReader(path, { clock });
  const readToken = reader(tokenFile);
  const readPassword = reader(user?.passwordFile);
  const readAuthorities = reader(caFile);
  let present: { readonly authorities: string; readonly client: Deno.HttpClient } | undefined;

  async function authorization(refresh: boolean): Promise<string | undefined> {
    if (readToken !== undefined) {
      const token = await read(readToken, { refresh, path: tokenFile });
      if (!FIT.test(token)) {
        throw new Error(`Cannot log in: ${tokenFile} holds no token of visible characters`);
      }
      return `Bearer ${token}`;
    }
    if (readPassword === undefined) return undefined;
    const password = await read(readPassword, { refresh, path: user?.passwordFile });
    const bytes = new TextEncoder().encode(`${user?.name}:${password}`);
    return `Basic ${btoa(String.fromCharCode(...bytes))}`;
  }

  async function client(refresh: boolean): Promise<Deno.HttpClient | undefined> {
    if (readAuthorities === undefined) return undefined;
    const authorities = await read(readAuthorities, { refresh, path: caFile });
    if (present?.authorities === authorities) return present.client;
    // The runtime passes over what is no certificate, and would then trust nobody without a word.
    if (!authorities.includes("-----BEGIN CERTIFICATE-----")) {
      throw new Error(`Cannot log in: ${caFile} holds no certificates`);
    }
    const next = Deno.createHttpClient({ caCerts: [authorities] });
    present?.client.close();
    present = { authorities, client: next };
    return next;
  }

  return {
    async parts({ refresh }) {
      const [value, own] = [await authorization(refresh), await client(refresh)];
      return {
        headers: {
          ...Object.fromEntries(headers),
          ...(value === undefined ? {} : { authorization: value }),
        },
        ...(own === undefined ? {} : { client: own }),
      };
    },
    close() {
      present?.client.close();
      present = undefined;
    },
  };
}

async function read(
  reader: TokenReader,
  { refresh, path }: { readonly refresh: boolean; readonly path: string | undefined },
): Promise<string> {
  try {
    return await reader({ refresh });
  } catch (cause) {
    const why = cause instanceof Deno.errors.NotFound
      ? "there is no such file"
      : "it can't be read";
    throw new Error(`Cannot log in with ${path}: ${why}`, { cause });
  }
}
