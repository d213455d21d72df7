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

/** Puts the metrics into the registry. */
export function createControllerMetrics(
  registry: Registry,
  state: ScrapedState,
): ControllerMetrics {
  const registers = [registry];
  registerScraped(registers, state);
  return { ...counters(registers), ...levels(registers), ...durations(registers) };
}

/** Counts lines that the audit log drops. */
export function createDropCounter(registry: Registry): () => void {
  const counter = new Counter({
    name: "mbcas_audit_lines_dropped_total",
    help: "Lines of the audit log that its rate limit dropped.",
    registers: [registry],
  });
  return () => counter.inc();
}

function counters(
  registers: Registry[],
): Pick<ControllerMetrics, "resized" | "released" | "held" | "metricAnswered"> {
  const counter = (name: string, help: string, ...labelNames: string[]): Counter =>
    new Counter({ name: `mbcas_${name}`, help, labelNames, registers });
  const resizeHelp = "Resize requests by the server's answer and reason.";
  const resizes = counter("resizes_total", resizeHelp, "outcome", "reason");
  const restores = counter("restores_total", "Pods that got their original limits back.", "cause");
  const held = counter("held_total", "Statuses that say why nothing is done.", "reason");
  const queryHelp = "Metric queries by what became of them.";
  const queries = counter("metric_queries_total", queryHelp, "outcome");
  return {
    resized: ({ outcome, reason }) => resizes.inc({ outcome, reason }),
    released: (cause) => restores.inc({ cause }),
    held: (reason) => held.inc({ reason }),
    metricAnswered: (outcome) => queries.inc({ outcome }),
  };
}

function levels(
  registers: Registry[],
): Pick<ControllerMetrics, "leads" | "agents" | "queue" | "resizeQueue"> {
  const gauge = (name: string, help: string): Gauge =>
    new Gauge({ name: `mbcas_${name}`, help, registers });
  const leader = gauge("leader", "1 in the controller that leads.");
  const agents = gauge("agents", "Agents of Ready nodes.");
  const overdueAgents = gauge(
    "agents_overdue",
    "Agents of which no renewal was seen for controller.agentSilentAfter.",
  );
  const silentHelp = "Agents that count as silent: their pods are restored.";
  const silentAgents = gauge("agents_silent", silentHelp);
  const depth = gauge("queue_depth", "Pods that wait to be looked at.");
  const delayed = gauge("queue_delayed", "Pods that will be looked at later.");
  const resizesWaiting = gauge("resizes_waiting", "Resizes that wait for their turns.");
  const bottleneck = gauge(
    "resize_rate_bottleneck",
    "1 while more resizes wait than controller.maxResizesPerSecond lets through in 10 s.",
  );
  const resizesDropped = new Counter({
    name: "mbcas_resizes_dropped_total",
    help: "Small decreases that were put off because the rate of resizes is the bottleneck.",
    registers,
  });
  let droppedBefore = 0;
  return {
    leads: (leads) => leader.set(Number(leads)),
    agents(verdict) {
      agents.set(verdict.agents);
      overdueAgents.set(verdict.overdue);
      silentAgents.set(verdict.silent.size);
    },
    queue(waiting, later) {
      depth.set(waiting);
      delayed.set(later);
    },
    resizeQueue({ waiting, dropped, isBottleneck }) {
      resizesWaiting.set(waiting);
      bottleneck.set(Number(isBottleneck));
      // A new term begins with a new queue.
      resizesDropped.inc(dropped >= droppedBefore ? dropped - droppedBefore : dropped);
      droppedBefore = dropped;
    },
  };
}

function durations(
  registers: Registry[],
): Pick<ControllerMetrics, "reconciled" | "confirmed" | "decisionConfirmed"> {
  const duration = (name: string, [help, buckets]: readonly [string, number[]]) => {
    const histogram = new Histogram({ name: `mbcas_${name}_seconds`, help, buckets, registers });
    return (tookMs: number): void => histogram.observe(tookMs / 1000);
  };
  return {
    reconciled: duration("reconcile_duration", [
      "Time of one look at a pod, requests included.",
      RECONCILE_BUCKETS,
    ]),
    confirmed: duration("resize_confirmation", [
      "From a resize request to the kubelet's confirmation.",
      CONFIRMATION_BUCKETS,
    ]),
    decisionConfirmed: duration("decision_confirmation", [
      "From an agent's decision, when it reaches the controller, to the kubelet's confirmation.",
      CONFIRMATION_BUCKETS,
    ]),
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
