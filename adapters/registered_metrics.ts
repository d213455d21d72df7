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
    const collector = metric.type === "histogram"
      ? new Histogram({ ...options, buckets: [...metric.buckets ?? []] })
      : new CLASSES[metric.type](options);
    register(registry, { ...metric, collector });
    return [key, collector];
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
  const collector = new CLASSES[metric.type]({
    ...optionsOf(metric),
    collect() {
      this.reset();
      // Without labels there is a series of value 0 after a reset.
      if (metric.labels === undefined) this.remove();
      for (const [labels, value] of series()) this.inc({ ...labels }, value);
    },
  });
  register(registry, { ...metric, collector });
}

function optionsOf(
  { name, help, labels = [] }: Metric,
): { name: string; help: string; labelNames: string[]; registers: [] } {
  return { name, help, labelNames: [...labels], registers: [] };
}

function register(
  registry: Registry,
  { name, alias, collector }: Metric & { readonly collector: Registered },
): void {
  registry.registerMetric(collector);
  if (alias === undefined) return;
  /** Returns the metric's present series under its alias. */
  const get = async () => {
    const served = await collector.get();
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

/** The series of one metric by the object that they are about, to delete them with the object. */
export class ObjectSeries {
  readonly #metric: Gauge | Counter | Histogram;
  /** By object, the labels of its series. */
  readonly #known = new Map<string, readonly Series[0][]>();

  constructor(metric: Gauge | Counter | Histogram) {
    this.#metric = metric;
  }

  /** Sets a gauge to these series of the object and no others; adds them to a counter or a histogram. */
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
      // A gauge has the series of the last call only, other metrics those of all calls.
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
