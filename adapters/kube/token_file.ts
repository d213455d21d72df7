/**
 * The token of a service account: a file that the kubelet replaces before the token expires.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";

/** Options of a token file. */
export interface TokenFileOptions {
  readonly clock: Clock;
  /**
   * The file is read again when it was read this long ago, ms. The kubelet writes a new token when
   * 80 % of the old one's time is over, so a minute is never too late.
   *
   * @default {60000}
   */
  readonly maxAgeMs?: number;
}

/** A reader of the token; with `refresh` it reads the file whenever it was read last. */
export type TokenReader = (options: { readonly refresh: boolean }) => Promise<string>;

/** Reads the token in `path`. A file that can't be read is no harm while an earlier token is there. */
export function createTokenReader(path: string, options: TokenFileOptions): TokenReader {
  const { clock, maxAgeMs = 60_000 } = options;
  let token: string | undefined;
  let readAtMs = 0;
  return async ({ refresh }) => {
    const old = token !== undefined && clock.monotonic() - readAtMs >= maxAgeMs;
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
