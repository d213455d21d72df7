/**
 * The agent's metrics. What stands in the last round is read when it is asked for, not each round.
 *
 * @module
 */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { ApiError } from "../../shared/api/api_error.ts";
import type { NodeView, PodView } from "../../shared/view/node_view.ts";
import type { RoundResult } from "../market/round.ts";
import type { DesiredWriter } from "../ports.ts";

/** Takes what has to be counted when it happens. */
export interface AgentMetrics {
  /** Counts a sample of the cgroups: how long it took, and by how much it was late, ms. */
  sampled(tookMs: number, lateMs: number): void;
  /** Counts a round, which has one clearing: its changes, and how long it took, ms. */
  cleared(round: ClearedRound, tookMs: number): void;
  /** The writer, its writes counted by outcome. */
  countingWrites(writer: DesiredWriter): DesiredWriter;
}

/** The part of a round that is counted. */
export type ClearedRound = Pick<RoundResult, "now" | "nodeState" | "containers">;

/** From 0.5 ms to a quarter of a second, the time between two samples. */
const BUCKETS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25];
const MS_PER_S = 1000;
const MODES: readonly NodeView["mode"][] = ["uncongested", "congested", "overloaded"];

/** A figure of a node or a pod; undefined where there is none. */
type Figure<T> = readonly [name: string, help: string, value: (of: T) => number | undefined];

const NODE_FIGURES: readonly Figure<NodeView>[] = [
  [
    "wait_seconds",
    "How long one request in a hundred may wait for CPU quota, as limits are set now.",
    ({ waitMs }) => waitMs === undefined ? undefined : waitMs / MS_PER_S,
  ],
  ["allocatable_cores", "CPU that the node's pods may use.", (node) => cores(node.allocatable)],
  ["capacity_cores", "CPU that the market may share.", (node) => cores(node.capacity)],
  ["unmanaged_cores", "CPU held by pods outside of the market.", (node) => cores(node.unmanaged)],
  ["committed_cores", "CPU of the market that limits hold.", (node) => cores(node.committed)],
  [
    "price_per_core",
    "Price of CPU at the last clearing; +Inf when nothing can be given.",
    (node) => pricePerCore(node.price),
  ],
  [
    "scarce",
    "1 while the node's CPU is scarce, 0 while it is ample.",
    ({ state }) => state && Number(state === "scarce"),
  ],
];

const POD_FIGURES: readonly Figure<PodView>[] = [
  [
    "demand_cores",
    "CPU that the pod would use if nothing held it back.",
    (pod) => cores(pod.demand),
  ],
  ["usage_cores", "CPU that the pod used over the last interval.", (pod) => cores(pod.usage)],
  [
    "limit_cores",
    "CPU limit of the pod as the agent last decided it.",
    (pod) => cores(pod.limit),
  ],
  [
    "enforced_limit_cores",
    "CPU quota of the pod's containers in force.",
    (pod) => cores(pod.enforced),
  ],
  ["floor_cores", "Lower bound of the pod's limit.", (pod) => cores(pod.floor)],
  ["ceiling_cores", "Upper bound of the pod's limit.", (pod) => cores(pod.ceiling)],
  ["price_per_core", "Price of CPU at the pod's last clearing.", (pod) => pricePerCore(pod.price)],
  [
    "credit",
    "Mean credit of the pod's containers: a factor on their weights.",
    ({ containers }) =>
      containers.reduce((sum, { credit }) => sum + credit, 0) / Math.max(1, containers.length),
  ],
  [
    "unenforced_limits",
    "Containers of the pod without an enforced CPU limit; only of such pods.",
    // A series of zeros for each pod would be of no use.
    ({ containers }) => containers.filter(({ quotaOff }) => quotaOff).length || undefined,
  ],
];

/** Registers all of the agent's metrics. Series of a pod go when the pod goes. */
export function createAgentMetrics({ registry, view }: {
  readonly registry: Registry;
  readonly view: () => NodeView | undefined;
}): AgentMetrics {
  const registers = [registry];
  /** A metric with a series for each pair of labels and value. */
  function register(
    Metric: typeof Gauge | typeof Counter,
    [name, help, labelNames]: readonly [name: string, help: string, labelNames: string[]],
    series: (view: NodeView) => Iterable<readonly [Record<string, string>, number | undefined]>,
  ): void {
    new Metric({
      ...{ name: `mbcas_${name}`, help, labelNames, registers },
      collect() {
        this.reset();
        const node = view();
        if (node === undefined) return;
        for (const [labels, value] of series(node)) {
          if (value !== undefined) this.inc(labels, value);
        }
      },
    });
  }
  const throttled = createThrottledTime();
  const perPod = (Metric: typeof Gauge | typeof Counter, [name, help, value]: Figure<PodView>) =>
    register(
      Metric,
      [`pod_${name}`, help, ["namespace", "pod"]],
      (node) =>
        podsByName(node).map((pod) => [{ namespace: pod.namespace, pod: pod.pod }, value(pod)]),
    );
  for (const figure of POD_FIGURES) perPod(Gauge, figure);
  perPod(Counter, [
    "throttled_seconds_total",
    "Time for which quotas kept the pod's threads from running, summed over threads.",
    ({ uid }) => throttled.seconds.get(uid) ?? 0,
  ]);
  for (const [name, help, value] of NODE_FIGURES) {
    register(Gauge, [`node_${name}`, help, []], (node) => [[{}, value(node)]]);
  }
  const heldHelp = "1 while no limit of the node is moved, with the reason.";
  register(
    Gauge,
    ["node_limits_held", heldHelp, ["reason"]],
    ({ held: reason }) => reason === undefined ? [] : [[{ reason }, 1]],
  );
  const modeHelp = "1 for the mode of the last clearing, 0 for the others.";
  register(
    Gauge,
    ["node_mode", modeHelp, ["mode"]],
    (node) => MODES.map((mode) => [{ mode }, Number(mode === node.mode)]),
  );
  const duration = (name: string, help: string): Histogram =>
    new Histogram({ name, help, buckets: BUCKETS_S, registers });
  const sampling = duration("mbcas_sample_duration_seconds", "Time of one sample of the cgroups.");
  const lateness = duration(
    "mbcas_sample_lateness_seconds",
    "By how much samples of the cgroups were late: the agent waited for CPU.",
  );
  const clearing = duration("mbcas_clear_duration_seconds", "Time of one clearing and its plan.");
  const countScarcity = scarcityCounters(registers);
  return {
    sampled: (tookMs, lateMs) => {
      sampling.observe(tookMs / MS_PER_S);
      lateness.observe(lateMs / MS_PER_S);
    },
    cleared(round, tookMs) {
      clearing.observe(tookMs / MS_PER_S);
      throttled.add(round.containers);
      countScarcity(round);
    },
    countingWrites: writesCounter(registers),
  };
}

/**
 * The pods of a view. A pod that has taken another one's name stands beside it for a moment: the
 * series are of the one that has readings.
 */
function podsByName({ pods }: NodeView): IteratorObject<PodView> {
  const byName = new Map<string, PodView>();
  for (const pod of pods) {
    const name = `${pod.namespace}/${pod.pod}`;
    if (byName.get(name)?.usage === undefined) byName.set(name, pod);
  }
  return byName.values();
}

/** Adds up for how long each pod was throttled since the agent began to see it. */
function createThrottledTime(): {
  /** Takes a round's containers, with all that was read since the last one. */
  add(containers: ClearedRound["containers"]): void;
  /** By pod UID, of the pods of the last round. Never falls while a pod is there. */
  readonly seconds: ReadonlyMap<string, number>;
} {
  let seconds = new Map<string, number>();
  let counted = new Map<string, number>();
  return {
    add(containers) {
      const [secondsBefore, countedBefore] = [seconds, counted];
      seconds = new Map();
      counted = new Map();
      for (const { participant, state: { throttledMs } } of containers) {
        const { containerID, allocation: { spec: { podUID } } } = participant;
        // A restarted container counts from 0 under another id; under the same one where the agent
        // has begun anew.
        const countedMs = countedBefore.get(containerID) ?? 0;
        const freshMs = throttledMs >= countedMs ? throttledMs - countedMs : throttledMs;
        counted.set(containerID, throttledMs);
        const before = seconds.get(podUID) ?? secondsBefore.get(podUID) ?? 0;
        seconds.set(podUID, before + freshMs / MS_PER_S);
      }
    },
    get seconds() {
      return seconds;
    },
  };
}

/** Counts the time in which CPU was scarce, and the limits that changed for that. */
function scarcityCounters(registers: Registry[]): (round: ClearedRound) => void {
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
  return ({ now, nodeState: { state }, containers }) => {
    if (scarceAt !== undefined) seconds.inc(Math.max(0, now - scarceAt) / MS_PER_S);
    scarceAt = state === "scarce" ? now : undefined;
    for (const { from, limit, changedFor } of containers) {
      if (changedFor === "CPUFree") toCeiling.inc();
      else if (state === "scarce" && limit < from) lowered.inc();
    }
  };
}

/** Counts writes by outcome. */
function writesCounter(registers: Registry[]): AgentMetrics["countingWrites"] {
  const writes = new Counter({
    name: "mbcas_writes_total",
    help: "Writes of desired limits by outcome: ok, or the status of the refusal.",
    labelNames: ["outcome"],
    registers,
  });
  return (writer) => ({
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
  });
}

function cores(millicores: number | undefined): number | undefined {
  return millicores === undefined ? undefined : millicores / 1000;
}

function pricePerCore(price: number | null): number {
  return price === null ? Infinity : price * 1000;
}
