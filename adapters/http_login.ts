/**
 * Credentials for a server, from files that are read again while the program runs.
 *
 * @module
 */
import type { Clock } from "../shared/clock.ts";
import type { LoginFiles } from "../shared/config/server_kinds.ts";
import { defined } from "../shared/defined.ts";

/**
 * A token file is read again after this time, ms. The kubelet writes a new token when 80 % of the old
 * one's time is over, so a minute is never too late.
 */
const MAX_AGE_MS = 60_000;

/** Returns the file's content; with `refresh` it reads the file, however new the last content is. */
export type TokenReader = (options: { readonly refresh: boolean }) => Promise<string>;

/** Reads the token in `path`. When the file can't be read, an earlier token stays in use. */
export function createTokenReader(
  path: string,
  { clock }: { readonly clock: Clock },
): TokenReader {
  let token: string | undefined;
  let readAtMs = 0;
  return async ({ refresh }) => {
    const old = token !== undefined && clock.monotonic() - readAtMs >= MAX_AGE_MS;
    if (token !== undefined && !refresh && !old) return token;
    try {
      token = (await Deno.readTextFile(path)).trim();
      readAtMs = clock.monotonic();
    } catch (error) {
      if (token === undefined) throw error;
    }
    return token ?? "";
  };
}

/** Headers and TLS client of one request. */
export interface LoginParts {
  readonly headers: Readonly<Record<string, string>>;
  /** Absent: Deno's default one, which trusts the usual authorities. */
  readonly client?: Deno.HttpClient;
}

/** A login to one server. */
export interface HTTPLogin {
  /**
   * Returns the parts of one request; with `refresh` from files that are read now. Throws an `Error` that
   * names an unusable file, and shows nothing of it.
   */
  parts(options: { readonly refresh: boolean }): Promise<LoginParts>;
  close(): void;
}

/** Visible characters: with others `fetch` would throw an exception that repeats the secret. */
const HEADER_VALUE = /^[\x21-\x7e]+$/;

/** Creates a login; files are read on use, and again every minute. */
export function createHTTPLogin(
  { tokenFile, user, caFile }: LoginFiles,
  { clock, headers = new Map() }: {
    readonly clock: Clock;
    /** Further headers of each request, by name. @default none */
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
      if (!HEADER_VALUE.test(token)) {
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
    // Deno ignores text that is no certificate, and would then silently trust no server.
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
      const credentials = await authorization(refresh);
      return {
        headers: {
          ...Object.fromEntries(headers),
          ...defined({ authorization: credentials }),
        },
        ...defined({ client: await client(refresh) }),
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
