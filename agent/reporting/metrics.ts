/**
 * The agent's metrics. Gauges read the last round when they are scraped.
 *
 * @module
 */
import type { Registry } from "prom-client";
import {
  registerMetrics,
  registerScraped,
  type Series,
} from "../../adapters/registered_metrics.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import { AGENT_METRICS, NODE_METRICS, POD_METRICS } from "../../shared/metrics/agent_metrics.ts";
import type { Metric } from "../../shared/metrics/metric.ts";
import type { NodeView, PodView } from "../../shared/view/node_view.ts";
import type { RoundResult } from "../market/round.ts";
import type { DesiredWriter } from "../../shared/api/ports.ts";

/** Counts events; gauges need no call. */
export interface AgentMetrics {
  /** Counts a sample of the cgroups with its duration and lateness, ms. */
  sampled(tookMs: number, lateMs: number): void;
  /** Counts a round with its changes and the duration of its clearing, ms. */
  cleared(round: ClearedRound, tookMs: number): void;
  /** Returns a writer that counts writes by outcome. */
  countingWrites(writer: DesiredWriter): DesiredWriter;
}

/** The part of a round that is counted. */
export type ClearedRound = Pick<RoundResult, "now" | "nodeState" | "containers">;

const MS_PER_S = 1000;
const MODES: readonly NodeView["mode"][] = ["uncongested", "congested", "overloaded"];

/** The value of each metric of a node; undefined where there is none. */
const NODE_VALUES = {
  price: ({ price }) => price ?? Infinity,
  scarce: ({ state }) => Number(state === "scarce"),
  pressure: ({ cpuPressure }) => cpuPressure?.seconds,
  allocatable: (node) => cores(node.allocatable),
  capacity: (node) => cores(node.capacity),
  unmanaged: (node) => cores(node.unmanaged),
  committed: (node) => cores(node.committed),
  wait: ({ waitMs }) => waitMs / MS_PER_S,
} as const satisfies Record<string, (node: NodeView) => number | undefined>;

/** The value of each metric of a pod, by its view and its throttled seconds. */
const POD_VALUES = {
  usage: (pod) => cores(pod.usage),
  demand: (pod) => cores(pod.demand),
  limit: (pod) => cores(pod.limit),
  enforced: (pod) => cores(pod.enforced),
  floor: (pod) => cores(pod.floor),
  ceiling: (pod) => cores(pod.ceiling),
  original: (pod) => cores(pod.originalLimit),
  price: ({ price }) => price ?? Infinity,
  credit: ({ containers }) =>
    containers.reduce((sum, { credit }) => sum + credit, 0) / Math.max(1, containers.length),
  throttled: (_pod, throttledSeconds) => throttledSeconds,
  pressure: ({ cpuPressure }) => cpuPressure?.seconds,
  // No series for pods without such containers.
  unenforced: ({ containers }) => containers.filter(({ quotaOff }) => quotaOff).length || undefined,
} as const satisfies Record<
  keyof typeof POD_METRICS,
  (pod: PodView, throttledSeconds: number) => number | undefined
>;

/** Registers all of the agent's metrics. Series of a pod go when the pod goes. */
export function createAgentMetrics({ registry, view }: {
  readonly registry: Registry;
  readonly view: () => NodeView | undefined;
}): AgentMetrics {
  /** Serves a metric with the series of the latest view that have a value. */
  function scraped(
    metric: Metric<"gauge" | "counter">,
    series: (view: NodeView) => Iterable<readonly [Series[0], number | undefined]>,
  ): void {
    registerScraped(registry, {
      metric,
      *series() {
        const node = view();
        for (const [labels, value] of node === undefined ? [] : series(node)) {
          if (value !== undefined) yield [labels, value];
        }
      },
    });
  }
  const throttled = createThrottledTime();
  for (const [key, metric] of Object.entries(POD_METRICS)) {
    const value = POD_VALUES[key as keyof typeof POD_METRICS];
    scraped(metric, (node) =>
      podsByName(node).map((pod) => {
        const { namespace, pod: name, uid } = pod;
        return [{ namespace, pod: name }, value(pod, throttled.seconds.get(uid) ?? 0)];
      }));
  }
  for (const [key, value] of Object.entries(NODE_VALUES)) {
    scraped(NODE_METRICS[key as keyof typeof NODE_VALUES], (node) => [[{}, value(node)]]);
  }
  scraped(
    NODE_METRICS.held,
    ({ held: reason }) => reason === undefined ? [] : [[{ reason }, 1]],
  );
  scraped(NODE_METRICS.mode, (node) => MODES.map((mode) => [{ mode }, Number(mode === node.mode)]));
  const { samples, lateness, clearings, writes } = registerMetrics(registry, AGENT_METRICS);
  const countScarcity = scarcityCounters(registry);
  return {
    sampled: (tookMs, lateMs) => {
      samples.observe(tookMs / MS_PER_S);
      lateness.observe(lateMs / MS_PER_S);
    },
    cleared(round, tookMs) {
      clearings.observe(tookMs / MS_PER_S);
      throttled.add(round.containers);
      countScarcity(round);
    },
    countingWrites: (writer) => ({
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

/**
 * The pods of a view by name. A view may have an old and a new pod of one name for a moment: the series are
 * of the one with readings.
 */
function podsByName({ pods }: NodeView): IteratorObject<PodView> {
  const byName = new Map<string, PodView>();
  for (const pod of pods) {
    const name = `${pod.namespace}/${pod.pod}`;
    if (byName.get(name)?.usage === undefined) byName.set(name, pod);
  }
  return byName.values();
}

/** Adds up the throttled time of each pod since the agent has known it. */
function createThrottledTime(): {
  /** Adds the throttled time of a round's containers since the last round. */
  add(containers: ClearedRound["containers"]): void;
  /** By pod UID, of the pods of the last round. Never falls while a pod exists. */
  readonly seconds: ReadonlyMap<string, number>;
} {
  let seconds = new Map<string, number>();
  let counted = new Map<string, number>();
  return {
    add(containers) {
      const secondsBefore = seconds;
      const countedBefore = counted;
      seconds = new Map();
      counted = new Map();
      for (const { participant, state: { throttledMs } } of containers) {
        const { containerID, allocation: { spec: { podUID } } } = participant;
        // A restarted container has another id; under the same one the count begins anew where the loop has
        // reset its states.
        const countedMs = countedBefore.get(containerID) ?? 0;
        const newMs = throttledMs >= countedMs ? throttledMs - countedMs : throttledMs;
        counted.set(containerID, throttledMs);
        const before = seconds.get(podUID) ?? secondsBefore.get(podUID) ?? 0;
        seconds.set(podUID, before + newMs / MS_PER_S);
      }
    },
    get seconds() {
      return seconds;
    },
  };
}

/** Counts the time in which CPU was scarce, and the limits that changed for that. */
function scarcityCounters(registry: Registry): (round: ClearedRound) => void {
  const { scarceSeconds, toCeiling, lowered } = NODE_METRICS;
  const counters = registerMetrics(registry, { scarceSeconds, toCeiling, lowered });
  let scarceAt: number | undefined;
  return ({ now, nodeState: { state }, containers }) => {
    if (scarceAt !== undefined) counters.scarceSeconds.inc(Math.max(0, now - scarceAt) / MS_PER_S);
    scarceAt = state === "scarce" ? now : undefined;
    for (const { from, limit, changedFor } of containers) {
      if (changedFor === "CPUFree") counters.toCeiling.inc();
      else if (state === "scarce" && limit < from) counters.lowered.inc();
    }
  };
}

function cores(millicores: number | undefined): number | undefined {
  return millicores === undefined ? undefined : millicores / 1000;
}
