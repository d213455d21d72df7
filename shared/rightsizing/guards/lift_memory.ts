/**
 * Memory in force that a recent peak has come too close to.
 *
 * @module
 */
import type { Resources } from "../../api/pod.ts";
import type { PolicySpec } from "../policy_spec.ts";
import { leastSafeMemory, steppedMemory } from "./memory_decrease.ts";
import { pair, type PairEntry } from "./wanted_resources.ts";

/** What decides how far. */
export interface LiftFacts {
  /** The recent one, bytes; undefined: not known, then nothing is lifted. */
  readonly peak: number | undefined;
  /** What the author has given. */
  readonly author: Resources;
  readonly policy: Pick<PolicySpec, "bounds" | "updateStrategy">;
}

/**
 * Memory is not lower than the recent peak + 15 %, as far as the author has given more: below that a pod
 * would be killed in the middle of a rollout, which then could not end, while the raise is held.
 *
 * Each change is a resize of every pod, outside of the cooldown. So what is lifted is lifted by the
 * policy's threshold more, request and limit at once: a peak that creeps has to grow by as much before the
 * next lift, and one that falls back by a little brings no decrease that is worth it. With a threshold of
 * 10 % and a peak of 500 MiB, 570 MiB become 632.5 MiB, which last until the peak is above 550 MiB. Not
 * beyond the policy's bound for the sake of the step alone.
 */
export function liftMemory(entry: PairEntry, { peak, author, policy }: LiftFacts): PairEntry {
  const { resource, pair: { request, limit } } = entry;
  if (resource === "cpu" || peak === undefined) return entry;
  const least = leastSafeMemory(peak);
  const { limitMemory = Infinity, requestMemory = author.limitMemory ?? 0 } = author;
  const isShort = (value: number | undefined, own: number): boolean =>
    value !== undefined && value < Math.min(least, own);
  if (!isShort(request, requestMemory) && !isShort(limit, limitMemory)) return entry;
  const { max } = policy.bounds.memory;
  const step = steppedMemory(peak, policy);
  const wanted = least <= max ? Math.min(step, max) : step;
  const to = (value: number | undefined, own: number): number | undefined =>
    value === undefined ? undefined : Math.max(value, Math.min(wanted, own));
  return { ...entry, pair: pair(to(request, requestMemory), to(limit, limitMemory)) };
}
