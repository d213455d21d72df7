import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { MarketReason } from "../../shared/api/reasons/market_reasons.ts";
import { RESTORE_MANAGER } from "../../shared/resize/original_limits.ts";
import {
  sampleAllocation,
  sampleContainer,
  sampleDesired,
  samplePod,
} from "../../tests/contract/support/sample_objects.ts";
import { quietSnapshot } from "../../tests/fixtures/market/bid_facts.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import {
  applyLimits,
  decideLimits,
  type LimitsActions,
  type LimitsInput,
  type LimitsOutcome,
} from "./limits.ts";

const OPTED_OUT = { reason: "OptedOut", message: "the pod says so" } as const;

interface Choice extends Partial<Omit<LimitsInput, "config">>, Partial<LimitsInput["config"]> {
  /** How long the pod waits for its turn, ms. @default {0} */
  readonly turnInMs?: number;
  readonly limit?: number;
  readonly applied?: number;
  readonly reason?: MarketReason;
  readonly refusal?: Error;
}

/** What was done, in order, and what became of it. */
interface Attempt {
  readonly outcome: LimitsOutcome | undefined;
  readonly steps: readonly string[];
}

/** The original limit is 200 m, the agent wants 300 m. */
async function attempt(choice: Choice = {}): Promise<Attempt> {
  const { limit = 200, applied = limit, reason = "DemandRose", refusal, turnInMs = 0 } = choice;
  const app = { containerID: "c", limits: { cpu: limit }, applied: { limits: { cpu: applied } } };
  const sample = samplePod("web", { containers: [sampleContainer(app)] });
  const metadata = { ...sample.metadata, uid: "u1", resourceVersion: "1" };
  const pod: Pod = { ...sample, phase: "Running", metadata };
  const bare = sampleAllocation(pod);
  const { market, ...desired } = sampleDesired("300m");
  assert.ok(market);
  const bound = { name: "app", containerID: "c", floor: 100, ceiling: 800, weight: 100 };
  const allocation = {
    ...bare,
    spec: { ...bare.spec, ...desired, market: { ...market, reason } },
    status: {
      bounds: { revision: 3, reason: "", containers: [bound] },
      originalLimits: [{ name: "app", cpu: "200m" }],
    },
  };
  const steps: string[] = [];
  const snapshot = { ...quietSnapshot(pod), allocation };
  const { dryRun = false, resizeServed = true, maxStep = null, ...input } = choice;
  const plan = decideLimits(snapshot, {
    ...{ agentSilent: false, originalUnknown: false, backOffMs: { market: 0, restore: 0 } },
    ...{ config: { dryRun, resizeServed, maxStep }, ...input },
  });
  const actions: LimitsActions = {
    snapshot,
    resizer: {
      resize(_namespace, _name, { metadata, spec }, { manager = "" } = {}) {
        const by = manager === RESTORE_MANAGER ? "restore" : "market";
        const cpu = spec.containers?.[0]?.resources.limits?.cpu;
        steps.push(`${by} ${metadata.uid}@${metadata.resourceVersion} ${cpu}`);
        return refusal === undefined ? Promise.resolve("2") : Promise.reject(refusal);
      },
    },
    book(change) {
      steps.push(`booked ${change}`);
      return (taken, version) => void steps.push(`settled ${taken} ${version ?? ""}`.trim());
    },
    takeTurn({ restoring, reason, net, total }) {
      steps.push(`turn ${restoring ? "restore " : ""}${reason} ${net} of ${total}`);
      return turnInMs;
    },
  };
  const outcome = await applyLimits(plan, actions).catch((error) => {
    if (error !== refusal) throw error;
    steps.push("thrown");
    return undefined;
  });
  return { outcome, steps };
}

const TURN = "turn DemandRose 100 of 200";
const SENT = [TURN, "booked 100", "market u1@1 300m"];
const BACK = ["booked -100", "restore u1@1 200m", "settled -100 2"];
const HELD = [{ limit: 300 }, { originalUnknown: true }, { agentSilent: true }];

pure("applyLimits() takes a turn, books with quotas, patches, and settles", async () => {
  const denied = (status: number): Choice => ({ refusal: new ApiError(status, "No", "no") });
  const rows: readonly (readonly [Choice, steps: readonly string[]])[] = [
    [{}, [...SENT, "settled 100 2"]],
    [{ reason: "DemandFell", limit: 500 }, [
      ...["turn DemandFell -200 of 500", "booked -200", "market u1@1 300m", "settled -200 2"],
    ]],
    [denied(403), [...SENT, "settled 0"]],
    [denied(504), [...SENT, "settled 100"]],
    [{ refusal: new TypeError("lost") }, [...SENT, "settled 100", "thrown"]],
    [{ turnInMs: 40 }, [TURN]],
    [{ dryRun: true }, [TURN]],
    // Original limits come back out of scope and under a silent agent.
    [{ limit: 300, outOfScope: OPTED_OUT }, ["turn restore OptedOut -100 of 300", ...BACK]],
    [{ limit: 300, agentSilent: true }, ["turn restore AgentSilent -100 of 300", ...BACK]],
    ...HELD.map((choice) => [choice, []] as const),
  ];
  for (const [choice, steps] of rows) assert.deepEqual((await attempt(choice)).steps, steps);
});

pure("decideLimits() says why nothing is sent", async () => {
  const rows: readonly (readonly [string, Choice])[] = [
    ["Applied", { limit: 300 }],
    ["ResizeInProgress", { limit: 300, applied: 200 }],
    ["Restored", { outOfScope: OPTED_OUT }],
    ["Restored", { agentSilent: true }],
    ["OriginalUnknown", { originalUnknown: true }],
    ["OriginalUnknown", { originalUnknown: true, outOfScope: OPTED_OUT }],
    ["ResizeNotServed", { resizeServed: false }],
    ["ResizeNotServed", { resizeServed: false, dryRun: true }],
    ["ResizeNotServed", { resizeServed: false, limit: 300, outOfScope: OPTED_OUT }],
    ["DryRun", { dryRun: true, limit: 300, outOfScope: OPTED_OUT }],
    ["DryRun", { dryRun: true }],
    ["RateLimited", { turnInMs: 40 }],
    ["BackOff", { backOffMs: { market: 5, restore: 0 } }],
    ["BackOff", { backOffMs: { market: 0, restore: 5 }, limit: 300, agentSilent: true }],
  ];
  for (const [reason, choice] of rows) {
    const { outcome, steps } = await attempt(choice);
    assert.equal(outcome?.decision.reason, reason);
    assert.ok(steps.every((step) => step.startsWith("turn")));
  }
  const { outcome } = await attempt({ turnInMs: 40 });
  assert.deepEqual(outcome?.decision.retryAfterMs, 40);
  assert.equal((await attempt({ maxStep: 1.25 })).steps.at(-2), "market u1@1 250m");
});

pure("applyLimits() returns the pod's version, or the server's refusal", async () => {
  const refusal = new ApiError(403, "Forbidden", "quota");
  const { outcome } = await attempt({ refusal });
  assert.deepEqual([outcome?.refusal, outcome?.patched], [refusal, undefined]);
  assert.deepEqual((await attempt()).outcome?.patched, "2");
});
