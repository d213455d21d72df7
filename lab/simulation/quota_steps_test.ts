import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { podQuota, quotaSteps } from "./quota_steps.ts";

pure("quotaSteps() raises the pod first and lowers it last", () => {
  assert.deepEqual(quotaSteps([{ containerID: "a", from: 100, to: 300 }]), [
    { pod: true, millicores: 300 },
    { containerID: "a", millicores: 300 },
  ]);
  assert.deepEqual(quotaSteps([{ containerID: "a", from: 300, to: 100 }]), [
    { containerID: "a", millicores: 100 },
    { pod: true, millicores: 100 },
  ]);
});

pure("quotaSteps() leaves the pod alone while a container has no limit, and keeps 10 m", () => {
  assert.deepEqual(
    quotaSteps([
      { containerID: "a", from: 100, to: 1 },
      { containerID: "b", from: undefined, to: undefined },
    ]),
    [{ containerID: "a", millicores: 10 }],
  );
  assert.deepEqual(
    quotaSteps([
      { containerID: "a", from: 100, to: 100 },
      { containerID: "b", from: undefined, to: 50 },
    ]),
    [{ containerID: "b", millicores: 50 }, { pod: true, millicores: 150 }],
  );
});

pure("quotaSteps() never lets the containers add up to more than the pod", () => {
  const limit = fc.integer({ min: 1, max: 4000 });
  fc.assert(fc.property(
    fc.array(fc.record({ from: limit, to: limit }), { minLength: 1, maxLength: 5 }),
    (limits) => {
      const containers = limits.map((one, index) => ({ containerID: `c${index}`, ...one }));
      const quotas = new Map(containers.map((one) => [one.containerID, Math.max(10, one.from)]));
      let pod = podQuota(limits.map(({ from }) => from));
      for (const step of quotaSteps(containers)) {
        if ("pod" in step) pod = step.millicores;
        else quotas.set(step.containerID, step.millicores);
        const sum = [...quotas.values()].reduce((total, quota) => total + quota, 0);
        assert.ok(pod !== undefined && sum <= pod);
      }
      assert.deepEqual([...quotas.values()], limits.map(({ to }) => Math.max(10, to)));
      assert.equal(pod, podQuota(limits.map(({ to }) => to)));
    },
  ));
});
