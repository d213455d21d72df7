/**
 * A kubelet with a static CPU manager, and without CPU quotas.
 *
 * The market leaves Guaranteed pods alone, and a change of limits only is never infeasible on 1.36,
 * so a person's resize stands for what a kubelet may say on other platforms. Tried with a cluster
 * beside the one of the other tests, since a kubelet's settings can't be changed under its pods.
 *
 * @module
 */
import assert from "node:assert/strict";
import { parsePod } from "../../adapters/kube/kinds/pods.ts";
import type { Pod } from "../../shared/api/pod.ts";
import { decideManually } from "../../shared/resize/chain.ts";
import { instanceNamed } from "./harness/instance.ts";
import { startLoneAgent } from "./scene/product/lone_agent.ts";
import { enforcedLimits, podDirectories, setQuota } from "./scene/pods/node_cgroups.ts";
import { canRunHarness, harness } from "./scene/second_cluster.ts";
import { until } from "./scene/until.ts";

const NAME = "static";
const instance = instanceNamed(NAME);

/** Guaranteed. */
const PINNED = podNamed("pinned", {
  command: ["sleep", "1d"],
  resources: { limits: { cpu: "100m", memory: "32Mi" } },
});

/** Burstable, and busy with all that it is given. */
const BUSY = podNamed("busy", {
  command: ["sh", "-c", "while :; do :; done"],
  resources: { requests: { cpu: "100m" }, limits: { cpu: "200m" } },
});

function podNamed(name: string, container: Record<string, unknown>): unknown {
  const base = { name: "app", image: "busybox:stable", imagePullPolicy: "IfNotPresent" };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: { terminationGracePeriodSeconds: 0, containers: [{ ...base, ...container }] },
  };
}

const kubectl = (...args: string[]): Promise<string> =>
  harness("exec", "--name", NAME, "--", "kubectl", ...args);

async function podNow(name: string): Promise<Pod> {
  return parsePod(JSON.parse(await kubectl("get", "pod", name, "-o", "json")));
}

const pinned = (): Promise<Pod> => podNow("pinned");

async function run(name: string, pod: unknown): Promise<Pod> {
  const file = `${instance.directory}/${name}.json`;
  await Deno.writeTextFile(file, JSON.stringify(pod));
  await kubectl("apply", "-f", file);
  await kubectl("wait", "--for=condition=Ready", `pod/${name}`, "--timeout=30s");
  return await podNow(name);
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
  name: "a kubelet with a static CPU manager and without CPU quotas",
  ignore: !canRunHarness(NAME),
  async fn(t) {
    try {
      await harness("up", "--name", NAME, "--cpu-manager", "static", "--cpu-quota", "off");
      await t.step("a resize that it calls infeasible is held for its own reason", infeasible);
      await t.step("a limit that it does not enforce is not moved, and QuotaOff said", quotaOff);
    } finally {
      await harness("down", "--name", NAME);
    }
  },
});

async function infeasible(): Promise<void> {
  assert.equal((await run("pinned", PINNED)).qosClass, "Guaranteed");
  await resize("150m");
  const refused = await until("condition Infeasible", async () => {
    const pod = await pinned();
    return pod.resizeConditions[0]?.reason === "Infeasible" ? pod : undefined;
  });
  const { changes, reason, message } = verdict(refused, 150);
  assert.deepEqual([changes, reason], [[], "StaticCPUManager"]);
  assert.match(message ?? "", /infeasible.*\bCPU Manager\b.*static/);
  assert.equal(refused.containers[0]?.applied.limits.cpu, 100, "the kubelet kept the old limit");

  await resize("100m");
  const back = await until("end of the condition", async () => {
    const pod = await pinned();
    return pod.resizeConditions.length === 0 ? pod : undefined;
  });
  assert.equal(verdict(back, 100).reason, "Applied");
}

async function quotaOff(): Promise<void> {
  const pod = await run("busy", BUSY);
  const directories = podDirectories(pod);
  assert.deepEqual([...enforcedLimits(directories).containers], [["app", undefined]]);
  await using agent = await startLoneAgent(instance, pod, { ceiling: 800 });
  const wanted = (): readonly unknown[] =>
    agent.desired.map(({ desiredCPULimit, market }) => [desiredCPULimit, market?.reason]);
  await until("reason QuotaOff", () => agent.desired.length > 1 || undefined, {
    timeoutMs: 60_000,
  });
  assert.deepEqual(wanted(), [["200m", "FirstClearing"], ["200m", "QuotaOff"]]);
  assert.ok(agent.usage() > 220, `it used ${agent.usage()}m, and was not raised for that`);

  // As a kubelet with quotas would set it.
  setQuota(directories, { container: "app", millicores: 200 });
  const raised = await until("raise", () => {
    const { desiredCPULimit, market } = agent.desired.at(-1) ?? {};
    return desiredCPULimit === "200m" ? undefined : market;
  }, { timeoutMs: 60_000 });
  assert.notEqual(raised.reason, "QuotaOff");
}
