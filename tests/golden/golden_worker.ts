/**
 * Computes golden outputs in a thread of its own, one after the other.
 *
 * @module
 */
/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
import { type Computed, GOLDEN_PARTS } from "./golden.ts";

/** What the thread is asked for. */
export interface ToGoldenWorker {
  readonly name: string;
  readonly cores: number;
}

/** What it answers. */
export interface FromGoldenWorker {
  readonly computed: Computed;
  readonly ms: number;
}

const answer = (message: FromGoldenWorker): void => self.postMessage(message);

self.onmessage = async ({ data: { name, cores } }: MessageEvent<ToGoldenWorker>) => {
  const since = performance.now();
  const computed = await compute(name, cores);
  answer({ computed, ms: performance.now() - since });
};

async function compute(name: string, cores: number): Promise<Computed> {
  try {
    const part = GOLDEN_PARTS.find((one) => one.name === name);
    if (part === undefined) throw new RangeError(`Cannot compute ${name}: there is no such part`);
    return await part.compute({ cores });
  } catch (error) {
    const problem = error instanceof Error ? error.stack ?? error.message : String(error);
    return { leftOut: "it can't be computed", notes: [], problems: [problem] };
  }
}
