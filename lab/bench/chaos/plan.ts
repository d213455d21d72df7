/**
 * The steps of a run of chaos and their times, drawn from a seed.
 *
 * @module
 */
import { type Random, seededRandom } from "../../../shared/random.ts";

/** Processes that are killed; `leader` and `standby` are the two controllers. */
export const TARGETS = ["agent", "leader", "standby", "kube-apiserver", "etcd", "kubelet"] as const;
/** One of them. */
export type Target = typeof TARGETS[number];

/** A kill. */
export interface Kill {
  readonly kind: "kill";
  readonly atMs: number;
  readonly target: Target;
  /** The harness starts it again after this time; the kubelet restarts agent and controllers. */
  readonly downMs: number;
}

/** Something that users or their loads do. */
export interface Act {
  readonly kind: "burst" | "scarcity" | "optOut" | "optIn" | "replace";
  readonly atMs: number;
  /** Which of the bursting pods, from 0 to 1. */
  readonly which: number;
}

/** One step of a plan. */
export type Step = Kill | Act;

type Range = readonly [least: number, most: number];

const DOWN_MS: Range = [1000, 10_000];
/** Between two steps of a kind, ms. */
const GAPS_MS: Readonly<Record<"kill" | Exclude<Act["kind"], "optIn">, Range>> = {
  kill: [8000, 24_000],
  burst: [4000, 12_000],
  scarcity: [30_000, 60_000],
  // In turn with opting in again.
  optOut: [50_000, 110_000],
  replace: [40_000, 90_000],
};

/**
 * The steps of a run in the order of time. In each round of six kills each target gets one, in a drawn
 * order: a short run leaves none out.
 */
export function drawPlan(seed: number, lengthMs: number): readonly Step[] {
  const random = seededRandom(seed);
  const steps: Step[] = [];
  let round: Target[] = [];
  for (const atMs of times("kill")) {
    if (round.length === 0) round = shuffled(TARGETS, random);
    const target = round.pop();
    if (target === undefined) break;
    steps.push({ kind: "kill", atMs, target, downMs: Math.round(between(DOWN_MS, random)) });
  }
  for (const kind of ["burst", "scarcity", "replace"] as const) {
    for (const atMs of times(kind)) steps.push({ kind, atMs, which: random.next() });
  }
  times("optOut").forEach((atMs, index) =>
    steps.push({ kind: index % 2 === 0 ? "optOut" : "optIn", atMs, which: random.next() })
  );
  return steps.toSorted((a, b) => a.atMs - b.atMs);

  function times(kind: keyof typeof GAPS_MS): number[] {
    const found: number[] = [];
    for (let atMs = 0;;) {
      atMs += between(GAPS_MS[kind], random);
      if (atMs >= lengthMs) return found;
      found.push(Math.round(atMs));
    }
  }
}

function between([least, most]: Range, random: Random): number {
  return least + random.next() * (most - least);
}

/** Fisher and Yates, in a copy. */
function shuffled<T>(values: readonly T[], random: Random): T[] {
  const left = [...values];
  const order: T[] = [];
  while (left.length > 0) order.push(...left.splice(Math.floor(random.next() * left.length), 1));
  return order;
}
