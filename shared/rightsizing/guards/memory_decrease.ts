/**
 * Guard: could this decrease cause an OOM kill?
 *
 * @module
 */
import type { Resources } from "../../api/pod.ts";
import { withoutPairs } from "../../resize/run_checks.ts";
import {
  formatAmount,
  pair,
  type PairEntry,
  type PairSide,
  type ResourcePair,
  type WantedResources,
} from "../../resize/inputs/resources.ts";
import { pairIn } from "../../resize/inputs/subject.ts";
import type { PolicySpec } from "../policy_spec.ts";
import { methodFor, presentSubjects } from "./method.ts";
import type { GuardVerdict, RightsizingSnapshot } from "./rightsizing_snapshot.ts";

/** The least margin above the recent peak, percent of it. */
const MARGIN_PERCENT = 15;

/** The least step of a lift, percent: with a smaller threshold, values would follow each byte. */
const LEAST_STEP_PERCENT = 5;

/**
 * Keeps memory from being lowered below the recent peak + 15 %: a further decrease goes to that value instead, see
 * `safeMemory()`. A present value within two steps of a lift above it stays, as the next peak would lift it again.
 * Above its limit the kernel kills a container; above its request the kubelet evicts it before others when the
 * node runs short. A limit where there was none is a decrease, too. Where the peak is not known, no decrease is
 * safe. A peak of 500 MiB lets memory go down to 575 MiB.
 */
export function unsafeMemoryDecrease(
  snapshot: RightsizingSnapshot,
  wanted: WantedResources,
): GuardVerdict {
  return withoutUnsafe(snapshot, wanted, { lowersToSafe: true });
}

/**
 * As `unsafeMemoryDecrease()`, for pods that lack the values in force. Another value than these would be a new
 * decision, so memory that is not safe to lower stays as it is.
 */
export function unsafeInForce(
  snapshot: RightsizingSnapshot,
  wanted: WantedResources,
): GuardVerdict {
  return withoutUnsafe(snapshot, wanted, { lowersToSafe: false });
}

function withoutUnsafe(
  snapshot: RightsizingSnapshot,
  wanted: WantedResources,
  { lowersToSafe }: { readonly lowersToSafe: boolean },
): GuardVerdict {
  const subjects = presentSubjects(snapshot, methodFor(snapshot, wanted));
  const { changeThresholdPercent: thresholdPercent } = snapshot.policy.updateStrategy;
  return withoutPairs(wanted, "UnsafeMemoryDecrease", {
    against: (entry: PairEntry) => {
      const { container, resource, pair: asked } = entry;
      if (resource !== "memory") return undefined;
      const peak = snapshot.memoryPeaks.get(container);
      const present = subjects.flatMap((subject) => pairIn(subject, entry) ?? []);
      const lowered = Math.min(...present.map((one) => loweredTo(one, asked)));
      const least = leastSafeMemory(peak ?? Infinity);
      if (lowered === Infinity || lowered >= least) return undefined;
      const why = peak === undefined
        ? "its recent peak is not known"
        : `its recent peak was ${formatAmount("memory", peak)}, and the least safe value is ` +
          formatAmount("memory", least);
      const problem = `${container} to ${formatAmount("memory", lowered)}: ${why}`;
      const safePeak = lowersToSafe ? peak : undefined;
      return { problem, rest: safeMemory(asked, { present, peak: safePeak, thresholdPercent }) };
    },
  });
}

/**
 * The safe part of a pair, for request and limit separately: a raise stays, a decrease goes no further than to
 * the recent peak + 15 %, and a present value below that stays. Where the request is lowered less than asked, a
 * limit that was asked above it keeps its ratio to it, unless that would raise a limit.
 *
 * With 4096 MiB of both present and a peak of 1060 MiB, 1018 and 1120 MiB become 1219 and 1341 MiB.
 */
export function safeMemory(
  asked: ResourcePair,
  { present, peak, thresholdPercent }: {
    /** The containers' present values, one at least. */
    readonly present: readonly ResourcePair[];
    /** Recent memory peak, bytes; undefined: not known. */
    readonly peak: number | undefined;
    /** Present values within two steps of this threshold above the safe one stay. @default {none does} */
    readonly thresholdPercent?: number;
  },
): ResourcePair {
  const least = leastSafeMemory(peak ?? Infinity);
  const unchangedUpTo = least *
    (thresholdPercent === undefined ? 1 : (1 + stepOf(thresholdPercent) / 100) ** 2);
  const presentValues = (side: PairSide): readonly number[] =>
    present.map((one) => one[side] ?? UNSET[side]);
  const safe = (side: PairSide): number | undefined => {
    const value = asked[side];
    if (value === undefined || value >= least) return value;
    if (presentValues(side).every((one) => one <= value)) return value;
    if (peak === undefined) return undefined;
    return Math.max(...presentValues(side).map((one) => one > unchangedUpTo ? least : one));
  };
  const [request, safeLimit] = [safe("request"), safe("limit")];
  // A limit has no ratio to a request of 0.
  const ratio = (asked.limit ?? 0) / (asked.request || Infinity);
  const proportional = request === asked.request ? 0 : Math.floor((request ?? 0) * ratio);
  const limit = safeLimit && Math.max(safeLimit, Math.min(proportional, ...presentValues("limit")));
  const changed = (side: PairSide, value: number | undefined): number | undefined =>
    value !== asked[side] && presentValues(side).every((one) => one === value) ? undefined : value;
  return pair(changed("request", request), changed("limit", limit));
}

/** The effective request and limit of a container without one. */
const UNSET: Readonly<Record<PairSide, number>> = { request: 0, limit: Infinity };

/** The least memory that is safe beside this peak, bytes: computed in whole numbers. */
export function leastSafeMemory(peak: number): number {
  return Math.ceil(peak * (100 + MARGIN_PERCENT) / 100);
}

/** The value that a lift sets for this peak, bytes: a step above the least safe one. */
export function steppedMemory(
  peak: number,
  { updateStrategy: { changeThresholdPercent } }: Pick<PolicySpec, "updateStrategy">,
): number {
  return Math.ceil(leastSafeMemory(peak) * (100 + stepOf(changeThresholdPercent)) / 100);
}

/** The step of a lift, percent. */
function stepOf(thresholdPercent: number): number {
  return Math.max(thresholdPercent, LEAST_STEP_PERCENT);
}

/** The lowest value of the pair that is below the present one; Infinity where none is. */
export function loweredTo(present: ResourcePair, { request, limit }: ResourcePair): number {
  return Math.min(
    request !== undefined && request < (present.request ?? 0) ? request : Infinity,
    limit !== undefined && limit < (present.limit ?? Infinity) ? limit : Infinity,
  );
}

/**
 * Lifts memory to the recent peak + 15 %, though not above the author's values: with less, a pod could be killed
 * in the middle of a rollout, which then could not end, while guards hold the raise.
 *
 * Each lift resizes every pod, outside of the cooldown. So request and limit are both lifted by the policy's
 * threshold more: a peak that creeps must grow by as much before the next lift, and a peak that falls by a little
 * causes no decrease. With a threshold of 10 % and a peak of 500 MiB, 570 MiB become 632.5 MiB, which last until
 * the peak is above 550 MiB. The threshold alone does not lift a request above the policy's bound.
 */
export function liftMemory(
  entry: PairEntry,
  { peak, author, policy }: {
    /** Recent memory peak, bytes; undefined: not known, and nothing is lifted. */
    readonly peak: number | undefined;
    readonly author: Resources;
    readonly policy: Pick<PolicySpec, "bounds" | "updateStrategy">;
  },
): PairEntry {
  const { resource, pair: { request, limit } } = entry;
  if (resource === "cpu" || peak === undefined) return entry;
  const least = leastSafeMemory(peak);
  const limitMemory = author.limits.memory ?? Infinity;
  const requestMemory = author.requests.memory ?? author.limits.memory ?? 0;
  const isShort = (value: number | undefined, written: number): boolean =>
    value !== undefined && value < Math.min(least, written);
  if (!isShort(request, requestMemory) && !isShort(limit, limitMemory)) return entry;
  const { max } = policy.bounds.memory;
  const step = steppedMemory(peak, policy);
  const wanted = least <= max ? Math.min(step, max) : step;
  const lift = (value: number | undefined, written: number): number | undefined =>
    value === undefined ? undefined : Math.max(value, Math.min(wanted, written));
  return { ...entry, pair: pair(lift(request, requestMemory), lift(limit, limitMemory)) };
}
