/**
 * `Infeasible`, which a kubelet with a static CPU manager says to a resize of a Guaranteed pod.
 *
 * The market leaves Guaranteed pods alone, and a change of limits only is never infeasible on 1.36,
 * so a person's resize stands for what a kubelet may say on other platforms. Tried with a cluster
 * beside the one of the other tests, since a node's CPU manager can't be changed under its pods.
 *
 * @module
 */
import assert from "node:assert/strict";
import { parsePod } from "../../adapters/kube/pods.ts";
import { decideManually } from "../../shared/actuation/decide.ts";
import type { Pod } from "../../shared/api/pod.ts";
import { instanceNamed } from "./harness/instance.ts";
import { canRunHarness, harness } from "./scene/second_cluster.ts";
import { until } from "./scene/until.ts";

const NAME = "static";
const instance = instanceNamed(NAME);

const POD = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "pinned" },
  spec: {
    containers: [{
      name: "app",
      image: "busybox:stable",
      imagePullPolicy: "IfNotPresent",
      command: ["sleep", "1d"],
      resources: { limits: { cpu: "100m", memory: "32Mi" } },
    }],
  },
};

const kubectl = (...args: string[]): Promise<string> =>
  harness("exec", "--name", NAME, "--", "kubectl", ...args);

async function pinned(): Promise<Pod> {
  return parsePod(JSON.parse(await kubectl("get", "pod", "pinned", "-o", "json")));
}

/** Request and limit together, as a Guaranteed pod needs it. */
function resize(cpu: string): Promise<string> {
  const resources = { requests: { cpu }, limits: { cpu } };
  const patch = { spec: { containers: [{ name: "app", resources }] } };
  return kubectl("patch", "pod", "pinned", "--subresource=resize", "-p", JSON.stringify(patch));
}

/** What the actuator makes of the limit being in the spec already. */
function verdict(pod: Pod, limitCPU: number): ReturnType<typeof decideManually> {
  return decideManually({ pod }, new Map([["app", limitCPU]]));
}

Deno.test({
  name: "a resize that the kubelet calls infeasible is held with that reason and its own words",
  ignore: !canRunHarness(NAME),
  async fn() {
    try {
      await harness("up", "--name", NAME, "--cpu-manager", "static");
      await Deno.writeTextFile(`${instance.directory}/pinned.json`, JSON.stringify(POD));
      await kubectl("apply", "-f", `${instance.directory}/pinned.json`);
      await kubectl("wait", "--for=condition=Ready", "pod/pinned", "--timeout=30s");
      assert.equal((await pinned()).qosClass, "Guaranteed");

      await resize("150m");
      const refused = await until("condition Infeasible", async () => {
        const pod = await pinned();
        return pod.resizeConditions[0]?.reason === "Infeasible" ? pod : undefined;
      });
      const { changes, reason, message } = verdict(refused, 150);
      assert.deepEqual([changes, reason], [[], "ResizeInfeasible"]);
      assert.match(message ?? "", /infeasible for Guaranteed Pods.*CPU Manager.*static/);
      assert.equal(refused.containers[0]?.appliedLimitCPU, 100, "the kubelet kept the old limit");

      await resize("100m");
      const back = await until("end of the condition", async () => {
        const pod = await pinned();
        return pod.resizeConditions.length === 0 ? pod : undefined;
      });
      assert.equal(verdict(back, 100).reason, "Applied");
    } finally {
      await harness("down", "--name", NAME);
    }
  },
});
