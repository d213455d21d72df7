/**
 * The agent's eyes: everything between the cgroup files of a node and its `NodeSample`.
 *
 * The unit of a look is the pod, because its containers share the counters of the pod's level. All
 * pods are looked at, managed or not. Which pods there are is listed once a second; what is in them
 * when they are new, when something in them vanished, at once when a container is asked for that is
 * not known yet, and else every five minutes.
 *
 * @module
 */
import type { CgroupFiles } from "../shared/cgroup/cgroup_files.ts";
import { SHORTEST_INTERVAL_MS } from "../shared/cgroup/interval.ts";
import { type CgroupLayout, findLayout } from "../shared/cgroup/layout.ts";
import type { ContainerSample, NodeSample } from "../shared/cgroup/sample.ts";
import type { CgroupTree } from "../shared/cgroup/tree.ts";
import { type Log, silentLog } from "../shared/log.ts";
import type { LookContext } from "./look_context.ts";
import { ON_TIME } from "./on_time.ts";
import { lookAtChange, lookAtPod, lookAtSettings } from "./pod_look.ts";
import { createPodRegister } from "./pod_register.ts";
import { perRequest, RENEWED_MS, unmanagedShare } from "./unmanaged_cpu.ts";
import type { WatchedPod } from "./watched_pod.ts";

/** What the sampler works with; times in milliseconds. */
export interface NodeSamplerOptions {
  readonly tree: CgroupTree;
  /** CPUs of the node. */
  readonly cores: number;
  /** The pods' directories are listed this often. @default {1000} */
  readonly rescanMs?: number;
  /** Pods of which no container is named are looked at this often. @default {250} */
  readonly strangerMs?: number;
  /** Whether to read PSI where it is offered. @default {true} */
  readonly pressure?: boolean;
  /** Told of files that the kernel would not write so, once each. @default {silentLog} */
  readonly log?: Log;
}

/** What may be known beside who takes part. */
export interface SampleOptions {
  /**
   * Hex ids of containers whose quota is about to change: it is read at each look, those of others
   * that are far from their quota every 30 s. @default {none}
   */
  readonly unsettled?: Iterable<string>;
  /**
   * Pods whose containers all use at most 80 % of their quota are looked at this often, however
   * often `sample` is called, ms. @default {250}
   */
  readonly everyMs?: number;
}

/** Looks at one node. */
export interface NodeSampler {
  readonly layout: CgroupLayout;
  /**
   * The node at a monotonic time. `managed` holds the hex ids of the containers that the bounds
   * name. A container that was not looked at this time keeps its last sample, with that one's `at`;
   * one without two trustworthy looks is missing. Map and list are the same at each look: what a
   * caller wants to keep, it copies. Throws what the tree throws.
   */
  sample(at: number, managed: ReadonlySet<string>, options?: SampleOptions): NodeSample;
  /** The pods as the last look found them. */
  pods(): readonly WatchedPod[];
  /** Closes all files. */
  close(): void;
}

/** A sampler that has not looked yet. Throws an `Error` when the tree holds no pods' root. */
export function createNodeSampler(options: NodeSamplerOptions): NodeSampler {
  const { tree, cores, rescanMs = 1000, strangerMs = 250, log = silentLog } = options;
  const { pressure = true } = options;
  if (!(cores > 0)) {
    throw new RangeError(`Cannot sample a node: cores is ${cores}, expected a number above 0`);
  }
  const layout = findLayout(tree);
  log.info("Cgroup layout found", { layout: layout.description });
  const reported = new Set<string>();

  const malformed = (error: SyntaxError, files: CgroupFiles): void => {
    const file = malformedFile(error, files);
    if (reported.has(file)) return;
    reported.add(file);
    log.warn("Cannot use a cgroup's file", { file, error: error.message });
  };
  const fixed = { tree, cores, pressure, malformed };
  let named: ReadonlySet<string> = new Set();

  const register = createPodRegister({
    tree,
    layout,
    rescanMs,
    forget: (files) => {
      if (reported.size > 0) { for (const file of pathsOf(files)) reported.delete(file); }
      for (const directory of files.directories) tree.release(directory);
    },
    listed: (pod, at) => lookAtSettings(pod, { ...fixed, at, named }),
  });

  const samples = new Map<string, ContainerSample>();
  const fresh: ContainerSample[] = [];
  let known = register.version;
  let unmanaged:
    | { readonly named: ReadonlySet<string>; readonly at: number; readonly millicores: number }
    | undefined;
  let share = Infinity;

  const show = ({ containers }: WatchedPod): void => {
    for (const { id, sample } of containers.values()) {
      if (sample === undefined) samples.delete(id);
      else {
        samples.set(id, sample);
        fresh.push(sample);
      }
    }
  };

  /** Brings what hangs on the list of pods in line with it. */
  const list = (): void => {
    known = register.version;
    samples.clear();
    for (const pod of register.pods.values()) show(pod);
    unmanaged = undefined;
    share = perRequest(register.pods.values(), cores);
  };

  return {
    layout,
    sample(at, managed, { unsettled = [], everyMs = 250 } = {}) {
      named = managed;
      fresh.length = 0;
      register.refresh(at, managed);
      const context: LookContext = { ...fixed, at, named };
      const inside = { ...context, managed: true };
      const outside = { ...context, managed: false };
      if (register.version !== known) list();
      for (const id of unsettled) {
        const container = register.podOf(id)?.containers.get(id);
        if (container !== undefined) lookAtChange(container, context);
      }
      for (const pod of register.pods.values()) {
        const { managed: isIn } = pod.unmanaged?.named === named
          ? pod.unmanaged
          : unmanagedShare(pod, { at, named, perRequest: share });
        const { lookedAt } = pod;
        if (lookedAt !== undefined && at >= lookedAt) {
          // Another look so soon would say nothing.
          const wait = ON_TIME * (isIn ? everyMs : strangerMs);
          if (at - lookedAt < (pod.restless ? SHORTEST_INTERVAL_MS : wait)) continue;
        }
        const outcome = lookAtPod(pod, isIn ? inside : outside);
        if (outcome === "gone") register.relist(pod, at);
        show(pod);
      }
      if (register.version !== known) list();
      const isKnown = unmanaged?.named === named && at >= unmanaged.at &&
        at - unmanaged.at < RENEWED_MS * ON_TIME;
      if (!isKnown || unmanaged === undefined) {
        share = perRequest(register.pods.values(), cores);
        let millicores = 0;
        for (const pod of register.pods.values()) {
          millicores += unmanagedShare(pod, { at, named, perRequest: share }).millicores;
        }
        unmanaged = { named, at, millicores };
      }
      return { at, containers: samples, fresh, unmanaged: unmanaged.millicores };
    },
    pods: () => [...register.pods.values()],
    close: () => tree.release(""),
  };
}

function pathsOf(files: CgroupFiles): string[] {
  const { stat, usage, quota, period, pressure, weight, threads } = files;
  return [stat, usage, quota, period, pressure, weight, threads];
}

/** The path of the file that the error names: a parser knows the name, not the directory. */
function malformedFile({ message }: SyntaxError, files: CgroupFiles): string {
  const named = (path: string) => message.startsWith(`Cannot parse ${path.replace(/^.*\//, "")}:`);
  return pathsOf(files).find(named) ?? files.stat;
}
