/**
 * Keeps two runs of the harness from starting or ending the same cluster at once.
 *
 * @module
 */
import type { Instance } from "./instance.ts";
import type { Progress } from "./progress.ts";

/** Held until disposed of; the kernel releases it when the process ends in whatever way. */
export interface InstanceLock extends Disposable {
  /** Removes the file too, for a cluster that is no more. */
  remove(): Promise<void>;
}

/** After this long in ms, it is said what is waited for. */
const SAY_AFTER_MS = 500;

/** Waits until no other run holds the instance. */
export async function lockInstance(
  { stateRoot, name }: Pick<Instance, "stateRoot" | "name">,
  { progress }: { readonly progress: Progress },
): Promise<InstanceLock> {
  await Deno.mkdir(stateRoot, { recursive: true });
  const path = `${stateRoot}/${name}.lock`;
  const file = await Deno.open(path, { create: true, write: true });
  const timer = setTimeout(
    () => progress.say(`waiting for another run of the harness that holds ${path}`),
    SAY_AFTER_MS,
  );
  try {
    await file.lock(true);
  } finally {
    clearTimeout(timer);
  }
  return { remove: () => Deno.remove(path), [Symbol.dispose]: () => file.close() };
}
