import assert from "node:assert/strict";
import fc from "fast-check";
import { samplePod, sampleQuota } from "../../../tests/contract/sample_objects.ts";
import { quotaCeiling, quotaMissing, resourcesOf } from "./quota_headroom.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("resourcesOf() names the requests of pods whose requests move with their limits", () => {
  assert.deepEqual(resourcesOf({ qosClass: "Burstable" }), ["limits"]);
  assert.deepEqual(resourcesOf({ qosClass: "Guaranteed" }), ["limits", "requests"]);
});

test("quotaMissing() is what the quota lacks, by its own count or the pods', whichever is less", () => {
  const { hardLimitsCPU: _none, ...ofMemory } = sampleQuota();
  const of = (used: number, kept: number, one = sampleQuota()) =>
    quotaMissing(one, "limits", { used, kept });
  assert.equal(of(700, 200), 0);
  assert.equal(of(700, 350), 50);
  assert.equal(of(600, 350), 0);
  assert.equal(of(900, 350), 50);
  assert.equal(of(700, 350, sampleQuota({ hardLimitsCPU: 800 })), 250);
  assert.equal(of(9000, 9000, ofMemory), 0);
});

test("quotaCeiling() divides the headroom among pods whose need reaches their ceiling", () => {
  const pod = samplePod("web");
  const of = (headroom: number, claims: boolean, claimants = 2) =>
    quotaCeiling({ pod, headroom, claims, claimants });
  assert.deepEqual([of(150, true), of(150, false)], [270, 350]);
  assert.deepEqual([of(-10, true), of(-10, false)], [200, 200]);
  // The pod's own claim may be newer than the count.
  assert.equal(of(150, true, 0), 350);
});

test("quotaCeiling() gives claimants parts whose sum is no more than the headroom", () => {
  const pod = samplePod("web");
  fc.assert(
    fc.property(
      fc.integer({ min: -50, max: 5000 }),
      fc.integer({ min: 1, max: 8 }),
      (headroom, claimants) => {
        const part = quotaCeiling({ pod, headroom, claims: true, claimants }) - 200;
        assert.ok(part >= 0 && part * claimants <= Math.max(0, headroom));
        const all = quotaCeiling({ pod, headroom, claims: false, claimants }) - 200;
        assert.ok(all >= part && all <= Math.max(0, headroom));
      },
    ),
  );
});
