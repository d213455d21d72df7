/**
 * When requests come: drawn around rates, or as they were recorded.
 *
 * @module
 */
import { exponential, type Random } from "../shared/random.ts";

/** The time of the next request, ms of virtual time; never smaller than the one before. */
export type NextArrival = () => number;

/** Rates that are repeated without end. */
export interface Rates {
  /** Requests per ms, one per step. */
  readonly perMs: Float64Array;
  readonly stepMs: number;
  /** A rate holds for its step; otherwise it changes linearly to the next, the last to the first. */
  readonly stepwise: boolean;
  /** Where in them virtual time 0 is, ms; before their end. */
  readonly startMs: number;
}

/** The rate at a virtual time, requests per ms. */
export function rateAt({ perMs, stepMs, stepwise, startMs }: Rates, ms: number): number {
  const position = (startMs + ms) / stepMs;
  const step = Math.floor(position);
  const from = perMs[step % perMs.length] ?? 0;
  const to = perMs[(step + 1) % perMs.length] ?? 0;
  return stepwise ? from : from + (to - from) * (position - step);
}

/**
 * A Poisson process around rates. Each gap is drawn by inverting the integral of the rate: exact,
 * one draw per request. Infinity where all rates are 0.
 */
export function poissonArrivals(rates: Rates, random: Random): NextArrival {
  const { perMs, stepMs, stepwise, startMs } = rates;
  if (!perMs.some((rate) => rate > 0)) return () => Infinity;
  const rateOf = (step: number): number => perMs[step % perMs.length] ?? 0;
  let index = Math.floor(startMs / stepMs);
  /** Position within the step, ms. */
  let within = startMs - index * stepMs;
  /** Virtual time at the beginning of the step, ms. */
  let stepStart = -within;
  return () => {
    let left = exponential(random, 1);
    for (;;) {
      const from = rateOf(index);
      const slope = stepwise ? 0 : (rateOf(index + 1) - from) / stepMs;
      const now = from + slope * within;
      const rest = stepMs - within;
      const ahead = rest * (now + slope * rest / 2);
      if (left < ahead) {
        // The root of now × t + slope × t² / 2 = left, in the form without cancellation.
        within += 2 * left / (now + Math.sqrt(Math.max(0, now * now + 2 * slope * left)));
        return stepStart + within;
      }
      left -= ahead;
      index = (index + 1) % perMs.length;
      within = 0;
      stepStart += stepMs;
    }
  };
}

/**
 * Recorded times, repeated every `periodMs`; virtual time 0 is `startMs` after their start, before
 * the period's end. Infinity where there are none.
 */
export function recordedArrivals(
  arrivalsMs: Float64Array,
  { periodMs, startMs }: { readonly periodMs: number; readonly startMs: number },
): NextArrival {
  if (arrivalsMs.length === 0) return () => Infinity;
  const first = arrivalsMs.findIndex((at) => at >= startMs);
  let index = first < 0 ? arrivalsMs.length : first;
  let lapStart = -startMs;
  return () => {
    if (index === arrivalsMs.length) {
      index = 0;
      lapStart += periodMs;
    }
    return lapStart + (arrivalsMs[index++] ?? 0);
  };
}
