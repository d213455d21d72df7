/**
 * The agent's metrics. What stands in the last round is read when somebody asks, not each round.
 *
 * @module
 */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { ApiError } from "../shared/api/api_error.ts";
import type { NodeView, PodView } from "../shared/view/node_view.ts";
import { type PodMetric, registerPodMetrics } from "./pod_metrics.ts";
import type { RoundResult, SeatResult } from "./market_round.ts";
import type { DesiredWriter } from "./ports.ts";

/** What the figures come from. */
export interface AgentMetricsOptions {
  readonly registry: Registry;
  readonly view: () => NodeView | undefined;
  /** Seconds held back by pod UID; asked for each pod. */
  readonly throttledSeconds: () => ReadonlyMap<string, number>;
}

/** The part of a round that is counted. */
export interface DecidedRound extends Pick<RoundResult, "now" | "state"> {
  readonly seats: readonly Pick<SeatResult, "from" | "limit" | "changedFor">[];
}

/** Takes what has to be counted when it happens. */
export interface AgentMetrics {
  /** Note how long a look and a round took, and by how much the look was late, ms. */
  looked(tookMs: number, lateMs: number): void;
  cleared(tookMs: number): void;
  /** Counts what a round decided. */
  decided(round: DecidedRound): void;
  /** The writer, its writes counted by outcome. */
  counted(writer: DesiredWriter): DesiredWriter;
}

/** From 0.5 ms to a quarter of a second, the time between two looks. */
const BUCKETS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25];
const CORES = 1 / 1000;

/** What a pod's view has. */
const POD_GAUGES: readonly PodMetric[] = [
  cores("demand", "CPU that the pod would use if nothing held it back.", (pod) => pod.demand),
  cores("usage", "CPU that the pod used over the last interval.", (pod) => pod.usage),
  cores("limit", "CPU limit of the pod as the agent last decided it.", (pod) => pod.limit),
  cores("enforced_limit", "CPU quota of the pod's containers in force.", (pod) => pod.enforced),
  cores("floor", "Lower bound of the pod's limit.", (pod) => pod.floor),
  cores("ceiling", "Upper bound of the pod's limit.", (pod) => pod.ceiling),
  {
    type: "gauge",
    name: "mbcas_pod_price_per_core",
    help: "Price of CPU at the pod's last clearing.",
    value: (pod) => pricePerCore(pod.price),
  },
  {
    type: "gauge",
    name: "mbcas_pod_credit",
    help: "Mean credit of the pod's containers: a factor on their weights.",
    value: creditOf,
  },
  {
    type: "gauge",
    name: "mbcas_pod_unenforced_limits",
    help:
      "Containers of the pod whose limit no CPU quota of the kernel enforces; only of such pods.",
    // A series of zeros for each pod would tell nobody anything.
    value: ({ containers }) => containers.filter(({ quotaOff }) => quotaOff).length || undefined,
  },
];

/** By metric: its help and its value of the node. */
const NODE_GAUGES: Readonly<Record<string, [string, (node: NodeView) => number]>> = {
  allocatable_cores: ["CPU that the node's pods may use.", (node) => node.allocatable],
  capacity_cores: ["CPU that the market may share.", (node) => node.capacity],
  unmanaged_cores: ["CPU held by pods outside of the market.", (node) => node.unmanaged],
  committed_cores: ["CPU of the market that limits hold.", (node) => node.committed],
};

/** Registers all of the agent's metrics. Series of a pod go when the pod goes. */
export function createAgentMetrics(options: AgentMetricsOptions): AgentMetrics {
  const { registry, view, throttledSeconds } = options;
  const registers = [registry];
  registerPodMetrics(options, [...POD_GAUGES, {
    type: "counter",
    name: "mbcas_pod_throttled_seconds_total",
    help: "Time for which quotas kept the pod's threads from running, summed over threads.",
    value: ({ uid }) => throttledSeconds().get(uid) ?? 0,
  }]);
  new Gauge({
    name: "mbcas_node_wait_seconds",
    help: "How long one request in a hundred may wait for CPU quota, as limits are set now.",
    registers,
    collect() {
      const waitMs = view()?.waitMs;
      if (waitMs !== undefined) this.set(waitMs / 1000);
    },
  });
  for (const [name, [help, value]] of Object.entries(NODE_GAUGES)) {
    new Gauge({
      name: `mbcas_node_${name}`,
      help,
      registers,
      collect() {
        const node = view();
        if (node !== undefined) this.set(value(node) * CORES);
      },
    });
  }
  new Gauge({
    name: "mbcas_node_price_per_core",
    help: "Price of CPU at the last clearing; +Inf when nothing can be given.",
    registers,
    collect() {
      const node = view();
      if (node !== undefined) this.set(pricePerCore(node.price));
    },
  });
  new Gauge({
    name: "mbcas_node_scarce",
    help: "1 while the node's CPU is scarce, 0 while it is ample.",
    registers,
    collect() {
      const state = view()?.state;
      if (state !== undefined) this.set(state === "scarce" ? 1 : 0);
    },
  });
  new Gauge({
    name: "mbcas_node_mode",
    help: "1 for the mode of the last clearing, 0 for the others.",
    labelNames: ["mode"],
    registers,
    collect() {
      const mode = view()?.mode;
      if (mode === undefined) return;
      for (const one of ["uncongested", "congested", "overloaded"]) {
        this.set({ mode: one }, one === mode ? 1 : 0);
      }
    },
  });
  const duration = (name: string, help: string): Histogram =>
    new Histogram({ name, help, buckets: BUCKETS_S, registers });
  const sampling = duration("mbcas_sample_duration_seconds", "Time of one look at the cgroups.");
  const lateness = duration(
    "mbcas_sample_lateness_seconds",
    "By how much looks at the cgroups were late: the agent waited for CPU.",
  );
  const clearing = duration("mbcas_clear_duration_seconds", "Time of one clearing and its plan.");
  const writes = new Counter({
    name: "mbcas_writes_total",
    help: "Writes of desired limits by outcome: ok, or the status of the refusal.",
    labelNames: ["outcome"],
    registers,
  });
  return {
    looked: (tookMs, lateMs) => {
      sampling.observe(tookMs / 1000);
      lateness.observe(lateMs / 1000);
    },
    cleared: (tookMs) => clearing.observe(tookMs / 1000),
    decided: scarcityCounters(registers),
    counted: (writer) => ({
      async writeDesired(allocation, desired) {
        try {
          const version = await writer.writeDesired(allocation, desired);
          writes.inc({ outcome: "ok" });
          return version;
        } catch (error) {
          writes.inc({ outcome: error instanceof ApiError ? String(error.status) : "error" });
          throw error;
        }
      },
    }),
  };
}

/** Counts the time in which CPU was scarce, and the limits that changed for that. */
function scarcityCounters(registers: Registry[]): AgentMetrics["decided"] {
  const counter = (name: string, help: string): Counter => new Counter({ name, help, registers });
  const seconds = counter(
    "mbcas_node_scarce_seconds_total",
    "Time in which the node's CPU was scarce.",
  );
  const toCeiling = counter(
    "mbcas_limits_to_ceiling_total",
    "Limits that went to their ceilings because CPU was free.",
  );
  const lowered = counter("mbcas_limits_lowered_total", "Limits lowered while CPU was scarce.");
  let scarceAt: number | undefined;
  return ({ now, state: { state }, seats }) => {
    if (scarceAt !== undefined) seconds.inc(Math.max(0, now - scarceAt) / 1000);
    scarceAt = state === "scarce" ? now : undefined;
    for (const { from, limit, changedFor } of seats) {
      if (changedFor === "CPUFree") toCeiling.inc();
      else if (state === "scarce" && limit < from) lowered.inc();
    }
  };
}

/** A gauge in cores of a value in millicores. */
function cores(
  quantity: string,
  help: string,
  millicores: (pod: PodView) => number | undefined,
): PodMetric {
  return {
    type: "gauge",
    name: `mbcas_pod_${quantity}_cores`,
    help,
    value: (pod) => {
      const value = millicores(pod);
      return value === undefined ? undefined : value * CORES;
    },
  };
}

function pricePerCore(price: number | null): number {
  return price === null ? Infinity : price / CORES;
}

/** Every container of a pod earns by itself. */
function creditOf({ containers }: PodView): number {
  return containers.reduce((sum, { credit }) => sum + credit, 0) / Math.max(1, containers.length);
}
