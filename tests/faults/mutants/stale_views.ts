/**
 * Mutants that act on an old view of the cluster.
 *
 * @module
 */
import type { Mutant } from "./mutant.ts";

/** Each with the text that it replaces. */
export const STALE_VIEWS: readonly Mutant[] = [
  {
    name: "patch without resourceVersion",
    kind: "stale",
    file: "controller/resize/send_changes.ts",
    from: "pinned ? { resourceVersion } : {}",
    to: "{}",
  },
  {
    name: "pod older than the last patch passes for current",
    kind: "stale",
    file: "controller/allocation/pod_memory.ts",
    from: "return current || nowMs - patched.atMs >= LONGEST_LAG_MS;",
    to: "return true;",
  },
  {
    name: "the last patch is never remembered",
    kind: "stale",
    file: "controller/allocation/reconcile.ts",
    from: "noteSent(memory, { from: pod.metadata.resourceVersion, to, atMs: nowMs });",
    to: "",
  },
  {
    name: "limits are raised while copies are out of sync",
    kind: "stale",
    file: "shared/resize/chain.ts",
    from: '  [["market"], { name: "CopiesOutOfSync", check: copiesOutOfSync }],\n',
    to: "",
  },
  {
    name: "a copy counts as in sync while it is listed again",
    kind: "stale",
    file: "shared/control/informer.ts",
    from:
      "  state.synced = false;\n  state.version = undefined;\n  const failures = ++state.failures;",
    to: "  state.version = undefined;\n  const failures = ++state.failures;",
  },
  {
    name: "a list keeps objects that are gone",
    kind: "stale",
    file: "shared/control/object_cache.ts",
    from: "gone.forEach(drop);",
    to: "",
  },
  {
    name: "a list keeps the objects that are known",
    kind: "stale",
    file: "shared/control/object_cache.ts",
    from: "for (const [key, object] of changed) store(key, object);",
    to: "for (const [key, object] of changed) if (!byKey.has(key)) store(key, object);",
  },
  {
    name: "a deleted object stays in the copy",
    kind: "stale",
    file: "shared/control/informer.ts",
    from: 'event.type === "DELETED" ? cache.remove(event.object) : cache.put(event.object)',
    to: "cache.put(event.object)",
  },
  {
    name: "the watch begins again at its first version",
    kind: "stale",
    file: "shared/control/informer.ts",
    from: "  state.version = event.object.metadata.resourceVersion;\n",
    to: "",
  },
  {
    name: "after 410 the watch goes on from the old version",
    kind: "stale",
    file: "shared/control/informer.ts",
    from:
      "  state.synced = false;\n  state.version = undefined;\n  const failures = ++state.failures;",
    to: "  state.synced = false;\n  const failures = ++state.failures;",
  },
  {
    name: "the clearing may be older than the bounds",
    kind: "stale",
    file: "shared/resize/checks/published_bounds.ts",
    from: "if (market.observedBounds === revision) return undefined;",
    to: "return undefined;",
  },
  {
    name: "a value outside of the bounds is sent",
    kind: "stale",
    file: "shared/resize/chain.ts",
    from: '  [["market"], { name: "OutsideBounds", check: outsideBounds }],\n',
    to: "",
  },
  {
    name: "memory of a pod counts for the next one of its name",
    kind: "stale",
    file: "controller/allocation/pod_memory.ts",
    from: "      if (known?.uid === uid) return known;\n      forget(podKey);",
    to: "      if (known !== undefined) return known;\n      forget(podKey);",
  },
  {
    name: "the agent goes on from bounds that have changed since",
    kind: "stale",
    file: "agent/reporting/desired.ts",
    from: "const isStale = last.market?.observedBounds !== revision;",
    to: "const isStale = false;",
  },
  {
    name: "limits that an agent wanted before it fell silent are sent",
    kind: "stale",
    file: "controller/allocation/reconcile.ts",
    from: "config.resizeServed && needsConfirmation(snapshot);",
    to: "false;",
  },
  {
    name: "a Lease that is alive is taken",
    kind: "stale",
    file: "shared/control/election_step.ts",
    from: 'if (lease.holder !== "" && leftMs > 0) return { do: "wait", ms: leftMs };',
    to: "",
  },
  {
    name: "a leader that cannot renew goes on",
    kind: "stale",
    file: "shared/control/leader_election.ts",
    from: "return isHolder() ? renewedMs + RENEW_DEADLINE_MS - clock.monotonic() : 0;",
    to: "return isHolder() ? RENEW_DEADLINE_MS : 0;",
  },
  {
    name: "the age of a Lease follows the wall clock",
    kind: "stale",
    file: "shared/control/election_step.ts",
    from: "const leftMs = seenMs + lease.durationSeconds * 1000 - nowMs;",
    to: "const leftMs = lease.renewTimeMs + lease.durationSeconds * 1000 - wallMs;",
  },
  {
    name: "work begins before the copies are in sync",
    kind: "stale",
    file: "controller/allocation/allocation_loop.ts",
    from: "if (!await copiesInSync(parts, signal)) return;",
    to: "",
  },
  {
    name: "the leader does not wait for the settings",
    kind: "stale",
    file: "controller/run_controller.ts",
    from: "if (followed === undefined || await followed.whenSynced(term)) {",
    to: "if (!term.aborted) {",
  },
  {
    name: "versions are compared as text",
    kind: "stale",
    file: "shared/control/object_key.ts",
    from: "version.length === than.length ? version > than : version.length > than.length",
    to: "version > than",
  },
  {
    name: "original limits are read from the market's own",
    kind: "stale",
    file: "shared/resize/original_limits.ts",
    from: "  if (!isOfMarket(container)) return limits.cpu;\n",
    to: "  if (limits.cpu !== undefined) return limits.cpu;\n",
  },
  {
    name: "the record of original limits comes before the pod",
    kind: "stale",
    file: "shared/resize/original_limits.ts",
    from: "if (own !== undefined && own !== replaced)",
    to: "if (own !== undefined && record === undefined)",
  },
];
