/**
 * Two looks at a node, and what lies between them, as plain data.
 *
 * @module
 */
import { readNodeCores } from "../shared/cgroup/node_cores.ts";
import type { CgroupTree } from "../shared/cgroup/tree.ts";
import type { Clock } from "../shared/clock.ts";
import { type Log, silentLog } from "../shared/log.ts";

import { createNodeSampler } from "./node_sampler.ts";
import type { WatchedPod } from "./watched_pod.ts";

/** One container; CPU in millicores. Rates are absent when two looks did not make a sample. */
export interface ContainerView {
  readonly id: string;
  readonly usage?: number;
  readonly heldBack?: number;
  readonly quota?: number;
  readonly periods?: number;
  readonly throttledPeriods?: number;
  /** Share of time. */
  readonly pressure?: number;
}

/** One pod. */
export interface PodView {
  readonly uid: string;
  /** From the pod's weight, millicores; absent when the pod has no cgroup of its own. */
  readonly request?: number;
  readonly containers: readonly ContainerView[];
}

/** A node. */
export interface NodeView {
  readonly layout: string;
  readonly cores: number;
  readonly intervalMs: number;
  readonly pods: readonly PodView[];
  /** Files whose text could not be used: path below the cgroup root, and what is wrong with it. */
  readonly warnings: readonly string[];
}

/** What a look works with. */
export interface LookParts {
  readonly tree: CgroupTree;
  readonly clock: Clock;
  /** Used where neither a flag nor the cgroups tell. */
  readonly fallbackCores: number;
}

/** How to look. */
export interface LookSettings {
  /** Time between the two looks. */
  readonly intervalMs: number;
  /** CPUs of the node; without it the cgroups tell. */
  readonly cores?: number | null;
}

/** Looks, waits `intervalMs`, looks again. Throws an `Error` when no layout is found. */
export async function lookOnce(
  { tree, clock, fallbackCores }: LookParts,
  config: LookSettings,
): Promise<NodeView> {
  const warnings: string[] = [];
  const log: Log = {
    ...silentLog,
    warn: (message, { file, error } = {}) =>
      void warnings.push(`${message}${file === undefined ? "" : ` ${file}`}: ${error}`),
  };
  const cores = config.cores ?? coresOf(tree, log) ?? fallbackCores;
  const sampler = createNodeSampler({ tree, cores, log });
  const start = clock.monotonic();
  sampler.sample(start, new Set());
  await clock.sleep(config.intervalMs);
  const end = clock.monotonic();
  sampler.sample(end, new Set());
  const pods = sampler.pods().map(podView).sort((a, b) => a.uid < b.uid ? -1 : 1);
  const { description: layout } = sampler.layout;
  return { layout, cores, intervalMs: end - start, pods, warnings };
}

/** CPUs of the node as its cgroups tell; undefined, with a warning, where they can't be read. */
export function coresOf(tree: CgroupTree, log: Log): number | undefined {
  try {
    return readNodeCores(tree);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    log.warn("Cannot count the node's CPUs", { error: error.message });
    return undefined;
  }
}

function podView({ uid, own, containers }: WatchedPod): PodView {
  const views = Array.from(containers.values(), ({ id, quota, sample }): ContainerView => {
    const view = quota === undefined ? { id } : { id, quota };
    if (sample === undefined) return view;
    const { usage, heldBack, periods, throttledPeriods, pressure } = sample;
    const rates = { usage, heldBack, periods, throttledPeriods };
    return { ...view, ...rates, ...(pressure === undefined ? {} : { pressure }) };
  });
  views.sort((a, b) => a.id < b.id ? -1 : 1);
  const request = own?.request?.linear;
  return request === undefined ? { uid, containers: views } : { uid, request, containers: views };
}
