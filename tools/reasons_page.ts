/**
 * The reasons as Markdown.
 *
 * @module
 */
import type { Reason } from "../shared/api/reasons/reason.ts";
import { REASON_LISTS } from "../shared/api/reasons/reasons.ts";

type ListName = keyof typeof REASON_LISTS;

/** Heading of each list, and the sentences that say what its reasons explain, and where they are seen. */
const TITLES: Readonly<Record<ListName, readonly [title: string, text: string]>> = {
  market: [
    "The market's",
    "Why the agent wants another limit for the pod: in `spec.market.reason`, events `CPULimitApplied`,\n" +
    "`mbcas_resizes_total{reason}`, `explain` and `top`. Where limits are held instead, it is in\n" +
    "`mbcas_node_limits_held{reason}`.",
  ],
  bounds: [
    "Of bounds",
    "What sets floor, ceiling and hold of a pod's limits: in `status.bounds.rules`, `mbcas_bounds{reason}`,\n" +
    "`explain`, and events `CPULimitBounded` of the pod, of its workload or of its node.",
  ],
  enforcement: [
    "Of enforcement",
    "Why the controller did or did not do what the agent wants: in `status.reason`,\n" +
    "`mbcas_allocations{reason}` and `explain`. Why a pod takes no part, and so has no status: in `explain`.\n" +
    "What is held is in `mbcas_held_total{reason}` and events `CPULimitHeld`, what a server refuses in\n" +
    "`mbcas_resizes_total{reason}` and events `CPULimitFailed`, and what takes a pod out in\n" +
    "`mbcas_restores_total{cause}` and events `CPULimitsRestored`.",
  ],
  events: ["Of events", "`kubectl events --for pod/NAME`, at most one of a kind in five minutes."],
  rightsizing: [
    "Of rightsizing",
    "Why an OptimizationPolicy does not apply a recommendation, or not all of it: in\n" +
    "`status.workloads[].reason` of the policy, `mbcas_rightsizing_workloads_skipped{reason}`, and events of\n" +
    "the workload and the policy.",
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
    "Why a workload's replicas are not placed on spot and on-demand nodes, or not moved: in\n" +
    "`kubectl coalloc placement` and `mbcas_placement_reconciliations_total{action}`.",
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
  const head = ["Reason", "What it means", "What to do"];
  const rows = Object.entries<Reason>(REASON_LISTS[name]).map(([reason, { means, remedy }]) =>
    row([`\`${reason}\``, escaped(means), escaped(remedy)])
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
