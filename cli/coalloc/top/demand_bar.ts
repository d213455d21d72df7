/**
 * A pod's usage, demand and limit as one short bar.
 *
 * @module
 */

/** What a bar shows, millicores. */
export interface BarFigures {
  readonly usage: number;
  readonly demand: number;
  readonly limit: number;
}

/** Characters of a bar. */
export const BAR_WIDTH = 12;

/**
 * Used CPU as `█`, demand beyond it as `▒`, idle room below the limit as `·`, and the limit as `│`. The
 * scale is the larger of demand and limit: 200 m used under a limit of 200 m with a demand of 400 m is
 * `█████│▒▒▒▒▒▒`. Empty when nothing is above zero.
 */
export function demandBar({ usage, demand, limit }: BarFigures): string {
  const top = Math.max(demand, limit);
  if (!(top > 0)) return "";
  const place = (value: number): number =>
    Math.max(0, Math.min(BAR_WIDTH, Math.round(value / top * BAR_WIDTH)));
  const [used, wanted, at] = [place(usage), place(demand), Math.max(1, place(limit)) - 1];
  return Array.from({ length: BAR_WIDTH }, (_, index) => {
    if (index === at) return "│";
    if (index < used) return "█";
    if (index < wanted) return "▒";
    return index < at ? "·" : " ";
  }).join("").trimEnd();
}
