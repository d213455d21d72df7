import assert from "node:assert/strict";
import {
  sampleContainer,
  sampleGuaranteed,
  samplePod,
} from "../../../tests/contract/sample_objects.ts";
import { atOwnRequests, originalsOf, ownValues } from "./own_limits.ts";

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
  name: "atOwnRequests() undoes what the market has made of a Guaranteed pod's requests",
  permissions,
  fn() {
    const own = new Map([["app", 150]]);
    const raised = sampleGuaranteed({ limitCPU: 700, requestCPU: 700 });
    const pod = samplePod("web", { containers: [raised, { ...raised, name: "jvm" }] });
    assert.deepEqual(
      atOwnRequests(pod, own).containers.map(({ requestCPU, limitCPU }) => [requestCPU, limitCPU]),
      [[150, 700], [700, 700]],
    );
    const burstable = samplePod("web");
    assert.equal(atOwnRequests(burstable, own), burstable);
  },
});
