/**
 * Waits for the caches that the first reconcile needs.
 *
 * @module
 */
import type { Clock } from "../../../shared/clock.ts";
import type { Log } from "../../../shared/log.ts";
import { type Caches, namedCaches } from "../../caches.ts";

/**
 * Any working server has listed by then, ms. Another vendor defines VerticalPodAutoscalers: its
 * conversion webhook may be down while the cluster works.
 */
export const VPA_WAIT_MS = 30_000;

/**
 * Resolves with true when all caches are in sync, with false when `signal` is aborted first. For
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
  const done = new AbortController();
  const either = AbortSignal.any([signal, done.signal]);
  const late = clock.sleep(VPA_WAIT_MS, either).then(() => false);
  const synced = await Promise.race([verticalPodAutoscalers.whenSynced(either), late]);
  done.abort();
  if (synced || signal.aborted) return synced;
  log.warn("VerticalPodAutoscalers can't be read: limits are not raised until they can", {
    waitedMs: VPA_WAIT_MS,
    known: [...verticalPodAutoscalers.all()].length,
  });
  return true;
}
