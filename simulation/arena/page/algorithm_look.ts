/**
 * Which colour and shape stand for which law, the same on the whole page.
 *
 * @module
 */
import { type Entry, isOurs, isYardstick, ORACLE, OURS, OURS_TIGHT } from "../entry.ts";
import type { StageResult } from "../stage_result.ts";
import { algorithmColor } from "../../report/plots/algorithm_color.ts";
import type { Glyph } from "./glyph.ts";

/** How a law is drawn. */
export interface AlgorithmLook {
  /** A CSS colour of the page. */
  readonly color: string;
  readonly glyph: Glyph;
}

/** Finds the look of a law. */
export type LookOf = (law: string) => AlgorithmLook;

/** More laws than the demo has: further colours, each for a light and for a dark page. */
export const MORE_COLORS: string =
  "--law-6:light-dark(#b0327a,#ee7db6);--law-7:light-dark(#0c7c9c,#4fc3dd);" +
  "--law-8:light-dark(#8a4b2a,#d3a07f)";

const RIVAL_COLORS = ["1", "2", "3", "4", "6", "7", "8", "5"].map((name) => `var(--law-${name})`);
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
  const laws = new Set(results.flatMap(({ outcomes }) => outcomes.map(({ law }) => law)));
  const looks = new Map<string, AlgorithmLook>([
    [OURS.law, { color: algorithmColor(0), glyph: "circle" }],
    [OURS_TIGHT.law, { color: algorithmColor(0), glyph: "sparkle" }],
    [ORACLE.law, { color: "var(--ink)", glyph: "star" }],
  ]);
  const rivals = [...laws].filter((law) => !looks.has(law) && !isYardstick({ law }));
  rivals.forEach((law, index) =>
    looks.set(law, {
      color: RIVAL_COLORS[index % RIVAL_COLORS.length] ?? OTHER.color,
      glyph: RIVAL_GLYPHS[index % RIVAL_GLYPHS.length] ?? OTHER.glyph,
    })
  );
  return (law) => looks.get(law) ?? OTHER;
}

/** A law with its setting in words; ours and the oracle have a name alone. */
export function entryName({ law, setting }: Entry): string {
  return isOurs({ law }) || law === ORACLE.law ? law : `${law}, ${setting}`;
}
