import assert from "node:assert/strict";
import { sampleContainer, samplePod } from "../../tests/contract/sample_objects.ts";
import { limitsAreOurs, originalsOf, ownValues } from "./own_limits.ts";

const permissions = "none" as const;

Deno.test({
  name: "originalsOf() takes limits and requests of the spec, with gaps where none is set",
  permissions,
  fn() {
    const { requestCPU: _request, limitCPU: _limit, ...bare } = sampleContainer({ name: "proxy" });
    const pod = samplePod("web", {
      containers: [sampleContainer({ limitCPU: 2000, appliedLimitCPU: 500 }), bare],
    });
    assert.deepEqual(originalsOf(pod), {
      originalLimits: [{ name: "app", cpu: "2" }, { name: "proxy" }],
      originalRequests: [{ name: "app", cpu: "100m" }, { name: "proxy" }],
    });
  },
});

Deno.test({
  name: "ownValues() reads back what originalsOf() wrote",
  permissions,
  fn() {
    const { originalLimits } = originalsOf(samplePod("web"));
    assert.deepEqual(ownValues(originalLimits), new Map([["app", 200]]));
    assert.deepEqual(ownValues([{ name: "proxy" }]), new Map());
    assert.deepEqual(ownValues(undefined), new Map());
  },
});

Deno.test({
  name: "limitsAreOurs() goes by the field manager alone",
  permissions,
  fn() {
    const pod = samplePod("web");
    assert.equal(limitsAreOurs(pod), false);
    assert.equal(limitsAreOurs({ ...pod, limitManager: "kubectl" }), false);
    assert.equal(limitsAreOurs({ ...pod, limitManager: "mbcas" }), true);
  },
});
