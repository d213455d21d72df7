/**
 * The definition of a metric. The programs register their metrics from tables of these, and
 * docs/metrics.md is made from the same tables.
 *
 * To add one: its row in a table of this folder, its value in the metrics of the feature, and
 * `deno task generate:docs`.
 *
 * @module
 */

/** A metric by its name in Prometheus; `L` are its labels. */
export interface Metric<
  T extends "gauge" | "counter" | "histogram" = "gauge" | "counter" | "histogram",
  L extends string = string,
> extends MetricOptions<L> {
  readonly type: T;
  readonly name: string;
}

/** What a metric has beside its type and name. */
export interface MetricOptions<L extends string> {
  readonly help: string;
  /** @default {[]} */
  readonly labels?: readonly L[];
  /** Upper ends of a histogram's buckets. */
  readonly buckets?: readonly number[];
  /** A second name under which the same series are served. @default {none} */
  readonly alias?: string;
}

/** Metrics by the names that the code has for them. */
export type MetricTable = Readonly<Record<string, Metric>>;

/** A gauge. */
export function gauge<const L extends string = never>(
  name: string,
  options: MetricOptions<L>,
): Metric<"gauge", L> {
  return { type: "gauge", name, ...options };
}

/** A counter. */
export function counter<const L extends string = never>(
  name: string,
  options: MetricOptions<L>,
): Metric<"counter", L> {
  return { type: "counter", name, ...options };
}

/** A histogram. */
export function histogram<const L extends string = never>(
  name: string,
  options: MetricOptions<L>,
): Metric<"histogram", L> {
  return { type: "histogram", name, ...options };
}
