/**
 * An agent over its ports: the informer of allocations, the sampler, the loop, and what both report.
 *
 * @module
 */
import type { Registry } from "prom-client";
import type { PodAllocation } from "../shared/api/pod_allocation.ts";
import type { DesiredWriter, NodeLink } from "../shared/api/ports.ts";
import { ignoresLimits } from "../shared/cgroup/node_files.ts";
import type { CgroupTree } from "../shared/cgroup/tree.ts";
import type { Clock } from "../shared/clock.ts";
import { createInformer, type ListWatch } from "../shared/control/informer.ts";
import { createSupervisor } from "../shared/control/supervisor.ts";
import type { Log } from "../shared/log.ts";
import type { Random } from "../shared/random.ts";
import { type NodeLoopOptions, runNodeLoop } from "./loop.ts";
import { createAgentMetrics } from "./reporting/metrics.ts";
import { createLatestRound, type LatestRound } from "./reporting/node_view.ts";
import { createNodeSampler } from "./sampling/node_sampler.ts";
import { type AgentSettings, type LoopSettings, loopSettings, paceOptions } from "./settings.ts";

/** Ports of an agent. */
export interface AgentParts {
  /** The allocations of its node. */
  readonly source: ListWatch<PodAllocation>;
  readonly writer: DesiredWriter;
  readonly link: NodeLink;
  /** The host's cgroups. */
  readonly tree: CgroupTree;
  /** The host's `/sys/kernel`. */
  readonly kernel: Pick<CgroupTree, "read">;
  /** CPUs of the node. */
  readonly cores: number;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** An agent that does not run yet. */
export interface Agent {
  readonly latest: LatestRound;
  /**
   * Runs until the signal is aborted. Throws an `Error` with the cause `NO_LAYOUT` when there are no
   * pods' cgroups, and what a loop fails with.
   */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Interval at which allocations are listed again, in case a watch missed a change; the spread keeps agents
 * that were started together from listing together.
 */
const RELIST_MS = { min: 600_000, spread: 60_000 } as const;
/** Pods outside of the market are sampled this often, ms: only their usage over minutes counts. */
const UNMANAGED_MS = 1000;

/** Creates an agent. Throws when the node's cgroups can't be read. */
export function createAgent(
  settings: AgentSettings,
  { source, writer, link, tree, kernel, cores, registry, clock, random, log }: AgentParts,
): Agent {
  const { idleCPU, stopGrace: graceMs } = settings;
  const unmanagedMs = Math.max(UNMANAGED_MS, settings.sampleInterval);
  const pressure = idleCPU === "free";
  const sampler = createNodeSampler({ tree, cores, log, pressure, unmanagedMs });
  const allocations = createInformer({
    ...{ source, clock, random, log, name: "PodAllocation" },
    relistEveryMs: RELIST_MS.min + random.next() * RELIST_MS.spread,
  });
  const latest = createLatestRound({
    ...{ clock, pace: paceOptions(settings), idleCPU, stuckAfterMs: settings.stuckAfter },
    synced: () => allocations.synced,
    pressure: sampler.pressure,
  });
  const metrics = createAgentMetrics({ registry, view: latest.view });
  const options: LoopSettings & NodeLoopOptions = {
    ...loopSettings(settings),
    alive: latest.alive,
    sampled: metrics.sampled,
    observe(round, input) {
      latest.observe(round, input);
      metrics.cleared(round, input.clearMs);
    },
  };
  const parts = {
    ...{ allocations, clock, random, log, link, sample: sampler.sample },
    limitsIgnored: () => ignoresLimits(kernel),
    writer: metrics.countingWrites(writer),
  };
  return {
    latest,
    async run(signal) {
      const supervisor = createSupervisor({ clock, log, graceMs });
      const stop = (): void => supervisor.stop();
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) stop();
      supervisor.supervise("allocations", allocations.run(supervisor.signal));
      supervisor.supervise("market", runNodeLoop(parts, supervisor.signal, options));
      try {
        await supervisor.done();
      } finally {
        signal.removeEventListener("abort", stop);
        sampler.close();
      }
    },
  };
}
