/**
 * The input of the views: the controller's state, and the request's user, time and choice.
 *
 * @module
 */
import type { RecommendationReport } from "../../shared/api/recommendation_report.ts";
import type { Prices } from "../../shared/rightsizing/prices.ts";
import type { ScopeSettings } from "../../shared/resize/scope.ts";
import type { PublishedStatuses } from "../../shared/view/placed_workloads.ts";
import type { NodeReadings } from "../../shared/view/top_view.ts";
import type { ReadCaches } from "../caches.ts";
import type { Collector } from "./collector.ts";
import type { ListChoice } from "./pages/tables.ts";

/** The state of the controller. */
export interface DashboardState {
  readonly caches: ReadCaches;
  readonly collector: Pick<Collector, "history" | "views" | "problems">;
  /** Undefined where rightsizing is off. */
  readonly reports: () => Iterable<RecommendationReport> | undefined;
  /** The leader's published statuses; undefined where placement is off. */
  readonly placements: () => PublishedStatuses | undefined;
  /** Which pods take part. */
  readonly scope: () => ScopeSettings;
  /** Undefined where no prices are set. */
  readonly prices: () => Prices | undefined;
}

/** The visible namespaces, the time, and the chosen part of a long list. */
export interface ViewOptions {
  /** Whether the user may list the pods of a namespace. */
  readonly visible: (namespace: string) => boolean;
  /** Wall time, ms. */
  readonly nowMs: number;
  readonly choice: ListChoice;
}

/** The allocations that the user may see, and problems of the agents. */
export function allocationsOf(
  { caches, collector }: DashboardState,
  { visible, maySeeNodes = false }: Pick<ViewOptions, "visible"> & {
    /** False: only problems of nodes with pods of visible namespaces are reported. @default {false} */
    readonly maySeeNodes?: boolean;
  },
): Pick<NodeReadings, "allocations" | "problems"> {
  const allocations = [...caches.allocations.all()].filter(({ metadata }) =>
    visible(metadata.namespace)
  );
  const nodes = new Set(allocations.map(({ spec }) => spec.nodeName));
  return {
    allocations,
    problems: [...collector.problems].filter(([node]) => maySeeNodes || nodes.has(node)).map((
      [node, message],
    ) =>
      `Cannot read the agent of node ${node}: ${message}; its pods are shown as ${
        collector.views.has(node) ? "of its last answer" : "their allocations have them"
      }`
    ),
  };
}

/** The allocations, problems, and views of agents, without pods that the user may not see. */
export function readingsOf(
  state: DashboardState,
  { visible }: Pick<ViewOptions, "visible">,
): NodeReadings {
  return {
    ...allocationsOf(state, { visible }),
    views: [...state.collector.views.values()].map((view) => ({
      ...view,
      pods: view.pods.filter(({ namespace }) => visible(namespace)),
    })),
  };
}
