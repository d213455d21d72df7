import assert from "node:assert/strict";
import { agentLeaseRef, type Lease } from "../../../shared/api/lease.ts";
import type { Node } from "../../../shared/api/node.ts";
import type { ApiObject } from "../../../shared/api/object.ts";
import type { Workload } from "../../../shared/api/workload.ts";
import {
  cpuLimits,
  sampleNode,
  sampleQuota,
} from "../../../tests/contract/support/sample_objects.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { sampleVPA, sampleWorkload } from "../../../tests/fixtures/sample_workloads.ts";
import {
  autoscalerInput,
  nodeInput,
  quotaInput,
  relevantVersions,
  workloadInput,
} from "./subscribe_queue.ts";
import { createRolloutMemory } from "../reconcile_snapshot.ts";
import { type AgentsView, createSilentAgents } from "./silent_agents.ts";

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

/** A look: the time, what is changed in the view, and the nodes that are silent then. */
type Check = readonly [nowMs: number, Partial<AgentsView>, ...silent: string[]];

function looks(name: string, ...rows: readonly Check[]): void {
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
  const { metadata } = lease("a", 1);
  const leader = { ...lease("a", 1), metadata: { ...metadata, name: "mbcas-controller" } };
  const change = { leases: [lease("a", 1), leader], ...down };
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
    const leases = (renewTimeMs: number) =>
      Array.from(
        { length: count },
        (_, index) => lease(`n${index}`, index < overdue ? 0 : renewTimeMs),
      );
    agents.check(view(0, { leases: leases(0) }));
    const verdict = agents.check(view(SILENCE_MS, { leases: leases(1) }));
    assert.equal(verdict.overdue, overdue);
    assert.equal(verdict.agents, count);
    return verdict.silent.size;
  };
  assert.deepEqual([silentOf(1, 1), silentOf(5, 1), silentOf(5, 2)], [1, 1, 0]);
  assert.deepEqual([silentOf(30, 3), silentOf(30, 4), silentOf(1000, 100)], [3, 0, 100]);
});

const NODE = sampleNode("n");

pure("relevantVersions() has what is new, changed and gone", () => {
  const drained = { ...NODE, draining: true as const };
  const rows: readonly (readonly [before: Node | undefined, now: Node | undefined, Node[]])[] = [
    [undefined, NODE, [NODE]],
    [NODE, { ...NODE }, []],
    [NODE, drained, [NODE, drained]],
    [drained, undefined, [drained]],
    [undefined, undefined, []],
  ];
  for (const [before, now, expected] of rows) {
    assert.deepEqual(relevantVersions([before, now], nodeInput), expected);
  }
});

/** Rows of a function's facts: an object, then another version of it, and whether that matters to pods. */
function matters<T extends ApiObject>(
  name: string,
  inputOf: (object: T) => unknown,
  rows: readonly (readonly [before: T, after: T, boolean])[],
): void {
  pure(name, () => {
    for (const [before, after, expected] of rows) {
      const versions = relevantVersions([before, after], inputOf);
      assert.equal(versions.length > 0, expected, JSON.stringify(after));
    }
  });
}

const node = (change: Partial<Node>, expected: boolean) =>
  [NODE, { ...NODE, ...change }, expected] as const;

matters("nodeFacts() are what concerns pods, and nothing else", nodeInput, [
  node({ allocatableCPU: 2000, pressures: ["MemoryPressure"] }, false),
  node({ kubeletVersion: "v1.35.0" }, false),
  node({ ready: false }, true),
  node({ draining: true }, true),
  node({ cordonedAtMs: 1 }, true),
  node({ kubeletVersion: "v1.30.1" }, true),
  node({ os: "windows" }, true),
]);

const scopes = [{ name: "Terminating", operator: "Exists", values: [] }];
const requests = (used: number) => ({
  bounds: { ...cpuLimits(1000, 700).bounds, "requests.cpu": { hard: 500, used } },
});

matters("quotaFacts() are what a quota allows, not what is used of it", quotaInput, [
  [sampleQuota(), sampleQuota(cpuLimits(1000, 900)), false],
  [sampleQuota(requests(0)), sampleQuota(requests(100)), false],
  [sampleQuota(), sampleQuota(cpuLimits(900, 700)), true],
  [sampleQuota(), sampleQuota(requests(0)), true],
  [sampleQuota(), sampleQuota({ scopes }), true],
]);

const rolling = (updated: number, total: number): Workload =>
  sampleWorkload({ rollout: { updated, total } });
const own = sampleWorkload({ annotations: { "mbcas.io/hpa-coordination": "false" } });
const makes = { paused: false, replicas: 2, template: { containers: [], initContainers: [] } };

matters("workloadFacts() are whether it rolls out, and what it says to the market", workloadInput, [
  [rolling(3, 3), rolling(0, 4), true],
  [rolling(0, 4), rolling(3, 4), false],
  [rolling(3, 4), rolling(3, 3), true],
  [rolling(3, 3), rolling(5, 5), false],
  [sampleWorkload(), own, true],
  [own, sampleWorkload(), true],
  [sampleWorkload(), sampleWorkload({ labels: { "mbcas.io/managed": "false" } }), true],
  [
    sampleWorkload(),
    sampleWorkload({ labels: { app: "web" }, annotations: { "optipod.io/last": "2026" } }),
    false,
  ],
  [sampleWorkload(), sampleWorkload({ makes }), false],
]);

const vpa = sampleVPA("Auto");

matters("keptFacts() are all but the version", autoscalerInput, [
  [vpa, { ...vpa, metadata: { ...vpa.metadata, resourceVersion: "9" } }, false],
  [vpa, sampleVPA("Off"), true],
  [vpa, sampleVPA("Auto", { target: { kind: "StatefulSet", name: "api" } }), true],
]);

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
