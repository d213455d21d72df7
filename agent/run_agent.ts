/**
 * The agent at work: from its settings to running loops.
 *
 * @module
 */
import { Registry } from "prom-client";
import { healthRoutes } from "../adapters/health_routes.ts";
import { serveHTTP } from "../adapters/http_server.ts";
import { allocationListWatch } from "../adapters/kube/allocations.ts";
import type { KubeConnection } from "../adapters/kube/connection.ts";
import { createDesiredWriter } from "../adapters/kube/desired_writer.ts";
import { createNodeLink } from "../adapters/kube/node_link.ts";
import { agentLeaseMs } from "../shared/config/heartbeat_row.ts";
import { registerProcessMetrics } from "../adapters/process_metrics.ts";
import { ignoresLimits } from "../shared/cgroup/sched_ext.ts";
import type { CgroupTree } from "../shared/cgroup/tree.ts";
import type { Clock } from "../shared/clock.ts";
import { createInformer } from "../shared/control/informer.ts";
import { createSupervisor } from "../shared/control/supervisor.ts";
import type { Log } from "../shared/log.ts";
import { DEFAULT_PACE, type PaceOptions } from "../shared/pacing/pace_options.ts";
import type { Random } from "../shared/random.ts";
import { createAgentMetrics } from "./agent_metrics.ts";
import { createLatestRound } from "./latest_round.ts";
import { coresOf } from "./look_once.ts";
import { runNodeLoop } from "./node_loop.ts";
import { createNodeSampler } from "./node_sampler.ts";
import type { AgentSettings } from "./settings.ts";
import { createThrottledTime } from "./throttled_time.ts";

/** What the agent works with. */
export interface AgentParts {
  readonly connection: KubeConnection;
  readonly tree: CgroupTree;
  /** What the host has in `/sys/kernel`. */
  readonly kernel: Pick<CgroupTree, "read">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Used where neither a setting nor the cgroups tell. */
  readonly fallbackCores: number;
}

/**
 * The watch is believed, but not for ever; what agents spread themselves over, so that a cluster's
 * agents that were started together do not list together.
 */
const RELIST_MS = { least: 600_000, spread: 60_000 } as const;

/**
 * Runs until the signal is aborted. Throws an `Error` whose cause is `NO_LAYOUT` when there are no
 * pods' cgroups, one that names the address when it can't listen, and what a loop fails with.
 */
export async function runAgent(
  { connection, tree, kernel, clock, random, log, fallbackCores }: AgentParts,
  settings: AgentSettings & { readonly nodeName: string },
  { signal }: { readonly signal: AbortSignal },
): Promise<void> {
  const { nodeName, namespace } = settings;
  const cores = settings.cores ?? coresOf(tree, log) ?? fallbackCores;
  const sampler = createNodeSampler({
    tree,
    cores,
    log,
    strangerMs: Math.max(STRANGER_MS, settings.sampleInterval),
    pressure: settings.idleCPU === "free",
  });
  const allocations = createInformer({
    source: allocationListWatch(connection, { nodeName, log, random }),
    clock,
    random,
    log,
    name: "PodAllocation",
    relistEveryMs: RELIST_MS.least + random.next() * RELIST_MS.spread,
  });
  const pace = paceOf(settings);
  const latest = createLatestRound({
    clock,
    pace,
    idleCPU: settings.idleCPU,
    stuckAfterMs: settings.stuckAfter,
    synced: () => allocations.synced,
  });
  const throttled = createThrottledTime();
  const registry = new Registry();
  registerProcessMetrics(registry, { startedAtMs: clock.wall() });
  const metrics = createAgentMetrics({
    registry,
    view: latest.view,
    throttledSeconds: throttled.seconds,
  });
  const app = healthRoutes({ unhealthy: latest.unhealthy, unready: latest.unready, registry });
  app.get("/view", (context) => {
    const view = latest.view();
    return view === undefined
      ? context.text(`${latest.unready() ?? "no round yet"}\n`, 503)
      : context.json(view);
  });
  const server = serveHTTP(app, { address: settings.listen });
  log.info("Agent started", { node: nodeName, cores, listen: server.address });
  const supervisor = createSupervisor({ clock, log, graceMs: settings.stopGrace });
  const stop = (): void => supervisor.stop();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  supervisor.supervise("allocations", allocations.run(supervisor.signal));
  const parts = {
    allocations,
    sense: sampler.sample,
    limitsIgnored: () => ignoresLimits(kernel),
    writer: metrics.counted(createDesiredWriter(connection)),
    link: createNodeLink(connection, {
      nodeName,
      namespace,
      clock,
      durationSeconds: Math.ceil(agentLeaseMs(settings.heartbeat) / 1000),
    }),
    clock,
    random,
    log,
  };
  supervisor.supervise(
    "market",
    runNodeLoop(parts, supervisor.signal, {
      sampleMs: settings.sampleInterval,
      busySampleMs: settings.busySampleInterval,
      heartbeatMs: settings.heartbeat,
      reserve: settings.reserve,
      waitTargetMs: settings.waitTarget,
      idleCPU: settings.idleCPU,
      pace,
      alive: latest.alive,
      looked: metrics.looked,
      observe: (round, input) => {
        latest.observe(round, input);
        throttled.add(round);
        metrics.cleared(input.clearMs);
        metrics.decided(round);
      },
    }),
  );
  try {
    await supervisor.done();
  } finally {
    signal.removeEventListener("abort", stop);
    await server.shutdown();
    sampler.close();
  }
  log.info("Agent stopped", { node: nodeName });
}

/** Pods outside of the market are looked at this often: only their usage of minutes counts. */
const STRANGER_MS = 1000;

function paceOf({ decreaseHysteresis, decreaseWait }: AgentSettings): PaceOptions {
  return { ...DEFAULT_PACE, lowerHysteresis: decreaseHysteresis, lowerWaitMs: decreaseWait };
}
