/**
 * Pressure stall information as the kernel averages it.
 *
 * @module
 */

/** The kernel updates its averages this often (`PSI_FREQ`, kernel/sched/psi.c). */
const UPDATE_S = 2;
const WINDOW_S = 10;

/**
 * The values of `some avg10`, %, one per 2 s, from 0 on: avg ← avg × e^(−2/10) + share × (1 − e^(−2/10))
 * (`calc_avgs`, kernel/sched/psi.c). `waited` holds ms per s in which some thread waited, one entry
 * per `stepS`; a rest of less than 2 s is left out. Worked: always waiting gives 18.1, 33.0, 45.1 %.
 */
export function someAvg10(waited: Float32Array, stepS: number): Float64Array {
  const steps = Math.round(UPDATE_S / stepS);
  const keep = Math.exp(-UPDATE_S / WINDOW_S);
  const averages = new Float64Array(Math.floor(waited.length / steps));
  let average = 0;
  for (let update = 0; update < averages.length; update++) {
    let sum = 0;
    for (let step = update * steps; step < (update + 1) * steps; step++) sum += waited[step] ?? 0;
    average = average * keep + sum / steps / 10 * (1 - keep);
    averages[update] = average;
  }
  return averages;
}
