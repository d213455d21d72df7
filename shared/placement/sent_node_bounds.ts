/**
 * Where the nodes of a pod are bounded by what was sent for admission.
 *
 * @module
 */
import type { SentObject } from "../admission/admission_review.ts";
import { isMembers, membersOf, textIn, textsIn } from "../admission/sent_members.ts";
import {
  HOSTNAME,
  type NodeBounds,
  type NodeRequirement,
  type NodeTerm,
  selectorBounds,
} from "./bound_pod.ts";

const OPERATORS: readonly NodeRequirement["operator"][] = [
  "In",
  "NotIn",
  "Exists",
  "DoesNotExist",
  "Gt",
  "Lt",
];

/** The host or pool that its node selector names, and the required node affinity; none where the pod has neither. */
export function sentNodeBounds({ spec }: SentObject): readonly NodeBounds[] {
  const { affinity, nodeSelector } = membersOf(spec);
  const named = selectorBounds(textsIn(nodeSelector));
  const { nodeAffinity } = membersOf(affinity);
  const required = membersOf(nodeAffinity)["requiredDuringSchedulingIgnoredDuringExecution"];
  if (!isMembers(required)) return named;
  const terms = listIn(required["nodeSelectorTerms"]).map(termOf);
  return [...named, { what: "its node affinity", terms }];
}

function termOf(raw: unknown): NodeTerm {
  const { matchExpressions, matchFields } = membersOf(raw);
  const requirements = [
    ...listIn(matchExpressions).map(membersOf),
    // The one field that terms may name, a node's name, stands for its host.
    ...listIn(matchFields).map((one) => ({ ...membersOf(one), key: HOSTNAME })),
  ];
  return requirements.flatMap(({ key, operator, values }: SentObject) => {
    const known = OPERATORS.find((word) => word === operator);
    if (known === undefined) return [];
    return [{
      key: textIn(key) ?? "",
      operator: known,
      values: listIn(values).filter((value) => typeof value === "string"),
    }];
  });
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
