/**
 * What a policy should know of where it acts: one that is out of reach does nothing, without a fault.
 *
 * @module
 */
import { type PolicyReach, reachesNamespace } from "./policy_scope.ts";
import type { PolicySelector } from "./policy_spec.ts";

/** Namespaces that a sentence names. */
const MOST_NAMED = 5;

/**
 * A sentence where the selector asks for other namespaces than the policy acts on, or where it matches
 * nothing; undefined where there is nothing to say. It hangs on the policy's own words alone: who may
 * write a policy in one namespace need not know which others there are.
 */
export function scopeNote(
  { namespaces, namespaceSelector }: PolicySelector,
  { matched, ...reach }: PolicyReach & {
    /** How many workloads it matches. */
    readonly matched: number;
  },
): string | undefined {
  const { policyNamespace: own } = reach;
  const beyond = new Set(namespaces?.allow.filter((name) => !reachesNamespace(name, reach)));
  const isBound = !reach.policyNamespaces.includes(own);
  const words = [
    ...(beyond.size === 0 ? [] : [`its selector asks for ${named([...beyond])}`]),
    ...(isBound && namespaceSelector !== undefined ? ["it has a namespaceSelector"] : []),
    ...(matched === 0 ? ["it matches no workload"] : []),
  ];
  if (words.length === 0) return undefined;
  const only = `; it acts on its own namespace ${own} alone, since the controller's setting ` +
    "policyNamespaces does not have that";
  return `${words.join(", ")}${isBound ? only : ""}`;
}

function named(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  const told = names.slice(0, MOST_NAMED).join(", ");
  return more > 0 ? `${told} and ${more} more` : told;
}
