/**
 * What must be read before the first pod is looked at.
 *
 * @module
 */
import type { Clock } from "../../../shared/clock.ts";
import type { Informer } from "../../../shared/control/informer.ts";
import type { ApiObject } from "../../../shared/api/object.ts";
import type { Log } from "../../../shared/log.ts";
import { type Caches, namedCaches } from "../caches.ts";

/**
 * A server that lists at all has done so by then, ms. VerticalPodAutoscalers are a definition of
 * somebody else's, so a conversion webhook that is down, for instance, is no fault of the cluster's.
 */
export const VPA_WAIT_MS = 30_000;

/**
 * Resolves with true when all copies are in sync, with false when `signal` is aborted first. For
 * VerticalPodAutoscalers it waits only a while after the others, and then warns: until they are known
 * limits come back and are lowered, but not raised.
 */
export async function copiesInSync(
  { caches, clock, log }: {
    readonly caches: Caches;
    readonly clock: Pick<Clock, "sleep">;
    readonly log: Pick<Log, "warn">;
  },
  signal: AbortSignal,
): Promise<boolean> {
  const { verticalPodAutoscalers } = caches;
  for (const [, informer] of namedCaches(caches)) {
    if (informer !== verticalPodAutoscalers && !await informer.whenSynced(signal)) return false;
  }
  if (await syncedWithin(verticalPodAutoscalers, { clock, signal })) return true;
  if (signal.aborted) return false;
  log.warn("VerticalPodAutoscalers can't be read: limits are not raised until they can", {
    waitedMs: VPA_WAIT_MS,
    known: [...verticalPodAutoscalers.all()].length,
  });
  return true;
}

async function syncedWithin(
  informer: Pick<Informer<ApiObject>, "whenSynced">,
  { clock, signal }: { readonly clock: Pick<Clock, "sleep">; readonly signal: AbortSignal },
): Promise<boolean> {
  const wait = new AbortController();
  const end = (): void => wait.abort();
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  try {
    const late = clock.sleep(VPA_WAIT_MS, wait.signal).then(() => false);
    return await Promise.race([informer.whenSynced(wait.signal), late]);
  } finally {
    end();
    signal.removeEventListener("abort", end);
  }
}
