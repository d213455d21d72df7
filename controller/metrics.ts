/**
 * The controller's metrics. All labels have values from closed lists: there are no series per pod.
 *
 * @module
 */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { PodAllocation } from "../shared/api/pod_allocation.ts";
import { BOUND_REASONS } from "../shared/api/reasons/bound_reasons.ts";
import { ENFORCEMENT_REASONS } from "../shared/api/reasons/enforcement_reasons.ts";
import { listedReason } from "../shared/api/reasons/reasons.ts";
import type { AllocationObserver } from "./allocation/ports.ts";
import type { ControllerSettings } from "./settings.ts";

/** Observers of the loops. */
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

/** Makes a metric in a registry. */
type Make<T> = (registers: Registry[]) => T;

function counter<const Label extends string = never>(
  name: string,
  { help, labels = [] }: { readonly help: string; readonly labels?: readonly Label[] },
): Make<Counter<Label>> {
  return (registers) =>
    new Counter({ name: `mbcas_${name}`, help, labelNames: [...labels], registers });
}

function gauge(name: string, help: string): Make<Gauge> {
  return (registers) => new Gauge({ name: `mbcas_${name}`, help, registers });
}

function seconds(
  name: string,
  { help, buckets }: { readonly help: string; readonly buckets: readonly number[] },
): Make<Histogram> {
  return (registers) =>
    new Histogram({ name: `mbcas_${name}_seconds`, help, buckets: [...buckets], registers });
}

/** The metrics that the loops report to {@linkcode ControllerMetrics}. */
const METRICS = {
  resizes: counter("resizes_total", {
    help: "Resize requests by the server's answer and reason.",
    labels: ["outcome", "reason"],
  }),
  restores: counter("restores_total", {
    help: "Pods that got their original limits back.",
    labels: ["cause"],
  }),
  held: counter("held_total", {
    help: "Statuses that say why nothing is done.",
    labels: ["reason"],
  }),
  metricQueries: counter("metric_queries_total", {
    help: "Metric queries by what became of them.",
    labels: ["outcome"],
  }),
  queueDepth: gauge("queue_depth", "Pods that wait to be looked at."),
  queueDelayed: gauge("queue_delayed", "Pods that will be looked at later."),
  resizesWaiting: gauge("resizes_waiting", "Resizes that wait for their turns."),
  rateBottleneck: gauge(
    "resize_rate_bottleneck",
    "1 while more resizes wait than controller.maxResizesPerSecond lets through in 10 s.",
  ),
  resizesDropped: counter("resizes_dropped_total", {
    help: "Small decreases that were put off because the rate of resizes is the bottleneck.",
  }),
  leader: gauge("leader", "1 in the controller that leads."),
  agents: gauge("agents", "Agents of Ready nodes."),
  overdue: gauge(
    "agents_overdue",
    "Agents of which no renewal was seen for controller.agentSilentAfter.",
  ),
  silent: gauge("agents_silent", "Agents that count as silent: their pods are restored."),
  reconciles: seconds("reconcile_duration", {
    help: "Time of one look at a pod, requests included.",
    buckets: RECONCILE_BUCKETS,
  }),
  confirmations: seconds("resize_confirmation", {
    help: "From a resize request to the kubelet's confirmation.",
    buckets: CONFIRMATION_BUCKETS,
  }),
  decisions: seconds("decision_confirmation", {
    help:
      "From an agent's decision, when it reaches the controller, to the kubelet's confirmation.",
    buckets: CONFIRMATION_BUCKETS,
  }),
};

type Metrics = { readonly [K in keyof typeof METRICS]: ReturnType<typeof METRICS[K]> };

/** Puts the metrics into the registry. */
export function createControllerMetrics(
  registry: Registry,
  state: ScrapedState,
): ControllerMetrics {
  const made = Object.entries(METRICS).map(([name, make]) => [name, make([registry])]);
  const metrics: Metrics = Object.fromEntries(made);
  metrics.leader.set(0);
  registerScraped([registry], state);
  return observers(metrics);
}

function observers(metrics: Metrics): ControllerMetrics {
  let droppedBefore = 0;
  return {
    leads: (leads) => metrics.leader.set(leads ? 1 : 0),
    decisionConfirmed: (waitedMs) => metrics.decisions.observe(waitedMs / 1000),
    agents({ agents, overdue, silent }) {
      metrics.agents.set(agents);
      metrics.overdue.set(overdue);
      metrics.silent.set(silent.size);
    },
    resized: ({ outcome, reason }) => metrics.resizes.inc({ outcome, reason }),
    confirmed: (waitedMs) => metrics.confirmations.observe(waitedMs / 1000),
    released: (cause) => metrics.restores.inc({ cause }),
    held: (reason) => metrics.held.inc({ reason }),
    queue(depth, delayed) {
      metrics.queueDepth.set(depth);
      metrics.queueDelayed.set(delayed);
    },
    resizeQueue({ waiting, dropped, isBottleneck }) {
      metrics.resizesWaiting.set(waiting);
      metrics.rateBottleneck.set(isBottleneck ? 1 : 0);
      // A new term begins with a new queue.
      metrics.resizesDropped.inc(dropped >= droppedBefore ? dropped - droppedBefore : dropped);
      droppedBefore = dropped;
    },
    metricAnswered: (outcome) => metrics.metricQueries.inc({ outcome }),
    reconciled: (tookMs) => metrics.reconciles.observe(tookMs / 1000),
  };
}

/** A gauge that is read off the state at each scrape: its series with their values, which add up. */
interface ScrapedGauge {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  readonly series: (state: ScrapedState) => Iterable<readonly [Record<string, string>, number]>;
}

const SCRAPED: readonly ScrapedGauge[] = [
  {
    name: "allocations",
    help: "Pods in the market by the phase and reason of their allocation.",
    labels: ["phase", "reason"],
    *series({ allocations }) {
      for (const { status: { phase = "Pending", reason = "Waiting" } = {} } of allocations()) {
        yield [{ phase, reason: listedReason(ENFORCEMENT_REASONS, reason) }, 1];
      }
    },
  },
  {
    name: "bounds",
    help: "Pods in the market by what sets their bounds.",
    labels: ["reason"],
    *series({ allocations }) {
      for (const { status } of allocations()) {
        const rules = status?.bounds?.rules ?? [];
        const reasons = new Set(rules.map(({ reason }) => listedReason(BOUND_REASONS, reason)));
        for (const reason of reasons) yield [{ reason }, 1];
      }
    },
  },
  {
    name: "metric_demand_pods",
    help: "Pods in the market with a demand by a metric in their bounds.",
    *series({ allocations }) {
      for (const { status } of allocations()) {
        const isDemanded = status?.bounds?.containers.some(({ demand }) => demand !== undefined);
        if (isDemanded === true) yield [{}, 1];
      }
    },
  },
  {
    name: "cache_synced",
    help: "1 while the copy of a kind follows the server.",
    labels: ["kind"],
    *series({ synced }) {
      for (const [kind, isSynced] of synced()) yield [{ kind }, Number(isSynced)];
    },
  },
  {
    name: "market_enabled",
    help: "1 while the market sets limits.",
    series: ({ settings }) => [[{}, Number(settings().market)]],
  },
  {
    name: "dry_run",
    help: "1 while changes are only reported.",
    series: ({ settings }) => [[{}, Number(settings().dryRun)]],
  },
  {
    name: "settings_valid",
    help: "0 while the settings' last text is refused.",
    series: ({ settingsValid }) => [[{}, Number(settingsValid())]],
  },
];

function registerScraped(registers: Registry[], state: ScrapedState): void {
  for (const { name, help, labels = [], series } of SCRAPED) {
    new Gauge({
      name: `mbcas_${name}`,
      help,
      labelNames: [...labels],
      registers,
      collect() {
        this.reset();
        for (const [labels, value] of series(state)) this.inc(labels, value);
      },
    });
  }
}
