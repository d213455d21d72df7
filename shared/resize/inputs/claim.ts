/**
 * What a source wants of a pod, before any check. Sources hand in claims; the actuator alone patches.
 *
 * @module
 */
import { NO_RESOURCES, type Resources, withResources } from "../../api/pod.ts";
import type { ChangeReason } from "../../api/reasons/reasons.ts";
import type { WantedResources } from "./resources.ts";

/**
 * Sources own fields: the market owns `limits.cpu` of the pods that it manages, with the request where
 * that moves with the limit; rightsizing owns requests and memory.
 */
export type ClaimSource = "restore" | "manual" | "market" | "rightsizing";

/** Wanted values of one container. */
export interface Claim {
  readonly source: ClaimSource;
  readonly podUID: string;
  readonly container: string;
  /** Values that are wanted; the others are left as they are. */
  readonly resources: Resources;
  /** For events and the audit line. */
  readonly reason: ChangeReason;
  /** When the source has decided it, ms since 1970. */
  readonly atMs: number;
}

/** Which source takes precedence where several claim a value of a container: the earlier. */
const PRECEDENCE: readonly ClaimSource[] = ["restore", "manual", "market", "rightsizing"];

/** The claims of a pod merged by field, so that each value is that of one source. */
export function mergeClaims(claims: readonly Claim[]): WantedResources {
  const merged = new Map<string, Resources>();
  for (const source of PRECEDENCE) {
    for (const claim of claims) {
      if (claim.source !== source) continue;
      const { container, resources } = claim;
      merged.set(container, withResources(resources, merged.get(container) ?? NO_RESOURCES));
    }
  }
  return merged;
}
