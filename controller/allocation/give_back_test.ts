import assert from "node:assert/strict";
import fc from "fast-check";
import type { Pod, PodContainer } from "../../shared/api/pod.ts";
import type { ContainerBounds, PodAllocation } from "../../shared/api/pod_allocation.ts";
import {
  sampleAllocation,
  sampleContainer,
  samplePod,
} from "../../tests/contract/sample_objects.ts";
import { giveBack, quotaUseOf } from "./give_back.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function podOf(uid: string, container: Partial<PodContainer>, change: Partial<Pod> = {}): Pod {
  const pod = samplePod(uid, { containers: [sampleContainer(container)] });
  return { ...pod, phase: "Running", metadata: { ...pod.metadata, uid }, ...change };
}

/** Its own limit is 200 m. */
function allocationOf(pod: Pod, held?: ContainerBounds["held"]): PodAllocation {
  const app = { name: "app", containerID: "c", floor: 100, ceiling: 800, weight: 1 };
  return {
    ...sampleAllocation(pod),
    status: {
      originalLimits: [{ name: "app", cpu: "200m" }],
      bounds: {
        revision: 1,
        reason: "",
        containers: [held === undefined ? app : { ...app, held }],
      },
    },
  };
}

test("quotaUseOf() sums limits and requests of pods that have not ended", () => {
  const pods = [
    podOf("a", { limitCPU: 300, requestCPU: 50 }),
    podOf("b", { limitCPU: 100, requestCPU: 10 }),
    podOf("job", { limitCPU: 4000 }, { phase: "Succeeded" }),
  ];
  const { limits, requests, raises } = quotaUseOf(pods, () => undefined);
  assert.deepEqual([limits, requests, raises.size], [400, 60, 0]);
});

test("quotaUseOf() finds what limits are above the user's own, where they may be taken back", () => {
  const raisesOf = (
    limitCPU: number,
    held?: ContainerBounds["held"],
    change: Partial<Pod> = {},
  ) => {
    const pod = podOf("a", { limitCPU }, change);
    return quotaUseOf([pod], (one) => allocationOf(one, held)).raises.get("a");
  };
  assert.equal(raisesOf(500), 300);
  for (const held of ["half", "lower"] as const) assert.equal(raisesOf(500, held), 300);
  assert.equal(raisesOf(500, "both"), undefined);
  const critical = { priorityClassName: "system-node-critical" };
  assert.equal(raisesOf(500, undefined, critical), undefined);
  assert.equal(raisesOf(500, undefined, { priorityClassName: "high" }), 300);
  assert.equal(raisesOf(150), undefined);
  const { metadata } = podOf("a", {});
  assert.equal(
    raisesOf(500, undefined, { metadata: { ...metadata, terminating: true } }),
    undefined,
  );
});

test("giveBack() divides what is missing by the raises, in steps", () => {
  const raises = new Map([["a", 100], ["b", 50]]);
  const of = (uid: string, missing: number) => giveBack(podOf(uid, {}), { missing, raises });
  assert.deepEqual([of("a", 40), of("b", 40)], [30, 20]);
  assert.deepEqual([of("a", 0), of("a", -40), of("other", 40)], [0, 0, 0]);
  assert.deepEqual([of("a", 1000), of("b", 1000)], [100, 50]);
});

test("giveBack() brings together what is missing, or all that was raised, and no more than a step each", () => {
  const raise = fc.integer({ min: 1, max: 4000 });
  fc.assert(
    fc.property(fc.array(raise, { minLength: 1, maxLength: 8 }), raise, (sizes, missing) => {
      const raises = new Map(sizes.map((size, index) => [`p${index}`, size]));
      const parts = sizes.map((_, index) => giveBack(podOf(`p${index}`, {}), { missing, raises }));
      const sum = parts.reduce((total, part) => total + part, 0);
      const all = sizes.reduce((total, size) => total + size, 0);
      assert.ok(sum >= Math.min(missing, all), `${sum} of ${missing}`);
      assert.ok(sum < missing + 10 * sizes.length + 1e-6);
      for (const [index, part] of parts.entries()) {
        assert.ok(part >= 0 && part <= (sizes[index] ?? 0));
      }
    }),
  );
});
