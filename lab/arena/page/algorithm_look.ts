/**
 * Which colour and shape stand for which algorithm, the same on the whole page.
 *
 * @module
 */
import { type Entry, isOurs, isYardstick, ORACLE, OURS, OURS_TIGHT } from "../outcome.ts";
import type { StageResult } from "../stages.ts";
import { algorithmColor } from "../../simulation/report/plots/algorithm_facets.ts";
import type { Glyph } from "./glyph.ts";

/** How an algorithm is drawn. */
export interface AlgorithmLook {
  /** A CSS colour of the page. */
  readonly color: string;
  readonly glyph: Glyph;
}

/** Finds the look of an algorithm. */
export type LookOf = (algorithm: string) => AlgorithmLook;

/** More algorithms than the demo has: further colours, each for a light and for a dark page. */
export const MORE_COLORS: string =
  "--algorithm-6:light-dark(#b0327a,#ee7db6);--algorithm-7:light-dark(#0c7c9c,#4fc3dd);" +
  "--algorithm-8:light-dark(#8a4b2a,#d3a07f)";

const RIVAL_COLORS = ["1", "2", "3", "4", "6", "7", "8", "5"].map((name) =>
  `var(--algorithm-${name})`
);
const RIVAL_GLYPHS: readonly Glyph[] = [
  "square",
  "triangle",
  "diamond",
  "plus",
  "triangle down",
  "times",
  "bar",
  "flat bar",
];
const OTHER: AlgorithmLook = { color: "var(--faint)", glyph: "sparkle" };

/** Looks by the order in which rivals appear; ours, the oracle and yardsticks have their own. */
export function algorithmLooks(results: readonly StageResult[]): LookOf {
  const algorithms = new Set(
    results.flatMap(({ outcomes }) => outcomes.map(({ algorithm }) => algorithm)),
  );
  const looks = new Map<string, AlgorithmLook>([
    [OURS.algorithm, { color: algorithmColor(0), glyph: "circle" }],
    [OURS_TIGHT.algorithm, { color: algorithmColor(0), glyph: "sparkle" }],
    [ORACLE.algorithm, { color: "var(--ink)", glyph: "star" }],
  ]);
  const rivals = [...algorithms].filter((algorithm) =>
    !looks.has(algorithm) && !isYardstick({ algorithm })
  );
  rivals.forEach((algorithm, index) =>
    looks.set(algorithm, {
      color: RIVAL_COLORS[index % RIVAL_COLORS.length] ?? OTHER.color,
      glyph: RIVAL_GLYPHS[index % RIVAL_GLYPHS.length] ?? OTHER.glyph,
    })
  );
  return (algorithm) => looks.get(algorithm) ?? OTHER;
}

/** An algorithm with its setting; ours and the oracle have a name alone. */
export function entryName({ algorithm, setting }: Entry): string {
  return isOurs({ algorithm }) || algorithm === ORACLE.algorithm
    ? algorithm
    : `${algorithm}, ${setting}`;
}
