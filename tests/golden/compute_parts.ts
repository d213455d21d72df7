/**
 * Computes golden outputs side by side.
 *
 * @module
 */
import type { Computed } from "./golden_part.ts";
import type { FromGoldenWorker, ToGoldenWorker } from "./golden_worker.ts";

/** An output, and how long it took. */
export interface ComputedPart extends Computed {
  readonly name: string;
  readonly ms: number;
}

/** Computes these parts, in their order, on two threads at least. */
export async function computeParts(
  names: readonly string[],
  { cores }: { readonly cores: number },
): Promise<readonly ComputedPart[]> {
  const left = [...names];
  const done = new Map<string, ComputedPart>();
  const lanes = Math.min(names.length, Math.max(2, cores));
  const workers = Array.from(
    { length: lanes },
    () => new Worker(new URL("./golden_worker.ts", import.meta.url), { type: "module" }),
  );
  try {
    await Promise.all(workers.map(async (worker) => {
      for (let name = left.shift(); name !== undefined; name = left.shift()) {
        done.set(name, await computeIn(worker, { name, cores }));
      }
    }));
  } finally {
    for (const worker of workers) worker.terminate();
  }
  return names.flatMap((name) => done.get(name) ?? []);
}

function computeIn(worker: Worker, request: ToGoldenWorker): Promise<ComputedPart> {
  const { promise, resolve, reject } = Promise.withResolvers<ComputedPart>();
  worker.onmessage = ({ data }: MessageEvent<FromGoldenWorker>) => {
    resolve({ name: request.name, ms: data.ms, ...data.computed });
  };
  worker.onerror = (event) => {
    event.preventDefault();
    reject(new Error(`Cannot compute ${request.name}: ${event.message}`));
  };
  worker.postMessage(request);
  return promise;
}
