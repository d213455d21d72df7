/**
 * The name of an algorithm on the page, and what it does.
 *
 * @module
 */
import {
  ALONE,
  COALLOCATOR,
  COALLOCATOR_TIGHT,
  type Entry,
  EQUAL_CORES,
  isCoallocator,
  ORACLE,
  UNLIMITED,
} from "../outcome.ts";

/** An algorithm with its setting; CoAllocator and the oracle have a name alone. */
export function entryName({ algorithm, setting }: Entry): string {
  return isCoallocator({ algorithm }) || algorithm === ORACLE.algorithm
    ? algorithm
    : `${algorithm}, ${setting}`;
}

/** In a sentence for readers that do not know it. */
const NOTES: ReadonlyMap<string, string> = new Map([
  [
    "static",
    "a limit that never changes: a multiple of the request, the ceiling, or from the P90 of the whole trace, which no one knows beforehand",
  ],
  ["hpa", "Kubernetes' HorizontalPodAutoscaler: replicas by CPU utilisation, every 15 s"],
  ["k8s-cpu", "every 15 s, the highest usage of the last 300 s / target"],
  ["k8s-cpu-fast", "every second, the highest usage of the last 20 s / target"],
  ["captain", "Autothrottle's Captain: every second, from the share of throttled periods"],
  [
    "koordinator",
    "Koordinator's CPU burst: raises a throttled quota by a fifth, up to three times the limit",
  ],
  ["vpa", "Kubernetes' VerticalPodAutoscaler: P90 of a decaying histogram, and 15 %"],
  ["mbcas-original", "an earlier market: writes every 15 s, with a cooldown of 30 s"],
  [
    COALLOCATOR.algorithm,
    "the market with the product's defaults: limits are at their ceilings, eight times what users set, until CPU is scarce",
  ],
  [
    COALLOCATOR_TIGHT.algorithm,
    "the market that allocates what is needed and no more, not tuned per trace",
  ],
  [
    ORACLE.algorithm,
    "knows the future: the least limits at which no request waits longer than the SLO, changed no more often than CoAllocator; an algorithm that lets one request in a hundred wait longer may cost less",
  ],
  [EQUAL_CORES.algorithm, "a yardstick: fixed limits that cost the cores of CoAllocator"],
  [
    ALONE.algorithm,
    "a yardstick: the pods beside a noisy neighbour, without it and without limits",
  ],
  [UNLIMITED.algorithm, "a yardstick: no limit at all, which the SLO is made from"],
]);

/** What the algorithm does; undefined for an algorithm without a note. */
export function algorithmNote(algorithm: string): string | undefined {
  return NOTES.get(algorithm);
}
