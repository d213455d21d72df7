/**
 * Rows about shortages of spot nodes, with times exactly at their bounds.
 *
 * @module
 */
import type { NodeClass } from "../../../../shared/placement/node_classes.ts";
import type { PlacedPod } from "../../../../shared/placement/placed_pod.ts";
import {
  fallbackDueMs,
  nextShortage,
  remakeDueMs,
  type Shortage,
  shortagePhase,
  unplacedInFallback,
} from "../../../../shared/placement/shortage.ts";
import type { DecisionRow } from "../decision_table.ts";
import { type Draw, drawWith } from "../draw.ts";
import { NOW_MS } from "./raw_placement.ts";

const SEED = 9;
const ROWS = 240;

/** Times in seconds from now: negative ones are past. */
interface ShortageInput {
  readonly asWished: boolean;
  readonly shortage?: {
    readonly until: number;
    readonly since?: number;
    readonly rounds: number;
    readonly remade?: { readonly at: number; readonly count: number };
  };
  readonly pods: readonly {
    readonly class: NodeClass;
    readonly created: number;
    readonly waitsSince?: number;
    readonly scheduled?: true;
    readonly gone?: true;
    readonly bound?: true;
  }[];
}

/** Pods are made again at once, or a second later. */
const AT_BOUNDS: readonly ShortageInput[] = [-60, -59].map((waitsSince) => ({
  asWished: false,
  shortage: { until: 60, since: -60, rounds: 1 },
  pods: [{ class: "spot", created: -60, waitsSince }],
}));

/** What is known afterwards, times in seconds from now. */
export interface ShortageResult {
  readonly phase: string;
  readonly remake: number | null;
  readonly fallback: number | null;
  readonly unplaced: number;
  readonly next: ShortageInput["shortage"] | null;
}

/** Draws the inputs and decides each. */
export function shortageRows(): readonly DecisionRow<ShortageResult>[] {
  const draw = drawWith(SEED);
  const inputs = [...AT_BOUNDS, ...Array.from({ length: ROWS }, () => drawn(draw))];
  return inputs.map((input) => ({ input, result: shortageResult(input) }));
}

function drawn(draw: Draw): ShortageInput {
  const since = draw.oneOf([-240, -120, -61, -60, -59]);
  const pods = Array.from({ length: draw.oneOf([0, 1, 1, 1, 2]) }, () => ({
    class: draw.oneOf(["spot", "spot", "spot", "on-demand"]),
    created: draw.oneOf([-241, -240, -121, -120, -119, -60, -59, -1, 0]),
    ...draw.oneOf([
      { waitsSince: -61 },
      { waitsSince: -60 },
      { waitsSince: -60 },
      { waitsSince: -59 },
      { waitsSince: 0 },
      { scheduled: true as const },
      {},
    ]),
    ...draw.oneOf([{}, {}, {}, {}, { gone: true as const }, { bound: true as const }]),
  }));
  const shortage = {
    until: draw.oneOf([-241, -240, -239, -121, -120, -119, -60, -1, 0, 0, 1, 60, 60, 60]),
    ...(draw.chance(4 / 5) ? { since } : {}),
    rounds: draw.oneOf([1, 1, 2]),
    ...(draw.chance(1 / 3)
      ? { remade: { at: draw.oneOf([-121, -120, -119, -60, 0]), count: draw.oneOf([1, 2]) } }
      : {}),
  };
  return {
    asWished: draw.chance(1 / 6),
    ...(draw.chance(1 / 6) ? {} : { shortage }),
    pods,
  };
}

function shortageResult({ asWished, ...input }: ShortageInput): ShortageResult {
  const shortage = input.shortage === undefined ? undefined : shortageOf(input.shortage);
  const pods = input.pods.map(podOf);
  const next = nextShortage(shortage, { pods, asSpecified: asWished, nowMs: NOW_MS });
  return {
    phase: shortagePhase(shortage, NOW_MS),
    remake: secondsTo(remakeDueMs(pods, { shortage, nowMs: NOW_MS })),
    fallback: secondsTo(fallbackDueMs(shortage, pods)),
    unplaced: unplacedInFallback(pods, { shortage, nowMs: NOW_MS }).length,
    next: next === undefined ? null : secondsOf(next),
  };
}

function shortageOf(
  { until, since, rounds, remade }: NonNullable<ShortageInput["shortage"]>,
): Shortage {
  return {
    untilMs: timeOf(until),
    ...(since === undefined ? {} : { sinceMs: timeOf(since) }),
    rounds,
    ...(remade === undefined ? {} : { remade: { atMs: timeOf(remade.at), count: remade.count } }),
  };
}

function secondsOf({ untilMs, sinceMs, rounds, remade }: Shortage): ShortageInput["shortage"] {
  return {
    until: (untilMs - NOW_MS) / 1000,
    ...(sinceMs === undefined ? {} : { since: (sinceMs - NOW_MS) / 1000 }),
    rounds,
    ...(remade === undefined
      ? {}
      : { remade: { at: (remade.atMs - NOW_MS) / 1000, count: remade.count } }),
  };
}

function podOf(
  { class: one, created, waitsSince, scheduled, gone, bound }: ShortageInput["pods"][number],
  index: number,
): PlacedPod {
  return {
    uid: `uid-${index}`,
    name: `web-${index}`,
    revision: "new",
    class: one,
    gone: gone ?? false,
    ...(waitsSince === undefined ? {} : { unschedulableSinceMs: timeOf(waitsSince) }),
    node: scheduled ? "node-1" : "",
    scheduled: scheduled ?? false,
    ready: scheduled ?? false,
    cordoned: false,
    createdAtMs: timeOf(created),
    ...(bound === undefined ? {} : { pinned: "its volume" }),
  };
}

function timeOf(seconds: number): number {
  return NOW_MS + 1000 * seconds;
}

function secondsTo(ms: number): number | null {
  return Number.isFinite(ms) ? (ms - NOW_MS) / 1000 : null;
}
