/**
 * A version of a list that a real server has forgotten.
 *
 * @module
 */
import type { ListWatch } from "../../../shared/control/informer.ts";
import type { ApiObject } from "../../../shared/api/object.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import { pause } from "./until.ts";

/** Before anything that was ever written. */
const FIRST_VERSION = "1";

/** How long a watch that starts may stay silent before it counts as accepted. */
const ACCEPTED_AFTER_MS = 500;

/** Long enough that the cache need not grow by thousands until its first event is old. */
const BETWEEN_BATCHES_MS = 2_000;

/**
 * A server answers a watch with 410 once its watch cache has let go of what came after the version.
 * A young server still holds all of it: it keeps at least 100 events of a kind, and more while they
 * are younger than 75 s (kube-apiserver, staging/src/k8s.io/apiserver/pkg/storage/cacher,
 * `defaultLowerBoundCapacity` and `DefaultEventFreshDuration`). So objects are written with `write`,
 * 100 at a time, until the server has let go. Throws when it never does.
 */
export async function expiredVersion(
  subject: ListWatch<ApiObject>,
  write: () => Promise<void>,
): Promise<string> {
  const deadline = performance.now() + 120_000;
  while (await accepts(subject, FIRST_VERSION)) {
    if (performance.now() > deadline) {
      throw new Error(
        `Cannot go on: after 120 s of writes the server still watches from ${FIRST_VERSION}`,
      );
    }
    for (let written = 0; written < 100; written++) await write();
    await pause(BETWEEN_BATCHES_MS);
  }
  return FIRST_VERSION;
}

/** Whether a watch from this version starts. */
async function accepts(subject: ListWatch<ApiObject>, version: string): Promise<boolean> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), ACCEPTED_AFTER_MS);
  try {
    for await (const _event of subject.watch(version, stop.signal)) return true;
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 410) return false;
    throw error;
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}
