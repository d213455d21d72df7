import assert from "node:assert/strict";
import { podTotal } from "../pod_total.ts";
import { readCreatedPod } from "./created_pod.ts";

const cpu = (amount: string) => ({ resources: { requests: { cpu: amount } } });

Deno.test({
  name: "readCreatedPod() counts sidecars with the containers that they run beside",
  permissions: "none",
  fn() {
    const { containers, subject } = readCreatedPod({
      spec: {
        containers: [{ name: "app", ...cpu("100m") }],
        initContainers: [
          { name: "proxy", restartPolicy: "Always", ...cpu("50m") },
          { name: "setup", ...cpu("120m") },
        ],
      },
    });
    assert.deepEqual(containers.map(({ name }) => name), ["app"]);
    assert.deepEqual(subject.containers.map(({ name, sidecar }) => [name, sidecar]), [
      ["app", false],
      ["proxy", true],
    ]);
    assert.deepEqual(subject.initContainers.map(({ name }) => name), ["setup"]);
    assert.equal(podTotal(subject, "requestCPU"), 170);
  },
});
