/**
 * One rule beside another.
 *
 * @module
 */
import type { Balance } from "./judge_replay.ts";

/** Covering more and wasting more is `safer`, less of both `leaner`. */
export type Comparison = "better" | "worse" | "safer" | "leaner" | "same";

/** Both measures decide; there is no price at which one is worth the other. */
export function compareBalance(
  one: Pick<Balance, "coverage" | "waste">,
  other: Pick<Balance, "coverage" | "waste">,
): Comparison {
  const covers = Math.sign(one.coverage - other.coverage);
  const saves = Math.sign(other.waste - one.waste);
  if (covers === 0 && saves === 0) return "same";
  if (covers >= 0 && saves >= 0) return "better";
  if (covers <= 0 && saves <= 0) return "worse";
  return covers > 0 ? "safer" : "leaner";
}
