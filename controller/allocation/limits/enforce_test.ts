import assert from "node:assert/strict";
import { quietSnapshot } from "../../../tests/fixtures/market/bid_facts.ts";
import type { ResizePatch } from "../../../shared/resize/patch.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { MarketReason } from "../../../shared/api/reasons/market_reasons.ts";
import {
  sampleAllocation,
  sampleContainer,
  sampleDesired,
  samplePod,
} from "../../../tests/contract/support/sample_objects.ts";
import type { PodResizer } from "../../resize/ports.ts";
import type { ResizeRequest } from "../pace/pending_decreases.ts";
import {
  describeChanges,
  enforce,
  type EnforceContext,
  type Enforcement,
  restoreClaims,
} from "./enforce.ts";
import { RESTORE_MANAGER } from "../../../shared/resize/original_limits.ts";

const OPTED_OUT = { reason: "OptedOut", message: "the pod says so" } as const;

interface Choice extends Partial<Omit<EnforceContext, "resizer">> {
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
  { outcome: Enforcement; patches: ResizePatch[]; hands: string[]; turns: ResizeRequest[] }
> {
  const { limit = 200, applied = limit, reason = "DemandRose", refusal, ...context } = choice;
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
  const hands: string[] = [];
  const resizer: PodResizer = {
    resize(_namespace, _name, patch, { manager = "" } = {}) {
      patches.push(patch);
      hands.push(manager === RESTORE_MANAGER ? "restore" : "market");
      return refusal === undefined ? Promise.resolve("2") : Promise.reject(refusal);
    },
  };
  const turns: ResizeRequest[] = [];
  const outcome = await enforce({
    ...quietSnapshot(pod),
    allocation,
  }, {
    resizer,
    outOfScope: undefined,
    agentSilent: false,
    originalUnknown: false,
    backOffMs: 0,
    takeTurn: (request) => {
      turns.push(request);
      return 0;
    },
    dryRun: false,
    resizeServed: true,
    ...context,
  });
  return { outcome, patches, hands, turns };
}

function test(name: string, fn: () => void | Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

test("enforce() patches the limit that the agent wants, on the very pod that is cached", async () => {
  const { outcome, patches, hands, turns } = await attempt();
  assert.equal(outcome.patched, "2");
  assert.deepEqual(patches, [{
    metadata: { uid: "u1", resourceVersion: "1" },
    spec: { containers: [{ name: "app", resources: { limits: { cpu: "300m" } } }] },
  }]);
  assert.deepEqual(hands, ["market"]);
  const request = { restoring: false, reason: "DemandRose", net: 100, total: 200 };
  assert.deepEqual(turns, [request]);
});

test("enforce() asks for a turn with what the change is for, and by how much it is", async () => {
  assert.deepEqual((await attempt({ reason: "DemandFell", limit: 500 })).turns, [
    { restoring: false, reason: "DemandFell", net: -200, total: 500 },
  ]);
  const restore = { reason: "DemandFell", limit: 300, outOfScope: OPTED_OUT } as const;
  assert.deepEqual((await attempt(restore)).turns, [
    { restoring: true, reason: "OptedOut", net: -100, total: 300 },
  ]);
});

test("enforce() is done when the kubelet reports the wanted limit", async () => {
  const { outcome, patches } = await attempt({ limit: 300 });
  assert.equal(outcome.decision.reason, "Applied");
  assert.deepEqual(patches, []);
  const waiting = await attempt({ limit: 300, applied: 200 });
  assert.equal(waiting.outcome.decision.reason, "ResizeInProgress");
});

test("enforce() brings own limits back out of scope and under a silent agent", async () => {
  for (const cause of [{ outOfScope: OPTED_OUT }, { agentSilent: true }]) {
    const { outcome, patches, hands } = await attempt({ limit: 300, ...cause });
    assert.equal(outcome.patched, "2");
    assert.deepEqual(hands, ["restore"]);
    assert.equal(patches[0]?.spec.containers?.[0]?.resources.limits?.cpu, "200m");
    const done = await attempt({ limit: 200, ...cause });
    assert.equal(done.outcome.decision.reason, "Restored");
    assert.deepEqual(done.patches, []);
  }
});

test("enforce() touches nothing while the user's own limits are unknown", async () => {
  for (const cause of [{}, { outOfScope: OPTED_OUT }]) {
    const { outcome, patches } = await attempt({ originalUnknown: true, ...cause });
    assert.equal(outcome.decision.reason, "OriginalUnknown");
    assert.deepEqual(patches, []);
  }
});

test("enforce() sends nothing where the server can't resize, restores included", async () => {
  for (const more of [{}, { dryRun: true }, { limit: 300, outOfScope: OPTED_OUT }]) {
    const { outcome, patches } = await attempt({ resizeServed: false, ...more });
    assert.deepEqual([outcome.decision.reason, patches], ["ResizeNotServed", []]);
  }
});

test("enforce() says in a dry run what it would do, restores included", async () => {
  const { outcome, patches } = await attempt({ dryRun: true });
  assert.equal(outcome.decision.reason, "DryRun");
  assert.equal(outcome.decision.message, "would change app 200m → 300m");
  assert.deepEqual(patches, []);
  const restore = await attempt({ dryRun: true, limit: 300, outOfScope: OPTED_OUT });
  assert.deepEqual(restore.patches, []);
});

test("enforce() returns the server's refusal, and throws what is none", async () => {
  const refusal = new ApiError(403, "Forbidden", "quota");
  const { outcome } = await attempt({ refusal });
  assert.equal(outcome.refusal, refusal);
  assert.equal(outcome.patched, undefined);
  await assert.rejects(attempt({ refusal: new TypeError("a bug") }), /a bug/);
});

test("enforce() books a raise with the quotas before it is sent, and says what became of it", async () => {
  const play = async (choice: Choice): Promise<unknown[]> => {
    const patches: ResizePatch[] = [];
    const reported: unknown[] = [];
    const book: EnforceContext["book"] = (change) => {
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

test("restoreClaims() is empty when nothing is on record", () => {
  assert.deepEqual(restoreClaims(sampleAllocation(samplePod("web")), "OptedOut"), []);
});

const permissions = "none" as const;

Deno.test({
  name: "describeChanges() names each container with its limit before and after",
  permissions,
  fn() {
    const pod = samplePod("web", {
      containers: [sampleContainer(), sampleContainer({ name: "proxy", limits: { cpu: 50 } })],
    });
    const changes = [
      { name: "app", sidecar: false, requests: {}, limits: { cpu: 450 } },
      { name: "proxy", sidecar: false, requests: {}, limits: { cpu: 40 } },
    ];
    assert.equal(describeChanges(pod, changes), "app 200m → 450m, proxy 50m → 40m");
    const moved = changes.map((change) => ({
      ...change,
      requests: { ...change.requests, cpu: change.limits.cpu },
    }));
    assert.equal(
      describeChanges(pod, moved),
      "app 200m → 450m, proxy 50m → 40m (request and limit)",
    );
  },
});
