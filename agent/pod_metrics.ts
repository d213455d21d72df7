/**
 * Metrics with a value for each pod, made when somebody asks for them.
 *
 * A scrape of a full node has a thousand series. The library's own store would make a key and the
 * text of the labels for each of them anew; here a pod's labels are one object for as long as it is
 * there, whose text the library makes once, as it does for the buckets of a histogram.
 *
 * @module
 */
import { Counter, Gauge, type Registry } from "prom-client";
import type { NodeView, PodView } from "../shared/view/node_view.ts";

/** One metric. */
export interface PodMetric {
  readonly type: "gauge" | "counter";
  readonly name: string;
  readonly help: string;
  /** In the metric's unit; undefined where a pod has none. */
  readonly value: (pod: PodView) => number | undefined;
}

/** Where the pods come from and the metrics go. */
export interface PodMetricsOptions {
  readonly registry: Registry;
  readonly view: () => NodeView | undefined;
}

type PodLabels = Readonly<Record<"namespace" | "pod", string>>;

/** What the library prints: `sharedLabels` beside `labels` is a text that it keeps. */
interface PodValue {
  readonly value: number;
  readonly labels: PodLabels;
  readonly sharedLabels: PodLabels;
}

/** Registers the metrics. Series of a pod go when the pod goes. */
export function registerPodMetrics(
  { registry, view }: PodMetricsOptions,
  metrics: readonly PodMetric[],
): void {
  const labelsOf = createPodLabels(view);
  for (const { type, name, help, value } of metrics) {
    const metric = new (type === "gauge" ? Gauge : Counter)({
      name,
      help,
      labelNames: ["namespace", "pod"],
      registers: [registry],
    });
    const empty = metric.get.bind(metric);
    metric.get = async () => ({
      ...await empty(),
      values: labelsOf().flatMap(([pod, labels]): PodValue[] => {
        const amount = value(pod);
        return amount === undefined ? [] : [{ value: amount, labels, sharedLabels: labels }];
      }),
    });
  }
}

/**
 * The pods of the view with their labels, made once for all metrics of a scrape. A pod that has taken
 * another one's name stands beside it for a moment: the series are of the one that has readings.
 */
function createPodLabels(
  view: () => NodeView | undefined,
): () => readonly (readonly [PodView, PodLabels])[] {
  let seen: NodeView | undefined;
  let pods: readonly (readonly [PodView, PodLabels])[] = [];
  let known = new Map<string, PodLabels>();
  return () => {
    const now = view();
    if (now === seen) return pods;
    seen = now;
    const byName = new Map<string, PodView>();
    for (const pod of now?.pods ?? []) {
      const name = `${pod.namespace}/${pod.pod}`;
      if (byName.get(name)?.usage === undefined) byName.set(name, pod);
    }
    const before = known;
    known = new Map();
    pods = Array.from(byName, ([name, shown]) => {
      const labels = before.get(name) ?? { namespace: shown.namespace, pod: shown.pod };
      known.set(name, labels);
      return [shown, labels];
    });
    return pods;
  };
}
