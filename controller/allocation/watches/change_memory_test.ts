import assert from "node:assert/strict";
import type { ApiObject } from "../../../shared/api/object.ts";
import type { Node } from "../../../shared/api/node.ts";
import type { ResourceQuota } from "../../../shared/api/namespace.ts";
import { sampleNode, sampleQuota } from "../../../tests/contract/support/sample_objects.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import {
  sampleVPA,
  sampleWorkload,
  type WorkloadChoice,
} from "../../../tests/fixtures/sample_workloads.ts";
import {
  createChangeMemory,
  keptFacts,
  nodeFacts,
  quotaFacts,
  workloadFacts,
} from "./change_memory.ts";
import { createRolloutMemory } from "./rollout_memory.ts";

/** Sets the object of key `n` (undefined: takes it away), and asks for the versions that matter. */
function stage<T extends ApiObject>(
  factsOf: (object: T) => unknown,
  first?: T,
): (object: T | undefined) => readonly T[] {
  let present = first && named(first);
  const versionsOf = createChangeMemory<T>({
    all: () => (present === undefined ? [] : [present]).values(),
    get: () => present,
  }, factsOf);
  return (object) => {
    present = object && named(object);
    return versionsOf("n");
  };
}

function named<T extends ApiObject>({ metadata, ...rest }: T): T {
  const { namespace: _none, ...identity } = metadata;
  return { ...rest, metadata: { ...identity, name: "n" } } as T;
}

/** Whether each change matters to pods. */
function matters<T extends ApiObject>(
  factsOf: (object: T) => unknown,
  first: T,
  ...changes: readonly (T | undefined)[]
): readonly boolean[] {
  const change = stage(factsOf, first);
  return changes.map((one) => change(one).length > 0);
}

const NODE = sampleNode("n");

pure("createChangeMemory() has what is new, changed and gone, once", () => {
  const change = stage(nodeFacts);
  const drained = { ...NODE, draining: true as const };
  assert.deepEqual([change(NODE), change(NODE)], [[named(NODE)], []]);
  assert.deepEqual([change(drained), change(drained)], [[named(NODE), named(drained)], []]);
  assert.deepEqual([change(undefined), change(undefined)], [[named(drained)], []]);
  assert.deepEqual(stage(nodeFacts, NODE)(NODE), []);
});

pure("nodeFacts() are what concerns pods, and nothing else", () => {
  const rows: readonly (readonly [Partial<Node>, boolean])[] = [
    [{ allocatableCPU: 2000, pressures: ["MemoryPressure"] }, false],
    [{ kubeletVersion: "v1.35.0" }, false],
    [{ ready: false }, true],
    [{ draining: true }, true],
    [{ cordonedAtMs: 1 }, true],
    [{ kubeletVersion: "v1.30.1" }, true],
    [{ os: "windows" }, true],
  ];
  for (const [change, expected] of rows) {
    assert.deepEqual(matters(nodeFacts, NODE, { ...NODE, ...change }), [expected]);
  }
});

pure("quotaFacts() are what a quota allows, not what is used of it", () => {
  const requests = (used: number) => ({ requestsCPU: { hard: 500, used } });
  const rows: readonly (readonly [Partial<ResourceQuota>, Partial<ResourceQuota>, boolean])[] = [
    [{}, { usedLimitsCPU: 900 }, false],
    [requests(0), requests(100), false],
    [{}, { hardLimitsCPU: 900 }, true],
    [{}, requests(0), true],
    [{}, { scopes: [{ name: "Terminating", operator: "Exists", values: [] }] }, true],
  ];
  for (const [before, after, expected] of rows) {
    assert.deepEqual(matters(quotaFacts, sampleQuota(before), sampleQuota(after)), [expected]);
  }
});

pure("workloadFacts() are whether it rolls out, and what it says to the market", () => {
  const own = { "mbcas.io/hpa-coordination": "false" };
  const rows: readonly (readonly [WorkloadChoice, WorkloadChoice, boolean])[] = [
    [{ rollout: { updated: 3, total: 3 } }, { rollout: { updated: 0, total: 4 } }, true],
    [{ rollout: { updated: 0, total: 4 } }, { rollout: { updated: 3, total: 4 } }, false],
    [{ rollout: { updated: 3, total: 4 } }, { rollout: { updated: 3, total: 3 } }, true],
    [{ rollout: { updated: 3, total: 3 } }, { rollout: { updated: 5, total: 5 } }, false],
    [{}, { annotations: own }, true],
    [{ annotations: own }, {}, true],
    [{}, { labels: { "mbcas.io/managed": "false" } }, true],
    [{}, { labels: { app: "web" }, annotations: { "optipod.io/last": "2026" } }, false],
    [{}, {
      makes: { paused: false, replicas: 2, template: { containers: [], initContainers: [] } },
    }, false],
  ];
  for (const [before, after, expected] of rows) {
    const found = matters(workloadFacts, sampleWorkload(before), sampleWorkload(after));
    assert.deepEqual(found, [expected]);
  }
});

pure("keptFacts() are all but the version", () => {
  const vpa = sampleVPA("Auto");
  const again = { ...vpa, metadata: { ...vpa.metadata, resourceVersion: "9" } };
  const moved = sampleVPA("Auto", { target: { kind: "StatefulSet", name: "api" } });
  const others = [again, sampleVPA("Off"), moved];
  assert.deepEqual(matters(keptFacts, vpa, ...others), [false, true, true]);
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
