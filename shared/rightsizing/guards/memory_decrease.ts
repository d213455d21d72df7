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

/** A step of a policy that has no threshold, or hardly any, percent: values would follow each byte. */
const LEAST_STEP_PERCENT = 5;

/**
 * Keeps memory from being lowered below the recent peak + 15 %: what would be lowered further is lowered to
 * that value instead, see `safeMemory()`, unless it is within two of a lift's steps above it: the next peak
 * would lift it again. Below its limit the kernel kills a container; below its request the kubelet evicts it
 * before others when the node runs short. A limit where there was none lowers it, too. Where the peak is not
 * known, no decrease is safe. A peak of 500 MiB lets memory go down to 575 MiB.
 */
export function unsafeMemoryDecrease(
  snapshot: RightsizingSnapshot,
  wanted: WantedResources,
): GuardVerdict {
  return withoutUnsafe(snapshot, wanted, { lowersToSafe: true });
}

/**
 * As `unsafeMemoryDecrease()`, for pods that are to have what is in force: another value than that one
 * would be a new decision, so a pod keeps what is not safe to take away.
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
 * The pair without what is unsafe, request and limit each for itself: a raise stays, a decrease goes no
 * further than to the recent peak + 15 %, and what is below that already is left as it is. Where the request
 * is lowered less than asked, a limit that was asked above it keeps its ratio to it, as far as that is no
 * raise anywhere.
 *
 * With 4096 MiB of both present and a peak of 1060 MiB, 1018 and 1120 MiB become 1219 and 1341 MiB.
 */
export function safeMemory(
  asked: ResourcePair,
  { present, peak, thresholdPercent }: {
    /** The containers' present values, one at least. */
    readonly present: readonly ResourcePair[];
    /** The recent one, bytes; undefined: not known. */
    readonly peak: number | undefined;
    /** A value within two lifts by this threshold above the safe one stays. @default {nothing does} */
    readonly thresholdPercent?: number;
  },
): ResourcePair {
  const least = leastSafeMemory(peak ?? Infinity);
  const most = least *
    (thresholdPercent === undefined ? 1 : (1 + stepOf(thresholdPercent) / 100) ** 2);
  const had = (side: PairSide): readonly number[] =>
    present.map((one) => one[side] ?? UNSET[side]);
  const safe = (side: PairSide): number | undefined => {
    const value = asked[side];
    if (value === undefined || value >= least) return value;
    if (had(side).every((one) => one <= value)) return value;
    if (peak === undefined) return undefined;
    return Math.max(...had(side).map((one) => one > most ? least : one));
  };
  const [request, safeLimit] = [safe("request"), safe("limit")];
  // A limit has no ratio to a request of 0.
  const ratio = (asked.limit ?? 0) / (asked.request || Infinity);
  const follows = request === asked.request ? 0 : Math.floor((request ?? 0) * ratio);
  const limit = safeLimit && Math.max(safeLimit, Math.min(follows, ...had("limit")));
  const moved = (side: PairSide, value: number | undefined): number | undefined =>
    value !== asked[side] && had(side).every((one) => one === value) ? undefined : value;
  return pair(moved("request", request), moved("limit", limit));
}

/** The effective value of a container without one. */
const UNSET: Readonly<Record<PairSide, number>> = { request: 0, limit: Infinity };

/** The least memory that is safe beside this peak, bytes: computed in whole numbers. */
export function leastSafeMemory(peak: number): number {
  return Math.ceil(peak * (100 + MARGIN_PERCENT) / 100);
}

/** Where a lift beside this peak goes to, bytes: a step above what is safe. */
export function steppedMemory(
  peak: number,
  { updateStrategy: { changeThresholdPercent } }: Pick<PolicySpec, "updateStrategy">,
): number {
  return Math.ceil(leastSafeMemory(peak) * (100 + stepOf(changeThresholdPercent)) / 100);
}

/** Percent. */
function stepOf(thresholdPercent: number): number {
  return Math.max(thresholdPercent, LEAST_STEP_PERCENT);
}

/** The least value that is lower than what is there; Infinity where none is. */
export function loweredTo(present: ResourcePair, { request, limit }: ResourcePair): number {
  return Math.min(
    request !== undefined && request < (present.request ?? 0) ? request : Infinity,
    limit !== undefined && limit < (present.limit ?? Infinity) ? limit : Infinity,
  );
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
export function liftMemory(
  entry: PairEntry,
  { peak, author, policy }: {
    /** The recent one, bytes; undefined: not known, then nothing is lifted. */
    readonly peak: number | undefined;
    /** The author's values. */
    readonly author: Resources;
    readonly policy: Pick<PolicySpec, "bounds" | "updateStrategy">;
  },
): PairEntry {
  const { resource, pair: { request, limit } } = entry;
  if (resource === "cpu" || peak === undefined) return entry;
  const least = leastSafeMemory(peak);
  const limitMemory = author.limits.memory ?? Infinity;
  const requestMemory = author.requests.memory ?? author.limits.memory ?? 0;
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
