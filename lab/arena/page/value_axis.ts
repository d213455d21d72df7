/**
 * An axis for values that may span decades.
 *
 * @module
 */
import type * as Plot from "@observablehq/plot";

/** From this ratio of largest to least on, a logarithmic axis reads better. */
const LOG_FROM = 6;
/** Steps of a decade, from the coarsest to the finest. */
const LOG_STEPS: readonly (readonly number[])[] = [
  [1],
  [1, 3],
  [1, 2, 5],
  [1, 1.5, 2, 3, 5, 7],
  [1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9],
];
const FEWEST_TICKS = 3;

/** What the axis is for. */
export interface ValueAxisOptions {
  readonly label: string;
  /** Ticks for which there is room. @default {6} */
  readonly ticks?: number;
  /** Logarithmic even where values lie close together. @default {false} */
  readonly log?: boolean;
}

/** Whether values above 0 span so much that only a logarithmic axis shows them all. */
export function spansDecades(values: readonly number[]): boolean {
  const least = Math.min(...values);
  return least > 0 && Math.max(...values) / least >= LOG_FROM;
}

/** A scale that holds all values. A logarithmic one needs them above 0. */
export function valueAxis(
  values: readonly number[],
  { label, ticks = 6, log = spansDecades(values) }: ValueAxisOptions,
): Plot.ScaleOptions {
  const most = Math.max(...values);
  if (!log) {
    return { label, domain: [0, most > 0 ? most * 1.08 : 1], ticks, grid: true, zero: true };
  }
  const domain: [number, number] = [Math.min(...values) / 1.25, most * 1.3];
  return {
    type: "log",
    label,
    domain,
    ticks: logTicks(domain, ticks),
    tickFormat: text,
    grid: true,
  };
}

/** The finest steps that still fit; the coarsest that show three ticks where none does. */
function logTicks([least, most]: readonly [number, number], room: number): number[] {
  const choices = LOG_STEPS.map((steps) => {
    const [from, to] = [least, most].map((value) => Math.floor(Math.log10(value)));
    return Array.from(
      { length: (to ?? 0) - (from ?? 0) + 1 },
      (_, index) => steps.map((step) => step * 10 ** ((from ?? 0) + index)),
    ).flat().filter((tick) => tick >= least && tick <= most);
  });
  const fitting = choices.filter(({ length }) => length <= room);
  const enough = choices.find(({ length }) => length >= FEWEST_TICKS);
  const finest = fitting.at(-1);
  return finest !== undefined && finest.length >= FEWEST_TICKS ? finest : enough ?? finest ?? [];
}

function text(tick: number): string {
  return String(Number(tick.toPrecision(3)));
}
