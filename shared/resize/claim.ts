/**
 * What a source wants of a pod, before any check.
 *
 * @module
 */
import type { ChangeReason } from "../api/reasons/reason_words.ts";

/**
 * Who wants it. Clocks own fields: the market owns `limits.cpu` of managed pods; rightsizing owns requests
 * and `limits.memory`, which go to pods in a patch of their own.
 */
export type IntentSource = "restore" | "manual" | "market";

/** One wish for one container. */
export interface Intent {
  readonly source: IntentSource;
  readonly container: string;
  /** Wanted `limits.cpu`, millicores. */
  readonly limitCPU: number;
  /** For events and the audit line. */
  readonly reason: ChangeReason;
}

/** Who wins where several want a value for the same container: the earlier. */
const PRECEDENCE: readonly IntentSource[] = ["restore", "manual", "market"];

/** The intents of a pod merged to one per container, by container name. */
export function arbitrate(intents: readonly Intent[]): ReadonlyMap<string, Intent> {
  const winners = new Map<string, Intent>();
  for (const source of PRECEDENCE) {
    for (const intent of intents) {
      if (intent.source === source && !winners.has(intent.container)) {
        winners.set(intent.container, intent);
      }
    }
  }
  return winners;
}
