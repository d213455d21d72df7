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
    "These reasons explain why the agent wants another limit for the pod. They are in `spec.market.reason`, events\n" +
    "`CPULimitApplied`, `mbcas_resizes_total{reason}`, `explain` and `top`; for a limit that is held, in\n" +
    "`mbcas_node_limits_held{reason}`.",
  ],
  bounds: [
    "Bounds",
    "These reasons explain what sets floor, ceiling and hold of a pod's limits. They are in\n" +
    "`status.bounds.rules`, `mbcas_bounds{reason}`, `explain`, and events `CPULimitBounded` of the pod, its\n" +
    "workload or its node.",
  ],
  enforcement: [
    "Enforcement",
    "These reasons explain why the controller did or did not do what the agent wants. They are in `status.reason`,\n" +
    "`mbcas_allocations{reason}` and `explain`; for a pod that takes no part, and so has no status, only in\n" +
    "`explain`. Held changes are also in `mbcas_held_total{reason}` and events `CPULimitHeld`, a server's\n" +
    "refusals in `mbcas_resizes_total{reason}` and events `CPULimitFailed`, and causes for which a pod\n" +
    "leaves the market in `mbcas_restores_total{cause}` and events `CPULimitsRestored`.",
  ],
  events: [
    "Events of pods",
    "`kubectl events --for pod/NAME` shows them, at most one of a kind in five minutes.",
  ],
  rightsizing: [
    "Rightsizing",
    "These reasons explain why an OptimizationPolicy applies a recommendation in part or not at all. They are in\n" +
    "`status.workloads[].reason` of the policy, `mbcas_rightsizing_workloads_skipped{reason}`, and events of\n" +
    "the workload and the policy.",
  ],
  rightsizingEvents: [
    "Events of rightsizing",
    "`kubectl events --for deployment/NAME` shows them, and the same for the policy. Each message ends with\n" +
    "a suggestion.",
  ],
  policies: [
    "Conditions of policies",
    "`kubectl describe optpol NAME` shows whether a policy can be followed.",
  ],
  placement: [
    "Placement",
    "These reasons explain why a workload's replicas are not placed on spot and on-demand nodes, or not moved. They\n" +
    "are in `kubectl coalloc placement` and `mbcas_placement_reconciliations_total{action}`.",
  ],
  placementEvents: [
    "Events of placement",
    "`kubectl events --for deployment/NAME` shows what was moved, and what blocks moves.",
  ],
  versions: [
    "Other versions",
    "These reasons appear during an upgrade, or after one that has not reached all parts.",
  ],
};

const INTRODUCTION = `# Reasons

<!-- Made from the lists in shared/api/reasons by \`deno task generate:docs\`; changes here are lost. -->

Each change of a limit, and each limit that stays, has one of these reasons. A reason means the same in
objects, events, metrics and the output of \`kubectl coalloc\`. Objects may have reasons of a newer
version: all parts show those unchanged, and metrics count them as \`OtherVersion\`.

\`kubectl coalloc explain POD\` shows all reasons that hold for a pod, with their numbers. Below, \`spec\`
and \`status\` are those of its PodAllocation (\`kubectl get podallocations -A\`), and \`status.reason\` is
also the reason of its condition \`Applied\`. Braces after a metric name its label that has the reason.
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
