import assert from "node:assert/strict";
import { newAllocation } from "../allocation/bounds/publish_bounds.ts";
import { sampleContainer, samplePod } from "../../tests/contract/support/sample_objects.ts";
import { demandParts, hasMoved, publishedParts } from "./metric_fact.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

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
