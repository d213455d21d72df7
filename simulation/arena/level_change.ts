/**
 * Where a load changes its level at a known moment: the truth that reactions are measured against.
 *
 * @module
 */

/** A load that goes from one level to another at once. */
export interface LevelChange {
  /** When, s of virtual time, and when the load changes again or the run ends. */
  readonly atS: number;
  readonly untilS: number;
  /** Expected demand before and after, CPUs. */
  readonly from: number;
  readonly to: number;
  /** Name of the pod that has the load; absent: the scene's first pod. */
  readonly pod?: string;
}

/**
 * The changes of a load that is constant within steps; `values` in CPUs, one per `stepS` seconds.
 * Worked: 1, 1, 4, 1 at 1 s change at 2 s (1 to 4, until 3 s) and at 3 s (4 to 1, until 4 s).
 */
export function levelChanges(values: ArrayLike<number>, stepS: number): LevelChange[] {
  const starts: number[] = [];
  for (let step = 1; step < values.length; step++) {
    if (values[step] !== values[step - 1]) starts.push(step);
  }
  return starts.map((step, index) => ({
    atS: step * stepS,
    untilS: (starts[index + 1] ?? values.length) * stepS,
    from: values[step - 1] ?? 0,
    to: values[step] ?? 0,
  }));
}
