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
    "Market",
    "These reasons explain why the agent sets another desired limit for the pod. They are in `spec.market.reason`, events\n" +
    "`CPULimitApplied`, `mbcas_resizes_total{reason}`, `explain` and `top`; for limits that do not move, in\n" +
    "`mbcas_node_limits_held{reason}`.",
  ],
  bounds: [
    "Bounds",
    "These reasons explain the floor, the ceiling and the hold of a pod's limits. They are in\n" +
    "`status.bounds.rules`, `mbcas_bounds{reason}`, `explain`, and events `CPULimitBounded` of the pod, its\n" +
    "workload or its node.",
  ],
  enforcement: [
    "Enforcement",
    "These reasons explain why the controller did or did not apply the desired limits. They are in `status.reason`,\n" +
    "`mbcas_allocations{reason}` and `explain`; a pod that takes no part has no status, and its\n" +
    "reason is only in `explain`. Blocked changes are also in `mbcas_held_total{reason}` and events `CPULimitHeld`, refusals of\n" +
    "the API server in `mbcas_resizes_total{reason}` and events `CPULimitFailed`, and causes for\n" +
    "which a pod leaves the market in `mbcas_restores_total{cause}` and events `CPULimitsRestored`.",
  ],
  events: [
    "Events of pods",
    "`kubectl events --for pod/NAME` shows them. A pod gets at most one event of a kind in five minutes.",
  ],
  rightsizing: [
    "Rightsizing",
    "These reasons explain why an OptimizationPolicy applies a recommendation in part or not at all. They are in\n" +
    "`status.workloads[].reason` of the policy, `mbcas_rightsizing_workloads_skipped{reason}`, and events of\n" +
    "the workload and the policy.",
  ],
  rightsizingEvents: [
    "Events of rightsizing",
    "`kubectl events --for deployment/NAME` shows them, and the same command for the policy. Each message\n" +
    "ends with a remedy.",
  ],
  policies: [
    "Conditions of policies",
    "`kubectl describe optpol NAME` shows whether a policy is valid and its source of metrics answers.",
  ],
  placement: [
    "Placement",
    "These reasons explain why the replicas of a workload are not placed on spot and on-demand nodes, or not moved.\n" +
    "They are in `kubectl coalloc placement` and `mbcas_placement_reconciliations_total{action}`.",
  ],
  placementEvents: [
    "Events of placement",
    "`kubectl events --for deployment/NAME` shows what was moved, and what blocks moves.",
  ],
  versions: [
    "Other versions",
    "These reasons appear during an upgrade, or while some parts still run another version.",
  ],
};

const INTRODUCTION = `# Reasons

<!-- Made from the lists in shared/api/reasons by \`deno task generate:docs\`; changes here are lost. -->

Each limit that changes, and each limit that does not, has one of these reasons. A reason means the same
in objects, events, metrics and the output of \`kubectl coalloc\`. If an object has a reason of a newer
version, all parts show it unchanged, and metrics count it as \`OtherVersion\`.

\`kubectl coalloc explain POD\` shows all reasons that apply to a pod, with their numbers. Below, \`spec\`
and \`status\` are fields of its PodAllocation (\`kubectl get podallocations -A\`). \`status.reason\` is also
the reason of its condition \`Applied\`. After a metric, the label that has the reason is in braces.
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
