/**
 * Mutants that lose something between two writes, or when a request fails.
 *
 * @module
 */
import type { Mutant } from "./mutant.ts";

/** Each with the text that it replaces. */
export const LOST_IN_A_CRASH: readonly Mutant[] = [
  {
    name: "the market sends users' values under its own name",
    kind: "crash",
    file: "shared/resize/patch.ts",
    from: "changes: changes.filter((change) => !isOwn(change)),",
    to: "changes,",
  },
  {
    name: "a write of the agent that fails is dropped",
    kind: "crash",
    file: "agent/reporting/outbox.ts",
    from: "        if (written.get(key)?.desired === write.desired) waiting.set(key, write);\n",
    to: "",
  },
  {
    name: "an error ends the work on a key",
    kind: "crash",
    file: "shared/control/reconcile_loop.ts",
    from: "        queue.add(key, waitMs);\n",
    to: "",
  },
  {
    name: "the revision begins anew when the status is lost",
    kind: "crash",
    file: "controller/allocation/bounds/publish_bounds.ts",
    from: "present?.revision ?? allocation.spec.market?.observedBounds ?? 0",
    to: "present?.revision ?? 0",
  },
  {
    name: "the market's limit passes for the user's when the record is lost",
    kind: "crash",
    file: "shared/resize/original_limits.ts",
    from: "isOfMarket(container) ? template?.get(name) : limits.cpu;",
    to: "limits.cpu;",
  },
  {
    name: "the name of the market has no original limits",
    kind: "crash",
    file: "shared/resize/original_limits.ts",
    from: "return name.length > LONGEST_NAME ? MARKET_MANAGER : name;",
    to: "return name.length > 0 ? MARKET_MANAGER : name;",
  },
  {
    name: "limits with unknown originals are moved",
    kind: "crash",
    file: "controller/allocation/limits.ts",
    from: "  if (input.originalUnknown) return { restoring, decision: ORIGINAL_UNKNOWN };\n",
    to: "",
  },
  {
    name: "a limit of the market without a record is left alone",
    kind: "crash",
    file: "controller/allocation/reconcile.ts",
    from: "(scope !== undefined && !isOurs)",
    to: "scope !== undefined",
  },
  {
    name: "the record goes before the limits are back",
    kind: "crash",
    file: "controller/allocation/reconcile.ts",
    from: 'if (reason === "Restored" && scope !== undefined) return',
    to: "if (scope !== undefined) return",
  },
  {
    name: "a cooldown waits for a clock that was set back",
    kind: "crash",
    file: "shared/rightsizing/guards/policy_guards.ts",
    from: "lastAppliedMs === undefined || lastAppliedMs > nowMs",
    to: "lastAppliedMs === undefined",
  },
  {
    name: "the agent forgets that allocations are gone",
    kind: "crash",
    file: "agent/reporting/outbox.ts",
    from: "        if (error.status === 404) continue;\n",
    to: '        if (error.status === 404) throw new Error("gone");\n',
  },
  {
    name: "an agent's conflict ends its loop",
    kind: "crash",
    file: "agent/reporting/outbox.ts",
    from: "if (!(error instanceof ApiError)) throw error;",
    to:
      "if (!(error instanceof ApiError) || error.status === 409 || error.status === 500) throw error;",
  },
  {
    name: "room of a quota stays booked after a refusal",
    kind: "crash",
    file: "controller/allocation/quotas/quota_ledger.ts",
    from: "        const untilMs = clock.monotonic() + COUNTED_MS;\n",
    to:
      "        if (taken === 0) return;\n        const untilMs = clock.monotonic() + COUNTED_MS;\n",
  },
  {
    name: "Retry-After is believed, however long it is",
    kind: "crash",
    file: "shared/api/api_error.ts",
    from: "Math.min(options.retryAfterMs, LONGEST_RETRY_AFTER_MS)",
    to: "options.retryAfterMs",
  },
  {
    name: "a conflict is not tried again",
    kind: "crash",
    file: "controller/allocation/reconcile.ts",
    from: "if (error.status === 409) return { requeueAfterMs: conflicts.next(podKey) };",
    to: "if (error.status === 409) return {};",
  },
];
