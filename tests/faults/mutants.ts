/**
 * The bugs that the fault simulator must find, in the proportions that real controllers have them: half
 * act on stale views, a quarter lose something in a crash, a fifth miss events (Sieve, OSDI 2022).
 *
 * @module
 */

/** One planted bug: a text that stands once in a file is replaced. */
export interface Mutant {
  readonly name: string;
  readonly kind: "stale" | "crash" | "missed" | "rule";
  /** Path from the project's root. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Name, text, and what replaces the text. */
type Bug = readonly [name: string, from: string, to: string];

/** By kind and file. */
const BUGS: Readonly<Record<Mutant["kind"], Readonly<Record<string, readonly Bug[]>>>> = {
  // They act on an old view of the cluster.
  stale: {
    "controller/resize/send_changes.ts": [
      ["patch without resourceVersion", "pinned ? { resourceVersion } : {}", "{}"],
    ],
    "controller/allocation/pod_memory.ts": [
      [
        "pod older than the last patch passes for current",
        "return current || nowMs - lastPatch.atMs >= LONGEST_LAG_MS;",
        "return true;",
      ],
      [
        "memory of a pod counts for the next one of its name",
        "      if (known?.uid === uid) return known;\n      forget(podKey);",
        "      if (known !== undefined) return known;\n      forget(podKey);",
      ],
    ],
    "controller/allocation/reconcile.ts": [
      [
        "the last patch is never remembered",
        "noteSent(memory, { from: pod.metadata.resourceVersion, to, atMs: nowMs });",
        "",
      ],
      [
        "limits that an agent wanted before it fell silent are sent",
        "config.resizeServed && needsConfirmation(snapshot);",
        "false;",
      ],
    ],
    "shared/resize/checks/limit_moves.ts": [
      [
        "limits are raised while copies are out of sync",
        "if (outOfSync.length === 0) return undefined;",
        "return undefined;",
      ],
      [
        "the clearing may be older than the bounds",
        "if (observed === revision) return undefined;",
        "return undefined;",
      ],
    ],
    "shared/resize/chain.ts": [
      [
        "a value outside of the bounds is sent",
        '  [["market"], "OutsideBounds", outsideBounds],\n',
        "",
      ],
    ],
    "shared/control/informer.ts": [
      [
        "a copy counts as in sync while it is listed again",
        "  state.synced = false;\n  state.isListDue = true;\n  const failures = ++state.failures;",
        "  state.isListDue = true;\n  const failures = ++state.failures;",
      ],
      [
        "a deleted object stays in the copy",
        'event.type === "DELETED" ? cache.remove(event.object) : cache.put(event.object)',
        "cache.put(event.object)",
      ],
      [
        "the watch begins again at its first version",
        "  state.version = event.object.metadata.resourceVersion;\n",
        "",
      ],
      [
        "after 410 the watch goes on from the old version",
        "  state.synced = false;\n  state.isListDue = true;\n  const failures = ++state.failures;",
        "  state.synced = false;\n  const failures = ++state.failures;",
      ],
      [
        "a list that is older than the copy counts",
        "isAtLeast(listed.resourceVersion, version) === false",
        "false",
      ],
    ],
    "shared/control/object_cache.ts": [
      ["a list keeps objects that are gone", "gone.forEach(drop);", ""],
      [
        "a list keeps the objects that are known",
        "for (const [key, object] of changed) store(key, object);",
        "for (const [key, object] of changed) if (!byKey.has(key)) store(key, object);",
      ],
    ],
    "agent/reporting/desired.ts": [
      [
        "the agent goes on from bounds that have changed since",
        "const isStale = last.market?.observedBounds !== revision;",
        "const isStale = false;",
      ],
    ],
    "shared/control/election_step.ts": [
      [
        "a Lease that is alive is taken",
        'if (lease.holder !== "" && leftMs > 0) return { do: "wait", ms: leftMs };',
        "",
      ],
      [
        "the age of a Lease follows the wall clock",
        "const leftMs = seenMs + lease.durationSeconds * 1000 - nowMs;",
        "const leftMs = lease.renewTimeMs + lease.durationSeconds * 1000 - wallMs;",
      ],
    ],
    "shared/control/leader_election.ts": [
      [
        "a leader that cannot renew goes on",
        "return isHolder() ? renewedMs + RENEW_DEADLINE_MS - clock.monotonic() : 0;",
        "return isHolder() ? RENEW_DEADLINE_MS : 0;",
      ],
    ],
    "controller/allocation/allocation_loop.ts": [
      [
        "work begins before the copies are in sync",
        "if (!await whenCachesSynced(parts, signal)) return;",
        "",
      ],
    ],
    "controller/run_controller.ts": [
      [
        "the leader does not wait for the settings",
        "if (settingsInformer === undefined || await settingsInformer.whenSynced(term)) {",
        "if (!term.aborted) {",
      ],
    ],
    "shared/control/object_key.ts": [
      [
        "versions are compared as text",
        "version.length === than.length ? version > than : version.length > than.length",
        "version > than",
      ],
    ],
    "shared/resize/original_limits.ts": [
      [
        "original limits are read from the market's own",
        "  if (!isOfMarket(container)) return limits.cpu;\n",
        "  if (limits.cpu !== undefined) return limits.cpu;\n",
      ],
      [
        "the record of original limits comes before the pod",
        "if (own !== undefined && own !== replaced)",
        "if (own !== undefined && record === undefined)",
      ],
    ],
  },
  // They lose something between two writes, or keep what a crash has made wrong.
  crash: {
    "shared/resize/patch.ts": [
      [
        "the market sends users' values under its own name",
        "changes: changes.filter((change) => !isOwn(change)),",
        "changes,",
      ],
    ],
    "agent/reporting/outbox.ts": [
      [
        "a write of the agent that fails is dropped",
        "        if (written.get(uid)?.desired === write.desired) waiting.set(uid, write);\n",
        "",
      ],
      [
        "the agent forgets that allocations are gone",
        "        if (!written.has(uid)) continue;\n",
        '        if (error.status === 404) throw new Error("gone");\n',
      ],
      [
        "an agent's conflict ends its loop",
        "if (!(error instanceof ApiError)) throw error;",
        "if (!(error instanceof ApiError) || error.status === 409 || error.status === 500) throw error;",
      ],
    ],
    "shared/control/reconcile_loop.ts": [
      ["an error ends the work on a key", "        queue.add(key, waitMs);\n", ""],
    ],
    "controller/allocation/bounds/publish_bounds.ts": [
      [
        "the revision begins anew when the status is lost",
        "present?.revision ?? allocation.spec.market?.observedBounds ?? 0",
        "present?.revision ?? 0",
      ],
    ],
    "shared/resize/original_limits.ts": [
      [
        "the market's limit passes for the user's when the record is lost",
        "isOfMarket(container) ? template?.get(name) : limits.cpu;",
        "limits.cpu;",
      ],
      [
        "the name of the market has no original limits",
        "return name.length > LONGEST_NAME ? MARKET_MANAGER : name;",
        "return name.length > 0 ? MARKET_MANAGER : name;",
      ],
    ],
    "shared/resize/chain.ts": [
      [
        "limits with unknown originals are moved",
        '  [["market", "restore"], "OriginalUnknown", originalUnknown],\n',
        "",
      ],
    ],
    "controller/allocation/reconcile.ts": [
      [
        "a limit of the market without a record is left alone",
        "(scope !== undefined && !isOurs)",
        "scope !== undefined",
      ],
      [
        "the record goes before the limits are back",
        'plan.decision.reason === "Restored" && snapshot.scope !== undefined',
        "snapshot.scope !== undefined",
      ],
      [
        "a conflict is not tried again",
        "if (error.status === 409) return { requeueAfterMs: conflicts.next(podKey) };",
        "if (error.status === 409) return {};",
      ],
    ],
    "shared/rightsizing/guards/policy_guards.ts": [
      [
        "a cooldown waits for a clock that was set back",
        "lastAppliedMs === undefined || lastAppliedMs > nowMs",
        "lastAppliedMs === undefined",
      ],
    ],
    "controller/allocation/quotas/quota_ledger.ts": [
      [
        "room of a quota stays booked after a refusal",
        "        const untilMs = clock.monotonic() + COUNTED_MS;\n",
        "        if (accepted === 0) return;\n        const untilMs = clock.monotonic() + COUNTED_MS;\n",
      ],
    ],
    "shared/api/api_error.ts": [
      [
        "Retry-After is believed, however long it is",
        "Math.min(options.retryAfterMs, LONGEST_RETRY_AFTER_MS)",
        "options.retryAfterMs",
      ],
    ],
  },
  // They miss an event and never look again.
  missed: {
    "controller/allocation/report.ts": [
      [
        "a patch that the server deferred is not sent again",
        "if (!lasts) return { requeueAfterMs: waitMs };",
        "if (!lasts) return {};",
      ],
    ],
    "shared/control/informer.ts": [
      ["a list notifies no subscriber", "  notify(state, changed);\n", ""],
    ],
    "shared/control/object_cache.ts": [
      [
        "a list does not notify of what is gone",
        "const keys = [...gone, ...changed.map(([key]) => key)];",
        "const keys = changed.map(([key]) => key);",
      ],
    ],
    "shared/control/work_queue.ts": [
      [
        "a key that changes while it is in work is dropped",
        "(inWork.has(key) ? dueAgain : ready).add(key);",
        "if (!inWork.has(key)) ready.add(key);",
      ],
    ],
    "controller/allocation/watches/subscribe_queue.ts": [
      [
        "a pod's change wakes no worker",
        "    caches.pods.subscribe((key) => queue.add(key)),\n",
        "",
      ],
      ["a record's change wakes no worker", "    caches.allocations.subscribe(addPodOf),\n", ""],
      ["a namespace's change wakes no worker", "    caches.namespaces.subscribe(addPodsOf),\n", ""],
    ],
    "controller/allocation/allocation_loop.ts": [
      ["a change of the settings wakes no worker", "[onConfigChange(addAll)]", "[]"],
      ["a new leader looks at no pod by itself", "    addAll();\n", ""],
    ],
    "controller/live_settings.ts": [
      [
        "a settings file with faults does not switch the market off",
        "if (!next.readable.values.market) take(",
        "if (next.readable === undefined) take(",
      ],
    ],
    "shared/control/reconcile_loop.ts": [
      ["requeues are lost", "if (requeueAfterMs !== undefined) {", "if (requeueAfterMs === -1) {"],
    ],
  },
  // They break a rule of placement.
  rule: {
    "shared/placement/split.ts": [
      [
        "an eviction breaks the floor of on-demand replicas",
        "Math.max(0, Math.min(shared, replicas - minOnDemand))",
        "replicas",
      ],
    ],
  },
};

/** All of them. */
export const MUTANTS: readonly Mutant[] = (["stale", "crash", "missed", "rule"] as const)
  .flatMap((kind) =>
    Object.entries(BUGS[kind]).flatMap(([file, bugs]) =>
      bugs.map(([name, from, to]) => ({ name, kind, file, from, to }))
    )
  );

/** The source with the bug. Throws where the text does not stand there exactly once. */
export function mutate(source: string, { name, file, from, to }: Mutant): string {
  const parts = source.split(from);
  if (parts.length !== 2) {
    throw new Error(
      `Cannot plant ${name}: its text stands ${parts.length - 1} times in ${file}, expected once`,
    );
  }
  return parts.join(to);
}
