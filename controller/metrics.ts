/**
 * The controller's metrics. All labels have values from closed lists: there are no series per pod.
 *
 * @module
 */
import type { Registry } from "prom-client";
import { registerMetrics, registerScraped, type Series } from "../adapters/registered_metrics.ts";
import type { PodAllocation } from "../shared/api/pod_allocation.ts";
import { BOUND_REASONS, setsCeiling } from "../shared/api/reasons/bound_reasons.ts";
import { ENFORCEMENT_REASONS } from "../shared/api/reasons/enforcement_reasons.ts";
import { listedReason } from "../shared/api/reasons/reasons.ts";
import { CONTROLLER_METRICS, MARKET_METRICS } from "../shared/metrics/market_metrics.ts";
import { mapDefined } from "../shared/defined.ts";
import { parseCPUBound } from "../shared/quantity.ts";
import type { AllocationObserver } from "./allocation/ports.ts";
import type { FairQueue } from "./allocation/queues/fair_queue.ts";
import type { AgentsVerdict } from "./allocation/watches/silent_agents.ts";
import type { ControllerSettings } from "./settings.ts";

/** Observers of the loops. */
export interface ControllerMetrics extends Required<AllocationObserver> {
  /** This controller became the leader, or no longer is. */
  leads(leads: boolean): void;
  /** From the agent's decision to the kubelet's confirmation, ms. */
  decisionConfirmed(waitedMs: number): void;
}

/** The state that each scrape reads. */
export interface ScrapedState {
  readonly allocations: () => Iterable<PodAllocation>;
  /** Kinds, and whether their cache is in sync. */
  readonly synced: () => Iterable<readonly [kind: string, synced: boolean]>;
  readonly settings: () => ControllerSettings;
  readonly settingsValid: () => boolean;
}

/** The last reports of the leader's loops. */
interface LeaderState {
  agents?: AgentsVerdict;
  queue?: { readonly depth: number; readonly delayed: number };
  resizes?: Pick<FairQueue, "waiting" | "isBottleneck">;
}

/** The metrics that are read at each scrape of the leader; other replicas do not have these series. */
const SCRAPED = {
  *allocations({ allocations }) {
    for (const { status: { phase = "Pending", reason = "Waiting" } = {} } of allocations()) {
      yield [{ phase, reason: listedReason(ENFORCEMENT_REASONS, reason) }, 1];
    }
  },
  *bounds({ allocations }) {
    for (const { status } of allocations()) {
      const rules = status?.bounds?.rules ?? [];
      const reasons = new Set(rules.map(({ reason }) => listedReason(BOUND_REASONS, reason)));
      for (const reason of reasons) yield [{ reason }, 1];
    }
  },
  metricDemandPods({ allocations }) {
    const demanded = Iterator.from(allocations()).filter(({ status }) =>
      status?.bounds?.containers.some(({ demand }) => demand !== undefined)
    );
    return sole(demanded.reduce((count) => count + 1, 0));
  },
  *demandHeld({ allocations }) {
    for (const allocation of allocations()) {
      const { demand = 0 } = allocation.spec.market ?? {};
      const [reason, limit = Infinity] = heldBy(allocation);
      if (demand > limit) yield [{ reason }, (demand - limit) / 1000];
    }
  },
  enabled: ({ settings }) => sole(settings().market),
  dryRun: ({ settings }) => sole(settings().dryRun),
  agents: (_state, { agents }) => sole(agents?.agents),
  overdue: (_state, { agents }) => sole(agents?.overdue),
  silent: (_state, { agents }) => sole(agents?.silent.size),
  queueDepth: (_state, { queue }) => sole(queue?.depth),
  queueDelayed: (_state, { queue }) => sole(queue?.delayed),
  resizesWaiting: (_state, { resizes }) => sole(resizes?.waiting),
  bottleneck: (_state, { resizes }) => sole(resizes?.isBottleneck),
} as const satisfies Partial<
  Record<
    keyof typeof MARKET_METRICS,
    (state: ScrapedState, leader: LeaderState) => Iterable<Series>
  >
>;

/** The reason that bounds the pod's limit, and the bound in millicores; undefined while unknown. */
function heldBy({ status }: PodAllocation): readonly [reason: string, limit: number | undefined] {
  const { appliedCPULimit, bounds } = status ?? {};
  if (status?.reason === "QuotaExceeded") {
    return ["QuotaExceeded", mapDefined(appliedCPULimit, parseCPUBound)];
  }
  const rule = bounds?.rules?.find(({ reason }) => setsCeiling(reason));
  const ceiling = bounds?.containers.reduce((sum, container) => sum + container.ceiling, 0);
  return [listedReason(BOUND_REASONS, rule?.reason ?? "BurstFactor"), ceiling];
}

/** Puts the metrics into the registry. */
export function createControllerMetrics(
  registry: Registry,
  state: ScrapedState,
): ControllerMetrics {
  const { leader, cacheSynced, settingsValid } = CONTROLLER_METRICS;
  const leading = registerMetrics(registry, { leader }).leader;
  registerScraped(registry, {
    metric: cacheSynced,
    *series() {
      for (const [kind, isSynced] of state.synced()) yield [{ kind }, Number(isSynced)];
    },
  });
  registerScraped(registry, {
    metric: settingsValid,
    series: () => sole(state.settingsValid()),
  });
  let latest: LeaderState | undefined;
  for (const [key, series] of Object.entries(SCRAPED)) {
    registerScraped(registry, {
      metric: MARKET_METRICS[key as keyof typeof SCRAPED],
      series: () => latest === undefined ? [] : series(state, latest),
    });
  }
  return {
    ...counted(registry, (resizes) => void (latest &&= { ...latest, resizes })),
    leads(leads) {
      leading.set(Number(leads));
      latest = leads ? {} : undefined;
    },
    agents: (agents) => void (latest &&= { ...latest, agents }),
    queue: (depth, delayed) => void (latest &&= { ...latest, queue: { depth, delayed } }),
  };
}

/** Counts lines that the audit log drops. */
export function createDropCounter(registry: Registry): () => void {
  const { auditDropped } = registerMetrics(registry, { auditDropped: MARKET_METRICS.auditDropped });
  return () => auditDropped.inc();
}

/** Observers of what is counted when it happens; `queued` receives the queue of resizes. */
function counted(
  registry: Registry,
  queued: (queue: Pick<FairQueue, "waiting" | "isBottleneck">) => void,
): Omit<ControllerMetrics, "leads" | "agents" | "queue"> {
  const { resizesDropped, resizes, restores, held, queries } = MARKET_METRICS;
  const { reconciles, confirmations, decisionConfirmations } = MARKET_METRICS;
  const metrics = registerMetrics(registry, {
    ...{ resizesDropped, resizes, restores, held, queries },
    ...{ reconciles, confirmations, decisionConfirmations },
  });
  let droppedBefore = 0;
  return {
    resized: ({ outcome, reason }) => metrics.resizes.inc({ outcome, reason }),
    released: (cause) => metrics.restores.inc({ cause }),
    held: (reason) => metrics.held.inc({ reason }),
    metricAnswered: (outcome) => metrics.queries.inc({ outcome }),
    reconciled: (tookMs) => metrics.reconciles.observe(tookMs / 1000),
    confirmed: (tookMs) => metrics.confirmations.observe(tookMs / 1000),
    decisionConfirmed: (tookMs) => metrics.decisionConfirmations.observe(tookMs / 1000),
    resizeQueue({ waiting, dropped, isBottleneck }) {
      queued({ waiting, isBottleneck });
      // A new term begins with a new queue.
      metrics.resizesDropped.inc(dropped >= droppedBefore ? dropped - droppedBefore : dropped);
      droppedBefore = dropped;
    },
  };
}

/** The series of a metric without labels; none while there is no value. */
function sole(value: number | boolean | undefined): readonly Series[] {
  return value === undefined ? [] : [[{}, Number(value)]];
}
