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
import { type Instance, instanceNamed } from "./harness/instance.ts";
import { enforcedLimits, podDirectories, setQuota } from "./scene/node_cgroups.ts";
import { canRunHarness, harness } from "./scene/harness_access.ts";
import { until } from "./scene/until.ts";
import { openCgroupTree } from "../../adapters/cgroup_files.ts";
import { systemClock } from "../../adapters/system_clock.ts";
import { runNodeLoop } from "../../agent/loop.ts";
import { createNodeSampler } from "../../agent/sampling/node_sampler.ts";
import type { Desired, PodAllocation } from "../../shared/api/pod_allocation.ts";
import { silentLog } from "../../shared/log.ts";

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

/** What the agent has said and seen so far. */
export interface LoneAgent extends AsyncDisposable {
  /** What it wants, in order. */
  readonly desired: readonly Desired[];
  /** Highest usage of the pod's first container, millicores. */
  readonly usage: () => number;
}

/** The machine's CPUs are more than any pod here uses. */
const CORES = navigator.hardwareConcurrency;

/** Starts the agent for a pod with a first container that may have up to `ceiling` millicores. */
export async function startLoneAgent(
  instance: Instance,
  pod: Pod,
  { ceiling }: { readonly ceiling: number },
): Promise<LoneAgent> {
  const root = await cgroupView(instance);
  const tree = openCgroupTree(root);
  const sampler = createNodeSampler({ tree, cores: CORES });
  let allocation = allocationOf(pod, ceiling);
  const desired: Desired[] = [];
  const ended = new AbortController();
  let usage = 0;
  const running = runNodeLoop(
    {
      allocations: { all: () => [allocation].values(), synced: true },
      sample: (at, named, options) => sampler.sample(at, named, options),
      writer: {
        writeDesired(_allocation, wanted) {
          desired.push(wanted);
          const metadata = { ...allocation.metadata, resourceVersion: `${desired.length + 1}` };
          allocation = { ...allocation, metadata, spec: { ...allocation.spec, ...wanted } };
          return Promise.resolve(metadata.resourceVersion);
        },
      },
      link: {
        node: () =>
          Promise.resolve({
            metadata: { name: instance.nodeName, uid: "", resourceVersion: "" },
            allocatableCPU: CORES * 1000,
            ready: true,
            pressures: [],
          }),
        renewLease: () => Promise.resolve(),
      },
      clock: systemClock,
      random: { next: Math.random },
      log: silentLog,
    },
    ended.signal,
    {
      observe: ({ containers }) => {
        usage = Math.max(usage, containers[0]?.state.sample?.usage ?? 0);
      },
    },
  );
  return {
    desired,
    usage: () => usage,
    [Symbol.asyncDispose]: async () => {
      ended.abort();
      await running;
      sampler.close();
      await Deno.remove(root, { recursive: true });
    },
  };
}

/** A folder that shows the instance's own part of the machine's cgroups, as a node has them. */
async function cgroupView({ cgroupRoot }: Instance): Promise<string> {
  const root = await Deno.makeTempDir({ prefix: "cgroup-view-" });
  const all = "/sys/fs/cgroup";
  const mounts: string[] = [];
  for await (const { name } of Deno.readDir(all)) {
    if (/^cpu(acct)?(,cpu(acct)?)?$/.test(name)) mounts.push(name);
  }
  for (const mount of mounts) {
    await Deno.symlink(`${all}/${mount}${cgroupRoot}`, `${root}/${mount}`);
  }
  if (mounts.length === 0) {
    await Deno.symlink(`${all}${cgroupRoot}/kubepods`, `${root}/kubepods`);
  }
  return root;
}

function allocationOf({ metadata, nodeName, containers }: Pod, ceiling: number): PodAllocation {
  const { name: podName, uid: podUID, namespace } = metadata;
  const [container] = containers;
  const { name = "", containerID = "" } = container ?? {};
  const request = container?.requests.cpu ?? 0;
  const bounds = { name, containerID, floor: request, ceiling, weight: request };
  return {
    apiVersion: "allocation.mbcas.io/v1alpha1",
    kind: "PodAllocation",
    metadata: { name: podUID, namespace, uid: podUID, resourceVersion: "1" },
    spec: { podName, podUID, nodeName, namespace },
    status: {
      bounds: { revision: 1, reason: "", containers: [bounds] },
      originalLimits: [{ name, cpu: `${container?.limits.cpu ?? 0}m` }],
    },
  };
}
