/**
 * Spot nodes may run short: then a workload falls back to on-demand for a while, and returns with care.
 *
 * @module
 */
import { type PlacedPod, secondOf } from "./placed_pod.ts";
import { cooldownAfter } from "./move_cooldown.ts";

/** `none`: the spec counts. `fallback`: new pods go on-demand. `returning`: one on spot at a time. */
export type ShortagePhase = "none" | "fallback" | "returning";

/** What a workload has met; absent where all is well. Plain data. */
export interface Shortage {
  /** The end of the fallback, ms since 1970; afterwards it returns. */
  readonly untilMs: number;
  /** When the fallback began, ms since 1970; absent where an earlier version has written it. */
  readonly sinceMs?: number;
  /** Fallbacks in a row, at least 1: each is twice as long as the one before. */
  readonly rounds: number;
  /** Pods that were made for spot in the fallback were made again; absent: not yet. */
  readonly remade?: Remade;
}

/** Pods of a fallback that were made again. */
export interface Remade {
  /** When, the last time, ms since 1970. */
  readonly atMs: number;
  /** How often up to then. */
  readonly count: number;
}

/** How patient we are, ms. */
export interface ShortageOptions {
  /** A pod that finds no spot node for so long says that they are short. @default {60000} */
  readonly scheduleTimeoutMs?: number;
  /** How long the first fallback takes. @default {120000} */
  readonly fallbackMs?: number;
  /** The longest that doubling leads to. @default {1800000} */
  readonly longestFallbackMs?: number;
}

/** What is seen of the workload. */
export interface ShortageInput {
  /** All its pods. */
  readonly pods: readonly PlacedPod[];
  /** True when each replica is there, Ready, and on the class it is to be on. */
  readonly asSpecified: boolean;
  readonly nowMs: number;
}

/** The phase at a time, ms since 1970. */
export function shortagePhase(shortage: Shortage | undefined, nowMs: number): ShortagePhase {
  if (shortage === undefined) return "none";
  return nowMs < shortage.untilMs ? "fallback" : "returning";
}

/**
 * Whether a fallback makes it again, elsewhere: it waits for a spot node, and was made before the fallback
 * began, or before it last made pods again, see {@linkcode remakeDueMs}. Whoever is seen in the look that does
 * so, at `nowMs`, was made before; later ones go by the second of their making.
 */
export function isLeftBehind(
  pod: PlacedPod,
  { shortage, nowMs }: {
    readonly shortage: Pick<Shortage, "sinceMs" | "remade">;
    readonly nowMs: number;
  },
): boolean {
  const { atMs } = lastMade(shortage);
  return isStranded(pod) && (nowMs === atMs || pod.createdAtMs < secondOf(atMs));
}

/** Pods that have found no spot node, though they were made in the fallback. */
export function unplacedInFallback(
  pods: readonly PlacedPod[],
  { shortage, nowMs }: { readonly shortage: Shortage | undefined; readonly nowMs: number },
): readonly PlacedPod[] {
  if (shortage === undefined || shortagePhase(shortage, nowMs) !== "fallback") return [];
  // Who is pinned to spot nodes comes back there whoever answers.
  return strandedPods(pods).filter((pod) =>
    pod.unschedulableSinceMs !== undefined && pod.pinned === undefined &&
    !isLeftBehind(pod, { shortage, nowMs })
  );
}

/**
 * When a fallback makes pods again that were made for spot in it, ms since 1970; Infinity where there are
 * none. It might be that nobody has answered for them in that moment alone, so that they go on-demand now: a
 * leader had just begun. Where nobody answers at all they come back as they are: from one time to the next
 * it takes twice as long, up to 3 min.
 */
export function remakeDueMs(
  pods: readonly PlacedPod[],
  { shortage, nowMs }: { readonly shortage: Shortage | undefined; readonly nowMs: number },
  { scheduleTimeoutMs = 60_000 }: Pick<ShortageOptions, "scheduleTimeoutMs"> = {},
): number {
  const since = unplacedInFallback(pods, { shortage, nowMs }).map((one) =>
    one.unschedulableSinceMs ?? Infinity
  );
  if (shortage === undefined) return Infinity;
  const { atMs, count } = lastMade(shortage);
  const dueMs = Math.max(
    atMs + cooldownAfter(count, scheduleTimeoutMs),
    Math.min(...since) + scheduleTimeoutMs,
  );
  // From then on they count for the next one.
  return dueMs < shortage.untilMs ? dueMs : Infinity;
}

/** Pods that wait for a spot node. */
export function strandedPods(pods: readonly PlacedPod[]): readonly PlacedPod[] {
  return pods.filter(isStranded);
}

/** Those of them that could run elsewhere: who is pinned to a spot node that is full waits for that alone. */
function freeStranded(pods: readonly PlacedPod[]): readonly PlacedPod[] {
  return strandedPods(pods).filter(({ pinned }) => pinned === undefined);
}

/**
 * When a fallback begins unless a spot node is found before, ms since 1970; Infinity where no pod waits.
 * Pods that wait from before the end of a fallback get their time again: they are of before it.
 */
export function fallbackDueMs(
  shortage: Shortage | undefined,
  pods: readonly PlacedPod[],
  { scheduleTimeoutMs = 60_000 }: Pick<ShortageOptions, "scheduleTimeoutMs"> = {},
): number {
  const untilMs = shortage?.untilMs ?? -Infinity;
  const since = freeStranded(pods).map((one) => one.unschedulableSinceMs ?? Infinity);
  return Math.max(untilMs, Math.min(...since)) + scheduleTimeoutMs;
}

/**
 * What is known after a look. A fallback begins when a spot pod has found no node for `scheduleTimeoutMs`,
 * and lasts 2, 4, 8, 16, then 30 minutes with the defaults; pods that were made for spot in it are made again,
 * see {@linkcode remakeDueMs}. All is forgotten once the replicas run as
 * wished, or spot nodes are there again as far as one can tell, see {@linkcode isOver}: a workload that may
 * not be moved would never run as wished.
 */
export function nextShortage(
  shortage: Shortage | undefined,
  { pods, asSpecified, nowMs }: ShortageInput,
  options: ShortageOptions = {},
): Shortage | undefined {
  if (shortage !== undefined && shortagePhase(shortage, nowMs) === "fallback") {
    if (nowMs < remakeDueMs(pods, { shortage, nowMs }, options)) return shortage;
    return { ...shortage, remade: { atMs: nowMs, count: lastMade(shortage).count + 1 } };
  }
  const { rounds } = shortage ?? { rounds: 0 };
  if (nowMs >= fallbackDueMs(shortage, pods, options)) {
    const untilMs = nowMs + lengthMs(rounds + 1, options);
    return { sinceMs: nowMs, untilMs, rounds: rounds + 1 };
  }
  return asSpecified || shortage === undefined || isOver(shortage, { pods, nowMs }, options)
    ? undefined
    : shortage;
}

/**
 * Whether a shortage whose fallback has ended is old news: a pod that was made since has found a spot node,
 * or none has waited for one, for as long as the fallback took.
 */
function isOver(
  { untilMs, rounds }: Shortage,
  { pods, nowMs }: Pick<ShortageInput, "pods" | "nowMs">,
  options: ShortageOptions,
): boolean {
  const isFound = pods.some(({ class: one, gone, scheduled, createdAtMs }) =>
    one === "spot" && !gone && scheduled && createdAtMs >= untilMs
  );
  const isQuiet = nowMs >= untilMs + lengthMs(rounds, options);
  return isFound || (isQuiet && freeStranded(pods).length === 0);
}

/** How long the fallback of this round takes, ms. */
function lengthMs(
  round: number,
  { fallbackMs = 120_000, longestFallbackMs = 1_800_000 }: ShortageOptions,
): number {
  // 2^1000 is still finite.
  return Math.min(longestFallbackMs, fallbackMs * 2 ** Math.min(round - 1, 1000));
}

/** An earlier version has not written when the fallback began. */
function lastMade({ sinceMs = -Infinity, remade }: Pick<Shortage, "sinceMs" | "remade">): Remade {
  return remade ?? { atMs: sinceMs, count: 0 };
}

function isStranded(pod: PlacedPod): boolean {
  return pod.class === "spot" && !pod.gone && !pod.scheduled;
}
