import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { MarketReason } from "../../shared/api/reasons/market_reasons.ts";
import { RESTORE_MANAGER } from "../../shared/resize/original_limits.ts";
import type { ResizePatch } from "../../shared/resize/patch.ts";
import {
  sampleAllocation,
  sampleContainer,
  sampleDesired,
  samplePod,
} from "../../tests/contract/support/sample_objects.ts";
import { quietSnapshot } from "../../tests/fixtures/market/bid_facts.ts";
import {
  applyLimits,
  decideLimits,
  type LimitsActions,
  type LimitsInput,
  type LimitsOutcome,
} from "./limits.ts";
import type { ResizeRequest } from "./pace/resize_turns.ts";

const OPTED_OUT = { reason: "OptedOut", message: "the pod says so" } as const;

interface Choice extends Partial<LimitsInput>, Partial<Pick<LimitsActions, "book">> {
  /** How long the pod waits for its turn, ms. @default {0} */
  readonly turnInMs?: number;
  readonly limit?: number;
  readonly applied?: number;
  readonly reason?: MarketReason;
  readonly refusal?: Error;
  /** Takes what is sent. */
  readonly patches?: ResizePatch[];
}

/** Own limit 200 m, the agent wants 300 m. */
async function attempt(
  choice: Choice = {},
): Promise<
  { outcome: LimitsOutcome; patches: ResizePatch[]; managers: string[]; turns: ResizeRequest[] }
> {
  const { limit = 200, applied = limit, reason = "DemandRose", refusal, book, ...input } = choice;
  const containers = [
    sampleContainer({
      containerID: "containerd://a",
      limits: { cpu: limit },
      applied: { limits: { cpu: applied } },
    }),
  ];
  const sample = samplePod("web", { containers });
  const pod: Pod = {
    ...sample,
    phase: "Running",
    metadata: { ...sample.metadata, uid: "u1", resourceVersion: "1" },
  };
  const bare = sampleAllocation(pod);
  const desired = sampleDesired("300m");
  const market = desired.market === undefined ? {} : { market: { ...desired.market, reason } };
  const app = { name: "app", containerID: "containerd://a", floor: 100, ceiling: 800, weight: 100 };
  const bounds = { revision: 3, reason: "", containers: [app] };
  const allocation = {
    ...bare,
    spec: { ...bare.spec, ...desired, ...market },
    status: { bounds, originalLimits: [{ name: "app", cpu: "200m" }] },
  };
  const patches = choice.patches ?? [];
  const managers: string[] = [];
  const resizer: LimitsActions["resizer"] = {
    resize(_namespace, _name, patch, { manager = "" } = {}) {
      patches.push(patch);
      managers.push(manager === RESTORE_MANAGER ? "restore" : "market");
      return refusal === undefined ? Promise.resolve("2") : Promise.reject(refusal);
    },
  };
  const turns: ResizeRequest[] = [];
  const snapshot = { ...quietSnapshot(pod), allocation };
  const plan = decideLimits(snapshot, {
    scope: undefined,
    agentSilent: false,
    originalUnknown: false,
    backOffMs: { market: 0, restore: 0 },
    dryRun: false,
    resizeServed: true,
    ...input,
  });
  const outcome = await applyLimits(snapshot, plan, {
    resizer,
    book,
    takeTurn: (request) => {
      turns.push(request);
      return choice.turnInMs ?? 0;
    },
  });
  return { outcome, patches, managers, turns };
}

function test(name: string, fn: () => void | Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

test("applyLimits() patches the limit that the agent wants, of the pod that is cached alone", async () => {
  const { outcome, patches, managers, turns } = await attempt();
  assert.equal(outcome.patched, "2");
  assert.deepEqual(patches, [{
    metadata: { uid: "u1", resourceVersion: "1" },
    spec: { containers: [{ name: "app", resources: { limits: { cpu: "300m" } } }] },
  }]);
  assert.deepEqual(managers, ["market"]);
  const request = { restoring: false, reason: "DemandRose", net: 100, total: 200 };
  assert.deepEqual(turns, [request]);
});

test("applyLimits() takes a turn with what the change is for, and by how much it is", async () => {
  assert.deepEqual((await attempt({ reason: "DemandFell", limit: 500 })).turns, [
    { restoring: false, reason: "DemandFell", net: -200, total: 500 },
  ]);
  const restore = { reason: "DemandFell", limit: 300, scope: OPTED_OUT } as const;
  assert.deepEqual((await attempt(restore)).turns, [
    { restoring: true, reason: "OptedOut", net: -100, total: 300 },
  ]);
});

test("decideLimits() is done when the kubelet reports the wanted limit", async () => {
  const { outcome, patches } = await attempt({ limit: 300 });
  assert.equal(outcome.decision.reason, "Applied");
  assert.deepEqual(patches, []);
  const waiting = await attempt({ limit: 300, applied: 200 });
  assert.equal(waiting.outcome.decision.reason, "ResizeInProgress");
});

test("applyLimits() brings original limits back out of scope and under a silent agent", async () => {
  for (const cause of [{ scope: OPTED_OUT }, { agentSilent: true }]) {
    const { outcome, patches, managers } = await attempt({ limit: 300, ...cause });
    assert.equal(outcome.patched, "2");
    assert.deepEqual(managers, ["restore"]);
    assert.equal(patches[0]?.spec.containers?.[0]?.resources.limits?.cpu, "200m");
    const done = await attempt({ limit: 200, ...cause });
    assert.equal(done.outcome.decision.reason, "Restored");
    assert.deepEqual(done.patches, []);
  }
});

test("applyLimits() changes nothing while the original limits are unknown", async () => {
  for (const cause of [{}, { scope: OPTED_OUT }]) {
    const { outcome, patches } = await attempt({ originalUnknown: true, ...cause });
    assert.equal(outcome.decision.reason, "OriginalUnknown");
    assert.deepEqual(patches, []);
  }
});

test("applyLimits() sends nothing where the server can't resize, restores included", async () => {
  for (const more of [{}, { dryRun: true }, { limit: 300, scope: OPTED_OUT }]) {
    const { outcome, patches } = await attempt({ resizeServed: false, ...more });
    assert.deepEqual([outcome.decision.reason, patches], ["ResizeNotServed", []]);
  }
});

test("applyLimits() reports in a dry run what it would do, restores included", async () => {
  const { outcome, patches } = await attempt({ dryRun: true });
  assert.equal(outcome.decision.reason, "DryRun");
  assert.equal(outcome.decision.message, "would change app 200m → 300m");
  assert.deepEqual(patches, []);
  const restore = await attempt({ dryRun: true, limit: 300, scope: OPTED_OUT });
  assert.deepEqual(restore.patches, []);
});

test("applyLimits() returns the server's refusal, and throws what is none", async () => {
  const refusal = new ApiError(403, "Forbidden", "quota");
  const { outcome } = await attempt({ refusal });
  assert.equal(outcome.refusal, refusal);
  assert.equal(outcome.patched, undefined);
  await assert.rejects(attempt({ refusal: new TypeError("a bug") }), /a bug/);
});

test("applyLimits() books a raise with the quotas before it is sent, and settles what it has booked", async () => {
  const play = async (choice: Choice): Promise<unknown[]> => {
    const patches: ResizePatch[] = [];
    const reported: unknown[] = [];
    const book: LimitsActions["book"] = (change) => {
      reported.push(["booked", change, patches.length]);
      return {
        accepted: (taken, version) => void reported.push(["accepted", taken, version]),
        refused: () => void reported.push("refused"),
        unknown: () => void reported.push("unknown"),
      };
    };
    await attempt({ ...choice, book, patches }).catch(() => reported.push("thrown"));
    return reported;
  };
  const booked = ["booked", 100, 0];
  assert.deepEqual(await play({}), [booked, ["accepted", 100, "2"]]);
  assert.deepEqual(await play({ limit: 400 }), [["booked", -100, 0], ["accepted", -100, "2"]]);
  const refused = (status: number) => play({ refusal: new ApiError(status, "No", "no") });
  assert.deepEqual(await refused(403), [booked, "refused"]);
  assert.deepEqual(await refused(504), [booked, "unknown"]);
  assert.deepEqual(await play({ refusal: new TypeError("lost") }), [booked, "unknown", "thrown"]);
  assert.deepEqual(await play({ dryRun: true }), []);
  assert.deepEqual(await play({ limit: 300 }), []);
});

test("applyLimits() waits for the pod's turn, and takes none where nothing changes", async () => {
  const waiting = await attempt({ turnInMs: 40 });
  assert.deepEqual(waiting.patches, []);
  assert.deepEqual(waiting.outcome.decision, {
    changes: [],
    by: "RateLimited",
    reason: "RateLimited",
    message: "other changes go first",
    retryAfterMs: 40,
  });
  for (const choice of [{ agentSilent: true }, { limit: 300 }, { originalUnknown: true }]) {
    assert.deepEqual((await attempt(choice)).turns, []);
  }
});
