/**
 * The event that the rate of resizes is the bottleneck.
 *
 * @module
 */
import type { MarketConfig } from "../../config.ts";
import type { PodSnapshot } from "../pod_snapshot.ts";
import type { FairQueue } from "../pace/fair_queue.ts";
import type { GatedEvent } from "./event_gate.ts";
import { namespaceSubject } from "../bounds/annotation_warning.ts";

/** One event for all pods of the namespace: each of them waits for the same rate. */
export function bottleneckEvent(
  { namespace }: Pick<PodSnapshot, "namespace">,
  { turns, config }: {
    readonly turns: Pick<FairQueue, "waiting">;
    readonly config: Pick<MarketConfig, "maxResizesPerSecond">;
  },
): Pick<GatedEvent, "type" | "reason" | "key" | "message" | "about"> {
  return {
    type: "Warning",
    reason: "CPULimitHeld",
    key: "RateLimited",
    message: `RateLimited: ${turns.waiting} resizes wait, more than ` +
      `controller.maxResizesPerSecond, ${config.maxResizesPerSecond}, lets through soon: the most ` +
      "urgent go first, and small decreases are put off",
    ...(namespace === undefined ? {} : { about: namespaceSubject(namespace) }),
  };
}
