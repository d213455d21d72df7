/**
 * Two samples of a node as plain data and as a table: what `--once` prints.
 *
 * @module
 */
import { readNodeCores } from "../../shared/cgroup/node_files.ts";
import type { ContainerSample } from "../../shared/cgroup/sample.ts";
import type { CgroupTree } from "../../shared/cgroup/tree.ts";
import type { Clock } from "../../shared/clock.ts";
import { defined } from "../../shared/defined.ts";
import { type Log, silentLog } from "../../shared/log.ts";
import { cpuText } from "../../shared/view/figures.ts";
import { createNodeSampler } from "./node_sampler.ts";
import type { PodState } from "./pod_state.ts";

/** One container; CPU in millicores. Rates are absent without a sample. */
export type ContainerView =
  & { readonly id: string; readonly quota?: number }
  & Partial<
    & Pick<ContainerSample, "usage" | "periods" | "throttledPeriods" | "pressure">
    & { /** Throttled time, ms per second. */ readonly throttled: number }
  >;

/** One pod; `request` is by its cgroup's weight, millicores, and absent without such a cgroup. */
export interface PodView {
  readonly uid: string;
  readonly request?: number;
  readonly containers: readonly ContainerView[];
}

/** A node; `warnings` name unreadable files, and what is wrong with each. */
export interface NodeView {
  readonly layout: string;
  readonly cores: number;
  readonly intervalMs: number;
  readonly pods: readonly PodView[];
  readonly warnings: readonly string[];
}

/** Samples, waits `intervalMs`, samples again. Throws an `Error` when no layout is found. */
export async function sampleOnce(
  { tree, clock, fallbackCores }: {
    readonly tree: CgroupTree;
    readonly clock: Clock;
    /** CPUs of the node where neither the flag nor the cgroups have them. */
    readonly fallbackCores: number;
  },
  config: { readonly intervalMs: number; readonly cores?: number | null },
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

/** CPUs of the node from its cgroups; undefined, with a warning, where they can't be read. */
export function coresOf(tree: CgroupTree, log: Log): number | undefined {
  try {
    return readNodeCores(tree);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    log.warn("Cannot count the node's CPUs", { error: error.message });
    return undefined;
  }
}

function podView({ uid, cgroup, containers }: PodState): PodView {
  const views = Array.from(containers.values(), ({ id, quota, sample }): ContainerView =>
    defined({
      ...{ id, quota, usage: sample?.usage, throttled: sample?.throttledMsPerS },
      ...{ periods: sample?.periods, throttledPeriods: sample?.throttledPeriods },
      pressure: sample?.pressure,
    }));
  views.sort((a, b) => a.id < b.id ? -1 : 1);
  return defined({ uid, request: cgroup?.request?.linear, containers: views });
}

const HEADER = ["POD", "CONTAINER", "USAGE", "THROTTLED", "QUOTA", "REQUEST", "PERIODS", "WAITING"];
/** Characters of a container's id, as container runtimes show it. */
const SHORT_ID = 12;
const LEFT_COLUMNS = 2;

/** The view as a table, each line with its line end. CPU in millicores, `-` for unknown values. */
export function nodeTable({ layout, cores, intervalMs, pods }: NodeView): string {
  const rows = [
    HEADER,
    ...pods.flatMap((pod) => pod.containers.map((c, i) => row(c, i === 0 ? pod : undefined))),
  ];
  const widths = HEADER.map((_, column) =>
    Math.max(...rows.map((cells) => (cells[column] ?? "").length))
  );
  const lines = rows.map((cells) =>
    cells.map((cell, column) => {
      const width = widths[column] ?? 0;
      return column < LEFT_COLUMNS ? cell.padEnd(width) : cell.padStart(width);
    }).join("  ").trimEnd()
  );
  const containers = pods.reduce((sum, pod) => sum + pod.containers.length, 0);
  const summary = `${pods.length} pods, ${containers} containers, ${cores} CPUs, ` +
    `${Math.round(intervalMs)} ms between the samples`;
  return [layout, summary, "", ...lines, ""].join("\n");
}

/** Columns of the pod are filled in the row of its first container only. */
function row(container: ContainerView, pod: PodView | undefined): string[] {
  const { id, usage, throttled, quota, periods, throttledPeriods = 0, pressure } = container;
  return [
    pod?.uid ?? "",
    id.slice(0, SHORT_ID),
    cpuText(usage),
    cpuText(throttled),
    cpuText(quota),
    pod === undefined ? "" : cpuText(pod.request),
    periods === undefined ? "-" : `${throttledPeriods}/${periods}`,
    pressure === undefined ? "-" : `${Math.round(pressure * 100)}%`,
  ];
}
