import assert from "node:assert/strict";
import {
  sampleContainer,
  sampleGuaranteed,
  samplePod,
} from "../../../tests/contract/sample_objects.ts";
import {
  atOwnRequests,
  limitsAreOurs,
  originalsFrom,
  originalsOf,
  ownValues,
} from "./own_limits.ts";

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
  name: "limitsAreOurs() goes by the field managers alone",
  permissions,
  fn() {
    const managed = (limitManagers: readonly string[]): boolean =>
      limitsAreOurs(samplePod("web", { containers: [sampleContainer({ limitManagers })] }));
    assert.equal(limitsAreOurs(samplePod("web")), false);
    assert.equal(managed([]), false);
    assert.equal(managed(["kubectl"]), false);
    assert.equal(managed(["mbcas"]), true);
    // Brought back: the user's own value, whoever remembers it.
    assert.equal(managed(["mbcas-restore"]), false);
    // Somebody has applied the same value: it is theirs now.
    assert.equal(managed(["argocd", "mbcas"]), false);
  },
});

Deno.test({
  name: "originalsFrom() asks the template for what this product has set, and for nothing else",
  permissions,
  fn() {
    const pod = samplePod("web", {
      containers: [
        sampleContainer({ limitCPU: 700, limitManagers: ["mbcas"] }),
        sampleContainer({ name: "proxy", limitCPU: 50, limitManagers: ["kubectl-patch"] }),
      ],
    });
    assert.deepEqual(
      originalsFrom(new Map([["app", 200], ["proxy", 80]]), pod)?.originalLimits,
      [{ name: "app", cpu: "200m" }, { name: "proxy", cpu: "50m" }],
    );
    assert.equal(originalsFrom(new Map([["proxy", 80]]), pod), undefined);
  },
});

Deno.test({
  name: "originalsFrom() takes a Guaranteed pod's requests from the template, too",
  permissions,
  fn() {
    const raised = { limitCPU: 700, requestCPU: 700, limitManagers: ["mbcas"] };
    const pod = samplePod("web", { containers: [sampleGuaranteed(raised)] });
    assert.equal(pod.qosClass, "Guaranteed");
    const originals = originalsFrom(new Map([["app", 200]]), pod);
    assert.deepEqual(originals?.originalLimits, [{ name: "app", cpu: "200m" }]);
    assert.deepEqual(originals?.originalRequests, [{ name: "app", cpu: "200m" }]);
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
