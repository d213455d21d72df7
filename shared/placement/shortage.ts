/**
 * Shortages of spot nodes: a workload falls back to on-demand for a while, and returns with care.
 *
 * @module
 */
import { cooldownAfter } from "./move_cooldown.ts";
import { type PlacedPod, secondOf } from "./placed_pod.ts";

/** `none`: the spec counts. `fallback`: new pods go on-demand. `returning`: one at a time goes to spot. */
export type ShortagePhase = "none" | "fallback" | "returning";

/** A shortage of spot nodes for a workload. Times are ms since 1970. */
export interface Shortage {
  /** The end of the fallback; the workload returns afterwards. */
  readonly untilMs: number;
  /** The beginning of the fallback; absent if it is in the future by this clock. */
  readonly sinceMs?: number;
  /** Fallbacks in a row, at least 1: each lasts twice as long as the one before. */
  readonly rounds: number;
  /** When and how often pods that were created for spot in the fallback were recreated; absent: never. */
  readonly remade?: { readonly atMs: number; readonly count: number };
}

/** Settings, ms. */
export interface ShortageSettings {
  /** How long a pod waits for a spot node before its workload falls back. */
  readonly scheduleTimeout: number;
  /** How long the first fallback lasts. */
  readonly fallbackDuration: number;
  /** The longest doubled fallback. */
  readonly maxFallbackDuration: number;
}

/** The pods of a workload, all of them, and its shortage at a time, ms since 1970. */
export interface ShortageInput {
  readonly pods: readonly PlacedPod[];
  readonly shortage?: Shortage | undefined;
  readonly nowMs: number;
}

/** The phase at a time, ms since 1970. */
export function shortagePhase(shortage: Shortage | undefined, nowMs: number): ShortagePhase {
  if (shortage === undefined) return "none";
  return nowMs < shortage.untilMs ? "fallback" : "returning";
}

/** Pods that wait for a spot node. */
export function strandedPods(pods: readonly PlacedPod[]): readonly PlacedPod[] {
  return pods.filter(isStranded);
}

/**
 * True for a pod that a fallback recreates on-demand: it waits for a spot node, and was created before the
 * fallback, or before pods were last recreated. All pods of the reconcile at that very time were.
 */
export function isLeftBehind(
  pod: PlacedPod,
  { shortage, nowMs }: {
    readonly shortage: Pick<Shortage, "sinceMs" | "remade">;
    readonly nowMs: number;
  },
): boolean {
  const { atMs } = lastRemade(shortage);
  return isStranded(pod) && (nowMs === atMs || pod.createdAtMs < secondOf(atMs));
}

/** Pods that wait for a spot node, though they were created in the fallback. */
export function unplacedInFallback(
  { pods, shortage, nowMs }: ShortageInput,
): readonly PlacedPod[] {
  if (shortage === undefined || shortagePhase(shortage, nowMs) !== "fallback") return [];
  // A pod that is pinned to spot nodes is created for spot in any case.
  return unpinnedStranded(pods).filter((pod) =>
    pod.unschedulableSinceMs !== undefined && !isLeftBehind(pod, { shortage, nowMs })
  );
}

/**
 * When a fallback recreates pods that were created for spot in it, ms since 1970; Infinity if there are none. If the
 * webhook had no leader for a moment, they go on-demand now. While the webhook is down they are created for spot
 * again, so the time doubles, up to 3 min.
 */
export function recreationDueMs(
  input: ShortageInput,
  { scheduleTimeout }: Pick<ShortageSettings, "scheduleTimeout">,
): number {
  const { shortage } = input;
  if (shortage === undefined) return Infinity;
  const { atMs, count } = lastRemade(shortage);
  const dueMs = Math.max(
    atMs + cooldownAfter(count, scheduleTimeout),
    firstWaitMs(unplacedInFallback(input)) + scheduleTimeout,
  );
  // Later they count for the next fallback.
  return dueMs < shortage.untilMs ? dueMs : Infinity;
}

/**
 * When the next fallback begins unless a spot node is found, ms since 1970; Infinity if no pod waits. Pods
 * that waited before the end of a fallback get the full time again.
 */
export function fallbackDueMs(
  { pods, shortage }: Omit<ShortageInput, "nowMs">,
  { scheduleTimeout }: Pick<ShortageSettings, "scheduleTimeout">,
): number {
  const untilMs = shortage?.untilMs ?? -Infinity;
  return Math.max(untilMs, firstWaitMs(unpinnedStranded(pods))) + scheduleTimeout;
}

/**
 * When the shortage may change if no pod does, ms since 1970: a fallback ends or begins, or recreates pods.
 * Infinity: never.
 */
export function shortageDueMs(
  input: ShortageInput,
  settings: Pick<ShortageSettings, "scheduleTimeout">,
): number {
  const { pods, shortage, nowMs } = input;
  const { scheduleTimeout } = settings;
  const untilMs = shortage?.untilMs ?? -Infinity;
  const timeoutsMs = strandedPods(pods).map(({ unschedulableSinceMs = nowMs }) =>
    Math.max(unschedulableSinceMs, untilMs) + scheduleTimeout
  );
  return Math.min(
    ...[untilMs, ...timeoutsMs].filter((atMs) => atMs > nowMs),
    recreationDueMs(input, settings),
  );
}

/**
 * The shortage from now on. A fallback begins when a pod has found no spot node for `scheduleTimeout`. It
 * lasts 2, 4, 8, 16, then 30 minutes by default, and recreates pods, see {@linkcode recreationDueMs}. The
 * shortage ends once each replica is Ready and on the class it should be on (`asSpecified`), or spot nodes
 * seem to be back, see {@linkcode isOver}: a workload that may not move would never be as specified.
 */
export function nextShortage(
  input: ShortageInput & { readonly asSpecified: boolean },
  settings: ShortageSettings,
): Shortage | undefined {
  const { pods, shortage, asSpecified, nowMs } = input;
  if (shortage !== undefined && shortagePhase(shortage, nowMs) === "fallback") {
    if (nowMs < recreationDueMs(input, settings)) return shortage;
    return { ...shortage, remade: { atMs: nowMs, count: lastRemade(shortage).count + 1 } };
  }
  if (nowMs >= fallbackDueMs(input, settings)) {
    const rounds = (shortage?.rounds ?? 0) + 1;
    return { sinceMs: nowMs, untilMs: nowMs + fallbackLengthMs(rounds, settings), rounds };
  }
  return asSpecified || shortage === undefined || isOver(shortage, { pods, nowMs }, settings)
    ? undefined
    : shortage;
}

/**
 * True after a fallback if a pod that was created since has found a spot node, or no pod has waited for one
 * for as long as the fallback lasted.
 */
function isOver(
  { untilMs, rounds }: Shortage,
  { pods, nowMs }: Pick<ShortageInput, "pods" | "nowMs">,
  settings: ShortageSettings,
): boolean {
  const isFound = pods.some(({ class: one, gone, scheduled, createdAtMs }) =>
    one === "spot" && !gone && scheduled && createdAtMs >= untilMs
  );
  const isQuiet = nowMs >= untilMs + fallbackLengthMs(rounds, settings);
  return isFound || (isQuiet && unpinnedStranded(pods).length === 0);
}

/** How long the fallback of this round lasts, ms. */
function fallbackLengthMs(
  round: number,
  { fallbackDuration, maxFallbackDuration }: ShortageSettings,
): number {
  // 2^1000 is still finite.
  return Math.min(maxFallbackDuration, fallbackDuration * 2 ** Math.min(round - 1, 1000));
}

function lastRemade(
  { sinceMs = -Infinity, remade }: Pick<Shortage, "sinceMs" | "remade">,
): NonNullable<Shortage["remade"]> {
  return remade ?? { atMs: sinceMs, count: 0 };
}

function isStranded(pod: PlacedPod): boolean {
  return pod.class === "spot" && !pod.gone && !pod.scheduled;
}

/** Stranded pods that could run on on-demand nodes. */
function unpinnedStranded(pods: readonly PlacedPod[]): readonly PlacedPod[] {
  return strandedPods(pods).filter(({ pinned }) => pinned === undefined);
}

function firstWaitMs(pods: readonly PlacedPod[]): number {
  return Math.min(...pods.map((one) => one.unschedulableSinceMs ?? Infinity));
}
