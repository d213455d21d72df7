/**
 * The reasons as Markdown.
 *
 * @module
 */
import type { Reason } from "../shared/api/reasons/reason.ts";
import { REASON_LISTS } from "../shared/api/reasons/reasons.ts";
import { type ListPlaces, REASON_PLACES } from "./reason_places.ts";

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

Each change of a limit, and each limit that stays, carries one of these reasons; there are no others. In
objects, events, metrics and what \`kubectl coalloc\` prints they mean the same.

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
