/**
 * Downloads of programs that are checked before they are used.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { putInPlace } from "./put_in_place.ts";

/** Long enough for a slow network, short enough to see that there is none. */
const REACH_MS = 5_000;

/** The longest time without a byte. */
const STALL_MS = 30_000;

/**
 * The SHA-256 that the server gives for an address, under the same with `.sha256`. Throws when the
 * server can't be reached within 5 s, or answers with something else.
 */
export async function publishedSum(address: string): Promise<string> {
  const answer = await fetch(`${address}.sha256`, { signal: AbortSignal.timeout(REACH_MS) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`Cannot get ${address}.sha256: status ${answer.status}`);
  const sum = /^[0-9a-f]{64}\b/.exec(text.trim())?.[0];
  if (sum === undefined) {
    throw new Error(`Cannot use ${address}.sha256: it begins ${JSON.stringify(text.slice(0, 40))}`);
  }
  return sum;
}

/** What is asked of a download. */
export interface DownloadOptions {
  /** The SHA-256 that it must have, in hexadecimal. */
  readonly sum: string;
  /**
   * After this many ms in which nothing came, it is given up.
   * @default {30_000}
   */
  readonly stallMs?: number;
}

/**
 * Puts an executable file in place. Throws, and leaves nothing, when the server refuses, breaks off
 * or stalls, or the sum is another one.
 */
export async function download(
  address: string,
  target: string,
  { sum, stallMs = STALL_MS }: DownloadOptions,
): Promise<void> {
  const controller = new AbortController();
  const stalled = (): void =>
    controller.abort(new Error(`Cannot get ${address}: nothing came for ${stallMs / 1000} s`));
  let timer = setTimeout(stalled, stallMs);
  const hash = createHash("sha256");
  const watched = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, next) {
      clearTimeout(timer);
      timer = setTimeout(stalled, stallMs);
      hash.update(chunk);
      next.enqueue(chunk);
    },
  });
  try {
    const answer = await fetch(address, { signal: controller.signal });
    if (!answer.ok || answer.body === null) {
      await answer.body?.cancel();
      throw new Error(`Cannot get ${address}: status ${answer.status}`);
    }
    const body = answer.body.pipeThrough(watched);
    await putInPlace(target, async (file) => {
      await Deno.writeFile(file, body, { mode: 0o755 });
      const actual = hash.digest("hex");
      if (actual !== sum) {
        throw new Error(`Cannot use ${address}: its SHA-256 is ${actual}, expected ${sum}`);
      }
    });
  } finally {
    clearTimeout(timer);
  }
}
