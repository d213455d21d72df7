/**
 * Terms that say on which nodes a pod may run, or from which a volume is reached.
 *
 * @module
 */
import { HOSTNAME, type NodeRequirement, type NodeTerm } from "../../shared/placement/bound_pod.ts";
import { listOf, objectOf, textOf } from "./json_fields.ts";

const OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"] as const;

/**
 * A `v1.NodeSelector`; undefined where there is none. The one field that terms may name, a node's name,
 * stands for its host. A term that can't be read is empty, as one that no node matches.
 */
export function parseNodeTerms(nodeSelector: unknown): readonly NodeTerm[] | undefined {
  const { nodeSelectorTerms } = objectOf(nodeSelector);
  if (nodeSelectorTerms === undefined || nodeSelectorTerms === null) return undefined;
  return listOf(nodeSelectorTerms).map(objectOf).map(({ matchExpressions, matchFields }) => {
    const term = [
      ...listOf(matchExpressions).map((raw) => parseRequirement(raw)),
      ...listOf(matchFields).map((raw) => parseRequirement(raw, HOSTNAME)),
    ];
    return term.every((one) => one !== undefined) ? term : [];
  });
}

function parseRequirement(raw: unknown, instead?: string): NodeRequirement | undefined {
  const { key, operator, values } = objectOf(raw);
  const [name, known] = [instead ?? textOf(key), OPERATORS.find((one) => one === operator)];
  if (name === undefined || known === undefined) return undefined;
  // An empty text is a value, too.
  return { key: name, operator: known, values: listOf(values).filter(isText) };
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
