import assert from "node:assert/strict";
import { agentLeaseRef, type Lease } from "../../shared/api/lease.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation, PodAllocationStatus } from "../../shared/api/pod_allocation.ts";
import {
  ENFORCEMENT_REASONS,
  type EnforcementReason,
} from "../../shared/api/reasons/enforcement_reasons.ts";
import {
  sampleAllocation,
  sampleContainer,
  samplePod,
} from "../../tests/contract/support/sample_objects.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { sampleWorkload } from "../../tests/fixtures/sample_workloads.ts";
import { nextStatus, phaseOf, type StatusInput } from "./allocation_status.ts";
import {
  createPodMemories,
  isCurrent,
  noteResize,
  type PodMemory,
  resizePauses,
  waitLeftMs,
} from "./pod_memory.ts";
import { createRolloutMemory } from "./reconcile_snapshot.ts";
import { type AgentsView, createSilentAgents } from "./watches/silent_agents.ts";

function podWith(uid: string): Pod {
  const pod = samplePod("web");
  return { ...pod, metadata: { ...pod.metadata, uid } };
}

pure("createPodMemories() forgets a pod when another one bears its name", () => {
  const forgotten: string[] = [];
  const memories = createPodMemories((podKey, uid) => void forgotten.push(`${podKey} ${uid}`));
  const first = memories.getOrCreate("shop/web", podWith("u1"));
  first.refusal = { message: "no", reason: "Refused" };
  assert.equal(memories.getOrCreate("shop/web", podWith("u1")), first);
  assert.equal(memories.getOrCreate("shop/web", podWith("u2")).refusal, undefined);
  memories.forget("shop/web");
  memories.forget("shop/web");
  assert.deepEqual(forgotten, ["shop/web u1", "shop/web u2"]);
});

function memoryOf(): PodMemory {
  return createPodMemories(() => {}).getOrCreate("shop/web", podWith("u1"));
}

pure("isCurrent() waits for a pod that is as new as the last patch, but not for ever", () => {
  const { metadata, ...rest } = podWith("u1");
  const seen = (resourceVersion: string, to: string, nowMs = 1000): boolean => {
    const pod = { ...rest, metadata: { ...metadata, resourceVersion } };
    return isCurrent({ lastPatch: { from: "7", to, atMs: 0 } }, { pod, nowMs });
  };
  const found = ["7", "9", "10", "11"].map((version) => seen(version, "10"));
  assert.deepEqual(found, [false, false, true, true]);
  // Versions that can't be compared: any but the one before will have to do.
  assert.deepEqual([seen("7", "x"), seen("8", "x")], [false, true]);
  assert.deepEqual([seen("7", "10", 59_999), seen("7", "10", 60_000)], [false, true]);
});

pure("noteResize() holds a pod for 5 min after more than 100 resizes", () => {
  const heldAfter = (count: number, everyMs: number): number => {
    const memory = memoryOf();
    for (let index = 0; index < count; index++) noteResize(memory, index * everyMs);
    const nowMs = (count - 1) * everyMs;
    return resizePauses(memory, { nowMs, minIntervalMs: 0 }).oscillatingMs;
  };
  assert.equal(heldAfter(100, 1000), 0);
  assert.equal(heldAfter(101, 1000), 300_000);
  assert.equal(heldAfter(101, 2999), 300_000);
  assert.equal(heldAfter(500, 3000), 0);
  // It begins to count anew.
  assert.equal(heldAfter(102, 1000), 299_000);
  assert.equal(heldAfter(201, 1000), 200_000);
  assert.equal(heldAfter(202, 1000), 300_000);
});

pure("resizePauses() leaves the least time after the last resize", () => {
  const memory = memoryOf();
  const restMs = (nowMs: number): number =>
    resizePauses(memory, { nowMs, minIntervalMs: 1000 }).restMs;
  assert.equal(restMs(0), 0);
  noteResize(memory, 500);
  assert.deepEqual([500, 900, 1500, 9000].map(restMs), [1000, 600, 0, 0]);
});

pure("waitLeftMs() is the rest of the wait; a restore waits for no attempt", () => {
  const left = (restoring: boolean, nowMs = 400): readonly number[] =>
    [false, true].map((one) =>
      waitLeftMs({ wait: { untilMs: 1000, restoring } }, { nowMs, restoring: one })
    );
  assert.deepEqual([left(false), left(true), left(true, 1500)], [[600, 0], [600, 600], [0, 0]]);
  assert.equal(waitLeftMs({}, { nowMs: 0, restoring: false }), 0);
});

const at = (second: number): string => `2026-01-01T00:00:0${second}.000Z`;

function applied(...limits: number[]): Pod {
  return samplePod("web", {
    containers: limits.map((cpu, index) =>
      sampleContainer({ name: `c${index}`, limits: { cpu: 999 }, applied: { limits: { cpu } } })
    ),
  });
}

const POD = applied(300);

function allocation(status: PodAllocationStatus = {}): PodAllocation {
  const bare = sampleAllocation(samplePod("web"));
  const side = { containerID: "containerd://a", floor: 100, ceiling: 800, weight: 100 };
  const containers = ["c0", "c1"].map((name) => ({ name, ...side }));
  return {
    ...bare,
    metadata: { ...bare.metadata, generation: 5 },
    status: { bounds: { revision: 1, reason: "", containers }, ...status },
  };
}

/** The status after this reason, `before` being the present one. */
function next(
  reason: EnforcementReason | undefined,
  message?: string,
  { before, pod = POD, second = 0, ...more }: Partial<StatusInput> & {
    readonly before?: PodAllocationStatus | undefined;
    readonly pod?: Pod;
    readonly second?: number;
  } = {},
): PodAllocationStatus | undefined {
  const said = { ...(reason && { reason }), ...(message === undefined ? {} : { message }) };
  const decision = { changes: [], ...said };
  return nextStatus(allocation(before), pod, { decision, wallTime: at(second), ...more });
}

pure("phaseOf() has a phase for each reason, Applied only for what the kubelet has done", () => {
  const effects = Object.keys(ENFORCEMENT_REASONS) as EnforcementReason[];
  const ofPhase = (phase: string) => effects.filter((reason) => phaseOf(reason) === phase);
  assert.deepEqual(ofPhase("Applied"), ["Applied", "Restored"]);
  assert.deepEqual(ofPhase("Failed"), [
    ...["IdentityMismatch", "KubeletTooOld", "WindowsPod", "StaticPod", "StaticCPUManager"],
    ...["StaticMemoryManager", "SwapEnabled", "PodLevelResources", "DeviceClaims"],
    ...["ResizeInfeasible", "ResizeError", "Refused", "NodeCapacity", "AdmissionDenied"],
    ...["RestoreBlocked", "OriginalUnknown"],
  ]);
});

pure("nextStatus() reports the kubelet's limits, not those of the spec, and keeps the rest", () => {
  const limits = (...of: readonly string[]) =>
    of.map((cpuLimit, index) => ({ name: `c${index}`, cpuLimit }));
  const before = { originalLimits: [{ name: "c0", cpu: "200m" }] };
  const { bounds } = allocation().status ?? {};
  const status = next("Applied", "done", { before, pod: applied(300, 1700) });
  const { conditions: _conditions, ...rest } = status ?? {};
  assert.deepEqual(rest, {
    ...{ bounds, ...before, phase: "Applied", reason: "Applied", message: "done" },
    ...{ containers: limits("300m", "1700m"), appliedCPULimit: "2" },
    ...{ observedGeneration: 5, lastAppliedTime: at(0) },
  });
  // Limits that moved between containers are a change, too.
  const moved = next("Applied", "done", { before: status, pod: applied(1700, 300) });
  assert.deepEqual(moved?.containers, limits("1700m", "300m"));
  assert.equal(next("Waiting")?.lastAppliedTime, undefined);
});

pure("nextStatus() writes what is new: another reason, or the message of a failure", () => {
  const again = (first: EnforcementReason, message: string, reason = first, other = message) =>
    next(reason, other, { before: next(first, message) });
  assert.equal(again("Applied", "done"), undefined);
  assert.equal(next(undefined, undefined, { before: next("Applied") }), undefined);
  assert.equal(again("Refused", "quota", "Refused", "policy")?.message, "policy");
  assert.equal(again("RateLimited", "in 2 s", "RateLimited", "in 1 s"), undefined);
  const applied = next("Applied", undefined, { before: next("Refused", "quota") });
  assert.equal(applied?.message, undefined);
  const long = next("Refused", "x".repeat(9000));
  assert.deepEqual([long?.message?.length, long?.conditions?.[0]?.message.length], [2000, 2000]);
});

pure("nextStatus() has a condition for kubectl wait, with the time of its last transition", () => {
  const held = next("Waiting", "not yet", { second: 1 });
  const condition = { type: "Applied", status: "False", reason: "Waiting", message: "not yet" };
  const times = { lastTransitionTime: at(1), observedGeneration: 5 };
  assert.deepEqual(held?.conditions, [{ ...condition, ...times }]);
  const stale = next("BoundsStale", "", { before: held, second: 2 });
  const done = next("Applied", "", { before: stale, second: 3 });
  const found = [stale, done].map((one) => one?.conditions?.[0])
    .map((one) => [one?.status, one?.lastTransitionTime]);
  assert.deepEqual(found, [["False", at(1)], ["True", at(3)]]);
});

pure("nextStatus() calls a refusal Failed, a hold for the same reason Pending", () => {
  const refused = next("QuotaExceeded", "full", { refused: true, attemptedAt: at(9) });
  assert.deepEqual([refused?.phase, refused?.lastAttemptTime], ["Failed", at(9)]);
  const held = next("QuotaExceeded", "full", { before: refused });
  assert.deepEqual([held?.phase, held?.lastAttemptTime], ["Pending", at(9)]);
});

const SILENCE_MS = 300_000;

function lease(nodeName: string, renewTimeMs: number): Lease {
  return {
    metadata: { ...agentLeaseRef(nodeName), uid: nodeName, resourceVersion: `${renewTimeMs}` },
    holder: nodeName,
    durationSeconds: 60,
    acquireTimeMs: 0,
    renewTimeMs,
    transitions: 0,
  };
}

function view(nowMs: number, change: Partial<AgentsView> = {}): AgentsView {
  const usual = { synced: true, leases: [], managedNodes: [], isReady: () => true };
  return { nowMs, silentAfterMs: SILENCE_MS, ...usual, ...change };
}

/** Rows of a time, what is changed in the view, and the nodes that are silent then. */
function looks(
  name: string,
  ...rows: readonly (readonly [nowMs: number, Partial<AgentsView>, ...silent: string[]])[]
): void {
  pure(name, () => {
    const agents = createSilentAgents();
    for (const [nowMs, change, ...silent] of rows) {
      assert.deepEqual([...agents.check(view(nowMs, change)).silent], silent, `${nowMs}`);
    }
  });
}

const leases = (...of: readonly (readonly [node: string, renewTimeMs: number])[]) => ({
  leases: of.map(([node, renewTimeMs]) => lease(node, renewTimeMs)),
});
const stuck = leases(["a", 7]);
const unsynced = { synced: false };
const down = { isReady: () => false };
const managed = { managedNodes: ["a"] };

looks(
  "check() calls an agent silent 5 min after the last renewal",
  ...[[1000, stuck], [1000 + SILENCE_MS - 1, stuck], [1000 + SILENCE_MS, stuck, "a"]] as const,
  [2000 + SILENCE_MS, leases(["a", 8])],
);

looks(
  "check() goes by its own clock, not by the lease's",
  [0, leases(["a", 9e12])],
  [SILENCE_MS, leases(["a", -9e12])],
  [2 * SILENCE_MS, leases(["a", 5])],
);

looks(
  "check() begins anew after a time without leases in sync",
  ...[[0, stuck], [SILENCE_MS, { ...stuck, ...unsynced }], [SILENCE_MS + 1, stuck]] as const,
  ...[[2 * SILENCE_MS, stuck], [2 * SILENCE_MS + 1, stuck, "a"]] as const,
);

looks(
  "check() expects an agent where it saw managed pods",
  ...[[0, {}], [100, managed], [SILENCE_MS, managed], [SILENCE_MS + 100, managed, "a"]] as const,
);

const two = leases(["a", 7], ["b", 2]);
looks(
  "check() keeps an agent silent until it renews its lease",
  ...[[0, leases(["a", 7], ["b", 1])], [SILENCE_MS, two, "a"]] as const,
  ...[[SILENCE_MS + 1, { ...two, ...unsynced }, "a"], [SILENCE_MS + 2, two, "a"]] as const,
  // Another agent dies: two of two are too many, for the second one.
  [2 * SILENCE_MS + 2, two, "a"],
  // The node is not Ready for a while, and its lease is gone.
  [2 * SILENCE_MS + 3, { ...two, ...down }, "a"],
  [2 * SILENCE_MS + 4, { ...leases(["b", 2]), ...managed }, "a"],
  ...[[2 * SILENCE_MS + 5, two, "a"], [2 * SILENCE_MS + 6, leases(["a", 8], ["b", 3])]] as const,
);

pure("check() expects nothing of a node that is not Ready, nor of another's lease", () => {
  const agents = createSilentAgents();
  const own = lease("a", 1);
  const leader = { ...own, metadata: { ...own.metadata, name: "mbcas-controller" } };
  const change = { leases: [own, leader], ...down };
  agents.check(view(0, change));
  const nothing = { silent: new Set(), overdue: 0, agents: 0 };
  assert.deepEqual(agents.check(view(SILENCE_MS, change)), nothing);
  assert.deepEqual(agents.check(view(SILENCE_MS, { ...change, ...unsynced })), nothing);
});

pure("check() finds an agent silent beside one with a node that is not Ready", () => {
  const agents = createSilentAgents();
  const look = (nowMs: number, renewals: readonly number[], down?: string) => {
    const leases = renewals.map((renewal, index) => lease(`n${index}`, renewal));
    return agents.check(view(nowMs, { leases, isReady: (name) => name !== down }));
  };
  look(0, [1, 1, 1]);
  const first = { silent: new Set(["n0"]), overdue: 1, agents: 3 };
  assert.deepEqual(look(SILENCE_MS, [1, 2, 2]), first);
  const second = { silent: new Set(["n0", "n1"]), overdue: 2, agents: 2 };
  assert.deepEqual(look(2 * SILENCE_MS, [1, 2, 3], "n0"), second);
  // Its node is Ready again: for the third, three of three are too many.
  const third = { silent: new Set(["n0", "n1"]), overdue: 3, agents: 3 };
  assert.deepEqual(look(3 * SILENCE_MS, [1, 2, 3]), third);
});

pure("check() finds no agent silent while more than one and more than 10 % are overdue", () => {
  const silentOf = (count: number, overdue: number): number => {
    const agents = createSilentAgents();
    const names = Array.from({ length: count }, (_, index) => `n${index}`);
    const renewed = (renewTimeMs: number) => ({
      leases: names.map((name, index) => lease(name, index < overdue ? 0 : renewTimeMs)),
    });
    agents.check(view(0, renewed(0)));
    const verdict = agents.check(view(SILENCE_MS, renewed(1)));
    assert.deepEqual([verdict.overdue, verdict.agents], [overdue, count]);
    return verdict.silent.size;
  };
  assert.deepEqual([silentOf(1, 1), silentOf(5, 1), silentOf(5, 2)], [1, 1, 0]);
  assert.deepEqual([silentOf(30, 3), silentOf(30, 4), silentOf(1000, 100)], [3, 0, 100]);
});

pure("createRolloutMemory() knows since when a rollout has made no step", () => {
  const stillSince = createRolloutMemory();
  const steps = [
    ...[[100, 0, 3, 100], [200, 0, 3, 100], [300, 1, 3, 300], [400, 1, 3, 300]],
    ...[[500, 1, 4, 500], [600, 1, 4, 500], [700, 4, 4], [800, 1, 4, 800]],
  ];
  for (const [nowMs = 0, updated = 0, total = 0, since] of steps) {
    const workload = sampleWorkload({ rollout: { updated, total } });
    assert.equal(stillSince(workload, nowMs), since);
  }
  assert.equal(stillSince(undefined, 900), undefined);
});

pure("createRolloutMemory() forgets a workload that is not asked about any more", () => {
  const stillSince = createRolloutMemory();
  const hour = 3_600_000;
  const asked = [["a", 0, 0], ["b", hour, hour], ["a", hour, 0]] as const;
  const later = [["c", hour + 3_700_000, hour + 3_700_000], ["b", 7_300_000, 7_300_000]] as const;
  for (const [uid, nowMs, since] of [...asked, ...later]) {
    const { metadata, ...rest } = sampleWorkload({ rollout: { updated: 0 } });
    assert.equal(stillSince({ ...rest, metadata: { ...metadata, uid } }, nowMs), since);
  }
});
