/**
 * Keeps two runs of the harness from starting or ending the same cluster at once.
 *
 * @module
 */
import { type FileLock, lockFile } from "./file_lock.ts";
import type { Instance } from "./instance.ts";
import type { Progress } from "./progress.ts";

/** Waits until no other run holds the instance. */
export function lockInstance(
  { stateRoot, name }: Pick<Instance, "stateRoot" | "name">,
  { progress }: { readonly progress: Progress },
): Promise<FileLock> {
  return lockFile(`${stateRoot}/${name}.lock`, { progress });
}
