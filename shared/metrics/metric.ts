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

/** Options of a metric beside its type and name. */
export interface MetricOptions<L extends string> {
  readonly help: string;
  /** @default {[]} */
  readonly labels?: readonly L[];
  /** Upper ends of a histogram's buckets. */
  readonly buckets?: readonly number[];
  /** A second name under which the same series are served. @default {none} */
  readonly alias?: string;
}

/** Metrics by name in the code. */
export type MetricTable = Readonly<Record<string, Metric>>;

/** Defines a metric of the type `T`. */
export type DefineMetric<T extends Metric["type"]> = <const L extends string = never>(
  name: string,
  options: MetricOptions<L>,
) => Metric<T, L>;

function define<T extends Metric["type"]>(type: T): DefineMetric<T> {
  return (name, options) => ({ type, name, ...options });
}

/** Defines a gauge. */
export const gauge: DefineMetric<"gauge"> = define("gauge");
/** Defines a counter. */
export const counter: DefineMetric<"counter"> = define("counter");
/** Defines a histogram. */
export const histogram: DefineMetric<"histogram"> = define("histogram");
