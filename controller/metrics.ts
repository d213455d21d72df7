/**
 * The controller's metrics. All labels are words of closed lists: there are no series per pod.
 *
 * @module
 */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { PodAllocation } from "../shared/api/pod_allocation.ts";
import { BOUND_REASONS } from "../shared/api/reasons/bound_reasons.ts";
import { ENFORCEMENT_REASONS } from "../shared/api/reasons/enforcement_reasons.ts";
import { listedReason } from "../shared/api/reasons/reason_words.ts";
import type { AllocationObserver } from "./allocation/ports.ts";
import type { ControllerSettings } from "./settings.ts";

/** What the loops tell. */
export interface ControllerMetrics extends Required<AllocationObserver> {
  /** This controller became the leader, or is it no more. */
  leads(leads: boolean): void;
  /** From the agent's decision to the kubelet's confirmation, ms. */
  decisionConfirmed(waitedMs: number): void;
}

/** What is read at each scrape. */
export interface ScrapedState {
  readonly allocations: () => Iterable<PodAllocation>;
  /** Kinds and whether their copy is in sync. */
  readonly synced: () => Iterable<readonly [kind: string, synced: boolean]>;
  readonly settings: () => ControllerSettings;
  readonly settingsValid: () => boolean;
}

/** Seconds; the aim is a median of 0.45 s for the whole way from a burst to its larger quota. */
const CONFIRMATION_BUCKETS = [
  0.05,
  0.1,
  0.15,
  0.2,
  0.3,
  0.45,
  0.6,
  0.8,
  1.2,
  2,
  5,
  10,
  30,
  60,
  300,
];
const RECONCILE_BUCKETS = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30];

/** Puts the metrics into the registry. */
// deno-lint-ignore house/function-length
export function createControllerMetrics(
  registry: Registry,
  state: ScrapedState,
): ControllerMetrics {
  const registers = [registry];
  const counter = <T extends string>(name: string, help: string, labelNames: readonly T[]) =>
    new Counter({ name: `mbcas_${name}`, help, labelNames, registers });
  const gauge = (name: string, help: string): Gauge =>
    new Gauge({ name: `mbcas_${name}`, help, registers });
  const seconds = (name: string, help: string, buckets: number[]): Histogram =>
    new Histogram({ name: `mbcas_${name}_seconds`, help, buckets, registers });

  const resizes = counter("resizes_total", "Resize requests by the server's answer and reason.", [
    "outcome",
    "reason",
  ]);
  const restores = counter("restores_total", "Pods that got their own limits back.", ["cause"]);
  const held = counter("held_total", "Statuses that say why nothing is done.", ["reason"]);
  const metricQueries = counter("metric_queries_total", "Metric queries by what became of them.", [
    "outcome",
  ]);
  const queueDepth = gauge("queue_depth", "Pods that wait to be looked at.");
  const queueDelayed = gauge("queue_delayed", "Pods that will be looked at later.");
  const resizesWaiting = gauge("resizes_waiting", "Resizes that wait for their turns.");
  const rateBottleneck = gauge(
    "resize_rate_bottleneck",
    "1 while more resizes wait than controller.maxResizesPerSecond lets through in 10 s.",
  );
  const resizesDropped = counter(
    "resizes_dropped_total",
    "Small decreases that were put off because the rate of resizes is the bottleneck.",
    [],
  );
  let droppedBefore = 0;
  const leader = gauge("leader", "1 in the controller that leads.");
  const agents = gauge("agents", "Agents of Ready nodes.");
  const overdue = gauge(
    "agents_overdue",
    "Agents of which no renewal was seen for controller.agentSilentAfter.",
  );
  const silent = gauge("agents_silent", "Agents that count as silent: their pods are restored.");
  const reconciles = seconds(
    "reconcile_duration",
    "Time of one look at a pod, requests included.",
    RECONCILE_BUCKETS,
  );
  const confirmations = seconds(
    "resize_confirmation",
    "From a resize request to the kubelet's confirmation.",
    CONFIRMATION_BUCKETS,
  );
  const decisions = seconds(
    "decision_confirmation",
    "From an agent's decision, when it reaches the controller, to the kubelet's confirmation.",
    CONFIRMATION_BUCKETS,
  );
  leader.set(0);
  registerScraped(registry, state);

  return {
    leads: (leads) => leader.set(leads ? 1 : 0),
    decisionConfirmed: (waitedMs) => decisions.observe(waitedMs / 1000),
    agents(verdict) {
      agents.set(verdict.agents);
      overdue.set(verdict.overdue);
      silent.set(verdict.silent.size);
    },
    resized: ({ outcome, reason }) => resizes.inc({ outcome, reason }),
    confirmed: (waitedMs) => confirmations.observe(waitedMs / 1000),
    restored: (cause) => restores.inc({ cause }),
    held: (reason) => held.inc({ reason }),
    queue(depth, delayed) {
      queueDepth.set(depth);
      queueDelayed.set(delayed);
    },
    resizeQueue({ waiting, dropped, isBottleneck }) {
      resizesWaiting.set(waiting);
      rateBottleneck.set(isBottleneck ? 1 : 0);
      // A new term begins with a new queue.
      resizesDropped.inc(dropped >= droppedBefore ? dropped - droppedBefore : dropped);
      droppedBefore = dropped;
    },
    metricAnswered: (outcome) => metricQueries.inc({ outcome }),
    reconciled: (tookMs) => reconciles.observe(tookMs / 1000),
  };
}

/** Metrics that are read off the state when they are asked for. */
function registerScraped(registry: Registry, state: ScrapedState): void {
  const registers = [registry];
  new Gauge({
    name: "mbcas_allocations",
    help: "Pods in the market by the phase and reason of their allocation.",
    labelNames: ["phase", "reason"],
    registers,
    collect() {
      this.reset();
      for (const { status } of state.allocations()) {
        const reason = listedReason(ENFORCEMENT_REASONS, status?.reason ?? "Waiting");
        this.inc({ phase: status?.phase ?? "Pending", reason });
      }
    },
  });
  new Gauge({
    name: "mbcas_bounds",
    help: "Pods in the market by what sets their bounds.",
    labelNames: ["reason"],
    registers,
    collect() {
      this.reset();
      for (const { status } of state.allocations()) {
        const rules = status?.bounds?.rules ?? [];
        const words = new Set(rules.map(({ reason }) => listedReason(BOUND_REASONS, reason)));
        for (const reason of words) this.inc({ reason });
      }
    },
  });
  new Gauge({
    name: "mbcas_metric_demand_pods",
    help: "Pods in the market whose bounds have a demand by a metric.",
    registers,
    collect() {
      let count = 0;
      for (const { status } of state.allocations()) {
        if (status?.bounds?.containers.some(({ demand }) => demand !== undefined)) count++;
      }
      this.set(count);
    },
  });
  new Gauge({
    name: "mbcas_cache_synced",
    help: "1 while the copy of a kind follows the server.",
    labelNames: ["kind"],
    registers,
    collect() {
      for (const [kind, synced] of state.synced()) this.set({ kind }, synced ? 1 : 0);
    },
  });
  for (
    const [name, help, read] of [
      ["market_enabled", "1 while the market sets limits.", () => state.settings().market],
      ["dry_run", "1 while changes are only reported.", () => state.settings().dryRun],
      ["settings_valid", "0 while the settings' last text is refused.", state.settingsValid],
    ] as const
  ) {
    new Gauge({
      name: `mbcas_${name}`,
      help,
      registers,
      collect() {
        this.set(read() ? 1 : 0);
      },
    });
  }
}
