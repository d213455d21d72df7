/**
 * The agent's loop on the cgroups of one cluster of the harness, with a single allocation and without
 * an API: for clusters in which the product is not installed.
 *
 * @module
 */
import { openCgroupTree } from "../../../../adapters/cgroup_files.ts";
import { systemClock } from "../../../../adapters/system_clock.ts";
import { runNodeLoop } from "../../../../agent/loop.ts";
import { createNodeSampler } from "../../../../agent/sampling/node_sampler.ts";
import type { Pod } from "../../../../shared/api/pod.ts";
import type { Desired, PodAllocation } from "../../../../shared/api/pod_allocation.ts";
import { silentLog } from "../../../../shared/log.ts";
import type { Instance } from "../../harness/instance.ts";

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
