/**
 * A second cluster of the harness, beside the one of the other tests: it leaves nothing behind, and its
 * kubelet has a static CPU manager and no CPU quotas, which can't be changed under other tests' pods.
 */
import assert from "node:assert/strict";
import { parsePod } from "../../adapters/kube/kinds/pods.ts";
import type { Pod } from "../../shared/api/pod.ts";
import { decide, MANUAL_CHAIN } from "../../shared/resize/chain.ts";
import { readMounts } from "./harness/cgroups.ts";
import { readIfThere } from "./harness/daemon.ts";
import { instanceNamed } from "./harness/instance.ts";
import { folderEntries } from "./harness/shell.ts";
import { harness } from "./scene/harness_access.ts";
import { enforcedLimits, podDirectories } from "./scene/node_cgroups.ts";
import { until } from "./scene/until.ts";

const NAME = "selftest";
const instance = instanceNamed(NAME);

/** Mounts, processes and folders of the machine that name the instance. */
async function traces(): Promise<readonly string[]> {
  const found = (await readMounts()).map(({ path }) => path);
  for (const { name } of await folderEntries("/proc")) {
    if (/^\d+$/.test(name)) found.push(await readIfThere(`/proc/${name}/cmdline`) ?? "");
  }
  for (const folder of [instance.stateRoot, "/var/run/netns"]) {
    found.push(...(await folderEntries(folder)).map(({ name }) => `${folder}/${name}/`));
  }
  return found.filter((one) =>
    [instance.directory, instance.namespace].some((path) => one.includes(`${path}/`))
  );
}

const command = (action: string, ...args: string[]): Promise<string> =>
  harness(action, "--name", NAME, ...args);
const kubectl = (...args: string[]): Promise<string> => command("exec", "--", "kubectl", ...args);

async function podNow(name: string): Promise<Pod> {
  return parsePod(JSON.parse(await kubectl("get", "pod", name, "-o", "json")));
}

async function run(name: string, container: Record<string, unknown>): Promise<Pod> {
  const base = { name: "app", image: "busybox:stable", imagePullPolicy: "IfNotPresent" };
  const file = `${instance.directory}/${name}.json`;
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: { terminationGracePeriodSeconds: 0, containers: [{ ...base, ...container }] },
  };
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

/**
 * The market leaves Guaranteed pods alone, and a change of limits only is never infeasible on 1.36, so
 * a person's resize stands for what a kubelet may say on other platforms.
 */
async function infeasible(): Promise<void> {
  const { qosClass } = await run("pinned", {
    command: ["sleep", "1d"],
    resources: { limits: { cpu: "100m", memory: "32Mi" } },
  });
  assert.equal(qosClass, "Guaranteed");
  const verdict = (pod: Pod, limit: number) =>
    decide(MANUAL_CHAIN, { pod }, { limits: [["app", limit]] });
  await resize("150m");
  const refused = await until("condition Infeasible", async () => {
    const pod = await podNow("pinned");
    return pod.resizeConditions[0]?.reason === "Infeasible" ? pod : undefined;
  });
  const { changes, reason, message } = verdict(refused, 150);
  assert.deepEqual([changes, reason], [[], "StaticCPUManager"]);
  assert.match(message ?? "", /infeasible.*\bCPU Manager\b.*static/);
  assert.equal(refused.containers[0]?.applied.limits.cpu, 100, "the kubelet kept the old limit");
  await resize("100m");
  const back = await until("end of the condition", async () => {
    const pod = await podNow("pinned");
    return pod.resizeConditions.length === 0 ? pod : undefined;
  });
  assert.equal(verdict(back, 100).reason, "Applied");
}

Deno.test("a second cluster has a kubelet of its own, and leaves nothing behind", async (t) => {
  await command("down");
  assert.deepEqual(await traces(), []);
  try {
    await command("up");
    const pod = await run("busy", {
      command: ["sh", "-c", "while :; do :; done"],
      resources: { requests: { cpu: "50m" }, limits: { cpu: "100m", memory: "32Mi" } },
    });
    assert.deepEqual([...enforcedLimits(podDirectories(pod)).containers], [["app", 100]]);
    assert.ok((await traces()).length > 5, "it is seen while it is up");
    await command("up", "--cpu-manager", "static", "--cpu-quota", "off");
    await t.step("a resize that a static CPU manager calls infeasible is held", infeasible);
    await t.step("without CPU quotas the kubelet enforces no limit", async () => {
      const unlimited = podDirectories(await podNow("pinned"));
      assert.deepEqual([...enforcedLimits(unlimited).containers], [["app", undefined]]);
    });
  } finally {
    await command("down");
  }
  assert.deepEqual(await traces(), []);
});
