/**
 * Which changes of a workload concern its pods.
 *
 * @module
 */
import { isRollingOut, type Workload } from "../../../shared/api/workload.ts";
import type { Informer } from "../../../shared/control/informer.ts";
import type { Texts } from "../../../shared/resize/inputs/switches.ts";
import { createChangeMemory } from "./change_memory.ts";

/**
 * See {@linkcode createChangeMemory}: it rolls out or no longer, or says something else to the market.
 * Its status changes with each pod that comes, goes, or becomes Ready, its annotations of rightsizing
 * with each recommendation.
 */
export function createWorkloadMemory(
  copy: Pick<Informer<Workload>, "all" | "get">,
): (key: string) => boolean {
  return createChangeMemory(copy, factsOf);
}

function factsOf({ metadata: { labels, annotations }, rollout }: Workload): string {
  return JSON.stringify([
    isRollingOut(rollout),
    marketTexts(labels),
    marketTexts(annotations),
  ]);
}

/** Labels are the user's, and most of them no business of the market's. */
function marketTexts(texts: Texts = {}): readonly (readonly [string, string | undefined])[] {
  return Object.entries(texts).filter(([name]) => name.startsWith("mbcas.io/"));
}
