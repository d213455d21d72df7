/**
 * The reasons as Markdown.
 *
 * @module
 */
import type { Reason } from "../shared/api/reasons/reason.ts";
import { REASON_LISTS, type VersionReason } from "../shared/api/reasons/reasons.ts";
import { BOUND_REASONS, type BoundReason } from "../shared/api/reasons/bound_reasons.ts";
import type { EnforcementReason, EventReason } from "../shared/api/reasons/enforcement_reasons.ts";
import type { MarketReason } from "../shared/api/reasons/market_reasons.ts";
import type {
  PlacementEventReason,
  PlacementReason,
} from "../shared/api/reasons/placement_reasons.ts";
import type {
  PolicyReason,
  RightsizingEventReason,
  RightsizingReason,
} from "../shared/api/reasons/rightsizing_reasons.ts";

type ListName = keyof typeof REASON_LISTS;

/** Heading and first sentence of each list. */
const TITLES: Readonly<Record<ListName, readonly [title: string, text: string]>> = {
  market: ["The market's", "Why the agent wants another limit for the pod."],
  bounds: ["Of bounds", "What sets floor, ceiling and hold of a pod's limits."],
  enforcement: [
    "Of enforcement",
    "Why the controller did or did not do what the agent wants, and why a pod takes no part.",
  ],
  events: ["Of events", "`kubectl events --for pod/NAME`, at most one of a kind in five minutes."],
  rightsizing: [
    "Of rightsizing",
    "Why an OptimizationPolicy does not apply a recommendation, or not all of it.",
  ],
  rightsizingEvents: [
    "Of rightsizing's events",
    "`kubectl events --for deployment/NAME`, and of the policy. Each message ends with a suggestion.",
  ],
  policies: [
    "Of policies' conditions",
    "`kubectl describe optpol NAME`: whether a policy can be followed.",
  ],
  placement: [
    "Of placement",
    "Why a workload's replicas are not placed on spot and on-demand nodes, or not moved.",
  ],
  placementEvents: [
    "Of placement's events",
    "`kubectl events --for deployment/NAME`: what was moved, and what blocks moves.",
  ],
  versions: [
    "Of other versions",
    "During an upgrade, or after one that has not reached all parts.",
  ],
};

const INTRODUCTION = `# Reasons

<!-- Made from the lists in shared/api/reasons by \`deno task generate:docs\`; changes here are lost. -->

Each change of a limit, and each limit that stays, carries one of these reasons. In objects, events,
metrics and what \`kubectl coalloc\` prints they mean the same. Objects may have reasons of a newer
version, in CamelCase as well: all parts show those as they are, metrics count them as \`OtherVersion\`.

\`kubectl coalloc explain POD\` says all that hold for a pod, with their numbers. \`spec\` and \`status\` are
those of its PodAllocation, \`kubectl get podallocations -A\`; \`status.reason\` is that of its condition
\`Applied\`, too. In braces after a metric stands the label that has the reason.
`;

/** The page, from its heading to its last line. */
export function reasonsPage(): string {
  const names = Object.keys(REASON_LISTS) as ListName[];
  return [INTRODUCTION, ...names.map(listSection)].join("\n");
}

function listSection(name: ListName): string {
  const [title, text] = TITLES[name];
  const head = ["Reason", "What it means", "What to do", "Where it is seen"];
  const places: ListPlaces<string> = REASON_PLACES[name];
  const rows = Object.entries<Reason>(REASON_LISTS[name]).map(([reason, { means, remedy }]) =>
    row([
      `\`${reason}\``,
      escaped(means),
      escaped(remedy),
      (places.others[reason] ?? places.usual).join("; "),
    ])
  );
  return [`## ${title}\n`, `${text}\n`, row(head), row(head.map(() => "---")), ...rows, ""]
    .join("\n");
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

/** Text of the lists is no Markdown. */
function escaped(text: string): string {
  return text.replaceAll(/[|<>*_]/g, "\\$&");
}

/** Places in Markdown: fields of a PodAllocation, metrics with their label, events, commands. */
export type Places = readonly string[];

/** Where the reasons of a list are seen: `usual`, but for those that have places of their own. */
export interface ListPlaces<Name extends string> {
  readonly usual: Places;
  readonly others: Partial<Readonly<Record<Name, Places>>>;
}

/** Looks at workloads, by what they came to. */
const LOOKS = "`mbcas_placement_reconciliations_total{action}`";
/** Phases of workloads. */
const PLACEMENT = "`placement`";
const EXPLAIN = "`explain`";
const RESIZES = "`mbcas_resizes_total{reason}`";
const ALLOCATIONS = "`mbcas_allocations{reason}`";
const CONTROLLER = `${EXPLAIN}, Controller`;
const HELD = "`mbcas_held_total{reason}`";

/** A look at the pod writes it down. */
const STATUS = ["`status.reason`", ALLOCATIONS];

const IN_BOUNDS = `${EXPLAIN}, Bounds`;
const BOUNDS = ["`status.bounds.rules`", "`mbcas_bounds{reason}`"];

/** Places of bounds without an event. */
const UNREPORTED = [...BOUNDS, IN_BOUNDS];
const OTHER_BOUNDS = Object.fromEntries(
  Object.entries<Reason>(BOUND_REASONS).flatMap(([name, { quiet, about }]): [string, Places][] => {
    if (quiet) return [[name, UNREPORTED]];
    const event = `event \`CPULimitBounded\` of the ${about}`;
    return about === undefined ? [] : [[name, [...BOUNDS, event, IN_BOUNDS]]];
  }),
);

/** A pod outside of the market has no status for long: what it had comes back. */
const OUTSIDE = [
  `${EXPLAIN}, Not in the market`,
  "event `CPULimitsRestored`",
  "`mbcas_restores_total{cause}`",
  RESIZES,
];

/** The API server's answers to a resize. */
const REFUSED = [...STATUS, HELD, RESIZES, "event `CPULimitFailed`", CONTROLLER];

/** Mostly foreseen; what only the server knows is a refusal. */
const FORESEEN = [...OUTSIDE, ...STATUS, HELD, "event `CPULimitFailed`"];

const HOLDS = "event `CPULimitHeld`";

/** The server may refuse a resize, or take it and leave it to the kubelet to say that it can't. */
const FORESEEN_OR_REPORTED = [...FORESEEN, HOLDS];
const REFUSED_OR_REPORTED = [...REFUSED, HOLDS];

const ENFORCEMENT: ListPlaces<EnforcementReason> = {
  usual: [...STATUS, HELD, HOLDS, CONTROLLER],
  others: {
    Applied: [...STATUS, "event `CPULimitApplied`", CONTROLLER],
    Restored: [...STATUS, "event `CPULimitsRestored`", CONTROLLER],
    AgentSilent: ["`status.message` of `Restored`", "event `CPULimitsRestored`", RESIZES],
    Waiting: [...STATUS, HELD, CONTROLLER],
    BoundsStale: [...STATUS, HELD, CONTROLLER],
    RateLimited: [...STATUS, HELD, HOLDS, "`mbcas_resize_rate_bottleneck`", CONTROLLER],
    OutOfSync: [...STATUS, HELD, CONTROLLER],
    PodGone: ["`restore` and `resize`"],
    MarketOff: OUTSIDE,
    OptedOut: OUTSIDE,
    NamespaceExcluded: OUTSIDE,
    NotOptedIn: OUTSIDE,
    NotBurstable: OUTSIDE,
    NoCPULimit: OUTSIDE,
    VPAConflict: OUTSIDE,
    HPAConflict: OUTSIDE,
    KubeletTooOld: FORESEEN_OR_REPORTED,
    WindowsPod: FORESEEN_OR_REPORTED,
    StaticPod: FORESEEN_OR_REPORTED,
    DeviceClaims: FORESEEN,
    PodLevelResources: REFUSED_OR_REPORTED,
    QoSWouldChange: REFUSED_OR_REPORTED,
    Refused: [...REFUSED, "`restore` and `resize`"],
    NodeCapacity: REFUSED_OR_REPORTED,
    AdmissionDenied: REFUSED,
    RestoreBlocked: [...REFUSED, HOLDS, "`restore`"],
    LimitRange: REFUSED_OR_REPORTED,
    QuotaExceeded: REFUSED_OR_REPORTED,
  },
};

const WORKLOADS = "`status.workloads[].reason` of the OptimizationPolicy";
const SKIPPED = "`mbcas_rightsizing_workloads_skipped{reason}`";

const RIGHTSIZING: ListPlaces<RightsizingReason> = {
  usual: [WORKLOADS, SKIPPED, "event `WorkloadSkipped`"],
  others: {
    Outweighed: [WORKLOADS],
    RecommendOnly: [WORKLOADS, "event `RecommendationGenerated`"],
    DryRun: [WORKLOADS, "condition `DryRun`", "event `RecommendationGenerated`"],
    RBACError: [WORKLOADS, SKIPPED, "event `RBACError`"],
    AdmissionDenied: [WORKLOADS, SKIPPED, "event `UpdateFailed`"],
    ServerBusy: [WORKLOADS, "event `UpdateFailed`"],
    MetricsMissing: [WORKLOADS, SKIPPED, "event `MetricsCollectionFailed`"],
    ProviderUnavailable: [WORKLOADS, "condition `Ready`", "event `MetricsCollectionFailed`"],
    UnreadableTemplate: [WORKLOADS, SKIPPED, "event `DiscoveryFailed`"],
    VPANotPublished: ["event `UpdateFailed` of the OptimizationPolicy"],
    UnsafeMemoryDecrease: [WORKLOADS, SKIPPED, "event `UnsafeMemoryDecrease`"],
    InPlaceResizeUnavailable: [WORKLOADS, SKIPPED, "event `InPlaceResizeUnavailable`"],
    RestartPolicy: [WORKLOADS, SKIPPED, "event `InPlaceResizeUnavailable`"],
    MemoryLimitLocked: [WORKLOADS, SKIPPED, "event `InPlaceResizeUnavailable`"],
  },
};

/** By list, as in `REASON_LISTS`. */
export const REASON_PLACES: {
  readonly market: ListPlaces<MarketReason>;
  readonly bounds: ListPlaces<BoundReason>;
  readonly enforcement: ListPlaces<EnforcementReason>;
  readonly events: ListPlaces<EventReason>;
  readonly rightsizing: ListPlaces<RightsizingReason>;
  readonly rightsizingEvents: ListPlaces<RightsizingEventReason>;
  readonly policies: ListPlaces<PolicyReason>;
  readonly placement: ListPlaces<PlacementReason>;
  readonly placementEvents: ListPlaces<PlacementEventReason>;
  readonly versions: ListPlaces<VersionReason>;
} & Readonly<Record<keyof typeof REASON_LISTS, unknown>> = {
  market: {
    usual: [
      "`spec.market.reason`",
      "event `CPULimitApplied`",
      RESIZES,
      `${EXPLAIN}, Desired`,
      "`top`",
    ],
    others: {
      SchedExt: ["`mbcas_node_limits_held{reason}`", `${EXPLAIN}, Blocked`, "`top`"],
      QuotaOff: [
        "`spec.market.reason`",
        "event `CPULimitHeld` of the node",
        "`mbcas_pod_unenforced_limits`",
        "where the limit goes back to the own one: event `CPULimitApplied`, `mbcas_resizes_total{reason}`",
        `${EXPLAIN}, Desired`,
        "`top`",
      ],
      QuotaBack: [
        "`spec.market.reason`",
        "event `CPULimitApplied` of the node",
        `${EXPLAIN}, Desired`,
        "`top`",
      ],
    },
  },
  bounds: {
    usual: [...BOUNDS, "event `CPULimitBounded`", IN_BOUNDS],
    others: { ...OTHER_BOUNDS, MetricMissing: [...UNREPORTED, "event `AnnotationIgnored`"] },
  },
  enforcement: ENFORCEMENT,
  events: {
    usual: ["event of the pod"],
    others: {
      CPULimitBounded: ["event of the pod, of its workload or of its node"],
      AnnotationIgnored: [
        "event of the object that carries the key: pod, workload, HPA or namespace",
      ],
    },
  },
  rightsizing: RIGHTSIZING,
  rightsizingEvents: {
    usual: ["event of the workload and of its OptimizationPolicy"],
    others: {
      OptimizationApplied: ["event of the workload and of its OptimizationPolicy", RESIZES],
      ValidationFailed: ["event of the OptimizationPolicy"],
    },
  },
  policies: {
    usual: ["condition `Ready`"],
    others: {
      RecordNotWritten: [
        "condition `Ready`",
        "event `UpdateFailed` of the OptimizationPolicy",
        "`mbcas_rightsizing_record_unwritten`",
      ],
      MetricsMissing: ["condition `MetricsMissing`"],
      MetricsPresent: ["condition `MetricsMissing`"],
      DryRun: ["condition `DryRun`"],
      Live: ["condition `DryRun`"],
    },
  },
  placement: {
    usual: [LOOKS, PLACEMENT],
    others: {
      KindNotPlaced: [LOOKS],
      // A workload without placement has no series.
      NamespaceProtected: [PLACEMENT],
      NamespaceNotSelected: [PLACEMENT],
      NamespaceOptedOut: [PLACEMENT],
      PlacementOff: [PLACEMENT],
      PlacementUntuned: [PLACEMENT],
      EvictionRate: [LOOKS],
    },
  },
  placementEvents: { usual: ["event of the workload"], others: {} },
  versions: { usual: ["event `CPULimitApplied`", RESIZES, ALLOCATIONS], others: {} },
};
