/**
 * Registers the metrics of a table with prom-client.
 *
 * @module
 */
import { Counter, Gauge, Histogram, type Metric as Registered, type Registry } from "prom-client";
import type { Metric, MetricTable } from "../shared/metrics/metric.ts";

/** The object of prom-client for a metric. */
export type RegisteredMetric<M extends Metric> = M extends Metric<"gauge", infer L> ? Gauge<L>
  : M extends Metric<"counter", infer L> ? Counter<L>
  : M extends Metric<"histogram", infer L> ? Histogram<L>
  : never;

/** The objects of prom-client by their names in the table. */
export type RegisteredMetrics<T extends MetricTable> = {
  readonly [K in keyof T]: RegisteredMetric<T[K]>;
};

/** Labels and value of a series. A metric without labels has one series, or none. */
export type Series = readonly [labels: Readonly<Record<string, string>>, value: number];

const CLASSES = { gauge: Gauge, counter: Counter };

/** Registers each metric of the table, also under its alias. */
export function registerMetrics<T extends MetricTable>(
  registry: Registry,
  table: T,
): RegisteredMetrics<T> {
  const registered = Object.entries(table).map(([key, metric]) => {
    const options = optionsOf(metric);
    const made = metric.type === "histogram"
      ? new Histogram({ ...options, buckets: [...metric.buckets ?? []] })
      : new CLASSES[metric.type](options);
    register(registry, { ...metric, made });
    return [key, made];
  });
  return Object.fromEntries(registered);
}

/** A metric, and its series at the time of a scrape. */
export interface ScrapedMetric {
  readonly metric: Metric<"gauge" | "counter">;
  /** Values of the same labels add up. */
  readonly series: () => Iterable<Series>;
}

/** Registers a metric that reads its series at each scrape. */
export function registerScraped(
  registry: Registry,
  { metric, series }: ScrapedMetric,
): void {
  const made = new CLASSES[metric.type]({
    ...optionsOf(metric),
    collect() {
      this.reset();
      // Without labels there is a series of value 0 after a reset.
      if (metric.labels === undefined) this.remove();
      for (const [labels, value] of series()) this.inc({ ...labels }, value);
    },
  });
  register(registry, { ...metric, made });
}

function optionsOf(
  { name, help, labels = [] }: Metric,
): { name: string; help: string; labelNames: string[]; registers: [] } {
  return { name, help, labelNames: [...labels], registers: [] };
}

function register(
  registry: Registry,
  { name, alias, made }: Metric & { readonly made: Registered },
): void {
  registry.registerMetric(made);
  if (alias === undefined) return;
  /** The metric's present series under the other name. */
  const get = async () => {
    const served = await made.get();
    const values = served.values.map((one) => {
      // Series of a histogram have the name with _bucket, _sum or _count.
      const { metricName } = one as { readonly metricName?: string };
      return metricName === undefined
        ? one
        : { ...one, metricName: alias + metricName.slice(name.length) };
    });
    return { ...served, name: alias, values };
  };
  registry.registerMetric({ name: alias, get } as unknown as Registered);
}

/** The series of one metric by the object that they are about, since they end with it. */
export class ObjectSeries {
  readonly #metric: Gauge | Counter | Histogram;
  /** By object: labels of its series; the objects that the metric keeps, too. */
  readonly #known = new Map<string, readonly Series[0][]>();

  constructor(metric: Gauge | Counter | Histogram) {
    this.#metric = metric;
  }

  /** A gauge has these series of the object and no others; a counter adds them up, a histogram observes them. */
  observe(object: string, series: readonly Series[]): void {
    const metric = this.#metric;
    for (const [labels, value] of series) {
      if (metric instanceof Gauge) metric.set(labels, value);
      else if (metric instanceof Counter) metric.inc(labels, value);
      else metric.observe(labels, value);
    }
    const present = new Map(series.map(([labels]) => [JSON.stringify(labels), labels]));
    for (const labels of this.#known.get(object) ?? []) {
      const key = JSON.stringify(labels);
      // A gauge keeps the labels that it was set with last, others those that they had first.
      if (!(metric instanceof Gauge)) present.set(key, labels);
      else if (!present.has(key)) metric.remove(labels);
    }
    if (present.size === 0) this.#known.delete(object);
    else this.#known.set(object, [...present.values()]);
  }

  /** Deletes the object's series. */
  remove(object: string): void {
    for (const labels of this.#known.get(object) ?? []) this.#metric.remove(labels);
    this.#known.delete(object);
  }

  /** Deletes all series. */
  clear(): void {
    this.#metric.reset();
    this.#known.clear();
  }
}
