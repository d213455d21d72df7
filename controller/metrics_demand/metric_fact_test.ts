import assert from "node:assert/strict";
import {
  demandParts,
  demandReading,
  hasMoved,
  isFault,
  type MetricOutcome,
  publishedParts,
} from "./metric_fact.ts";
import { newAllocation } from "../allocation/bounds/publish_bounds.ts";
import { sampleContainer, samplePod } from "../../tests/contract/support/sample_objects.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const NOW = { nowMs: 1_000_000, lifeMs: 60_000 };

function outcomeOf(...values: readonly number[]): string {
  const samples = values.map((value) => ({ value, atMs: NOW.nowMs - 1000 }));
  return demandReading({ samples }, NOW).kind;
}

test("demandReading() takes one number from 0 on as cores", () => {
  const samples = [{ value: 0.5, atMs: NOW.nowMs - 1000 }];
  assert.deepEqual(demandReading({ samples }, NOW), { kind: "value", cores: 0.5, ageMs: 1000 });
  assert.equal(outcomeOf(0), "value");
  assert.equal(outcomeOf(100_000), "value");
});

test("demandReading() says why an answer gives no demand", () => {
  assert.equal(outcomeOf(), "empty");
  assert.equal(outcomeOf(1, 1), "ambiguous");
  for (const value of [NaN, Infinity, -Infinity, -0.001, 100_001]) {
    assert.equal(outcomeOf(value), "unusable", String(value));
  }
  const { kind, ...rest } = demandReading({ problem: "refused", message: "no" }, NOW);
  assert.deepEqual([kind, rest], ["refused", { message: "no" }]);
});

test("demandReading() takes no value that is older than values live, nor blames a clock ahead", () => {
  const at = (ageMs: number) =>
    demandReading({ samples: [{ value: 1, atMs: NOW.nowMs - ageMs }] }, NOW);
  assert.equal(at(60_000).kind, "old");
  assert.equal(at(59_999).kind, "value");
  assert.deepEqual(at(-5000), { kind: "value", cores: 1, ageMs: 0 });
});

test("isFault() is true where waiting does not help", () => {
  const faults: Readonly<Record<MetricOutcome, boolean>> = {
    value: false,
    empty: false,
    ambiguous: true,
    unusable: true,
    old: false,
    refused: true,
    unreachable: false,
    unreadable: false,
  };
  for (const kind of Object.keys(faults) as MetricOutcome[]) {
    assert.equal(isFault({ kind }), faults[kind], kind);
  }
});

test("demandParts() divides a pod's cores over its containers by request, in whole millicores", () => {
  const pod = samplePod("web", {
    containers: [
      sampleContainer({ name: "app", requests: { cpu: 300 } }),
      sampleContainer({ name: "proxy", requests: { cpu: 100 } }),
    ],
  });
  assert.deepEqual([...demandParts(pod, 1.0004)], [["app", 750], ["proxy", 250]]);
  assert.deepEqual([...demandParts(pod, 0)], [["app", 0], ["proxy", 0]]);
  assert.equal(demandParts({ ...pod, containers: [] }, 1).size, 0);
});

test("publishedParts() is what stands in the bounds", () => {
  const allocation = newAllocation({ pod: samplePod("web") });
  assert.equal(publishedParts(allocation).size, 0);
  const bounds = { containerID: "a", floor: 0, ceiling: 9, weight: 1 };
  const containers = [{ ...bounds, name: "app", demand: 5 }, { ...bounds, name: "proxy" }];
  const status = { bounds: { revision: 1, reason: "", containers } };
  assert.deepEqual([...publishedParts({ ...allocation, status })], [["app", 5]]);
});

test("hasMoved() is true from a tenth of the demand on, and from the step of quotas", () => {
  assert.equal(hasMoved(1000, 1099), false);
  assert.equal(hasMoved(1000, 1100), true);
  assert.equal(hasMoved(1000, 900), true);
  assert.equal(hasMoved(20, 29), false, "a tenth would be 2 m");
  assert.equal(hasMoved(20, 30), true);
  assert.equal(hasMoved(undefined, 10), true);
  assert.equal(hasMoved(10, undefined), true);
  assert.equal(hasMoved(undefined, 9), false);
  assert.equal(hasMoved(undefined, undefined), false);
});
