/**
 * A node: the last hour, the clearing, and its pods.
 *
 * @module
 */
import type { PodView } from "../../../shared/view/node_view.ts";
import { type NodeHour, POINTS, type Samples } from "../history.ts";
import { type NodeLine, nodeLine } from "./cluster.ts";
import type { DashboardState, ViewOptions } from "./state.ts";

/** What a pod got of the clearing. Millicores. */
export interface ClearedPod
  extends Omit<PodView, "containers" | "bounds" | "usage" | "throttledMsPerSecond"> {
  readonly usage?: number | undefined;
  readonly throttledMsPerSecond?: number | undefined;
  /** What the clearing gives for the need. */
  readonly share: number;
  /** Weight times credit, sum of the containers. */
  readonly bid: number;
  /** Share times price; 0 while nothing is scarce, null where the price is infinite. */
  readonly pays: number | null;
  /** The last hour in fewer samples: means of a minute. */
  readonly minutes: Readonly<Record<"usage" | "demand" | "limit", Samples>>;
}

/** All of it. */
export interface NodeDetail {
  readonly node: NodeLine;
  readonly hour: NodeHour | undefined;
  /** Of the namespaces that the user may see, the largest share first. */
  readonly pods: readonly ClearedPod[];
  /** Those of other namespaces together. */
  readonly others: { readonly count: number; readonly share: number };
}

/** The view of a node; undefined where no agent has answered for it. */
export function nodeDetail(
  { collector: { views, history } }: DashboardState,
  { node: name, visible, nowMs }: ViewOptions & { readonly node: string },
): NodeDetail | undefined {
  const view = views.get(name);
  if (view === undefined) return undefined;
  const pods = view.pods.filter(({ namespace }) => visible(namespace));
  const others = view.pods.filter(({ namespace }) => !visible(namespace));
  return {
    node: nodeLine(view, nowMs),
    hour: history.node(name, nowMs),
    pods: pods.map((pod): ClearedPod => {
      const { containers, bounds: _bounds, ...rest } = pod;
      const share = shareOf(pod);
      const series = history.pod(pod.uid, nowMs)?.series;
      return {
        ...rest,
        share,
        bid: containers.reduce((sum, { weight, credit }) => sum + weight * credit, 0),
        pays: pod.price === null ? null : pod.price * share / 1000,
        minutes: {
          usage: byMinute(series?.usage),
          demand: byMinute(series?.demand),
          limit: byMinute(series?.limit),
        },
      };
    }).toSorted((a, b) => b.share - a.share || (a.pod < b.pod ? -1 : 1)),
    others: {
      count: others.length,
      share: others.reduce((sum, pod) => sum + shareOf(pod), 0),
    },
  };
}

function shareOf({ containers }: PodView): number {
  return containers.reduce((sum, { share }) => sum + share, 0);
}

const PER_MINUTE = 4;

/** Means of four samples, rounded to a millicore. */
function byMinute(samples: Samples = []): Samples {
  const minutes: (number | null)[] = [];
  for (let first = 0; first < POINTS; first += PER_MINUTE) {
    let [sum, count] = [0, 0];
    for (let at = first; at < first + PER_MINUTE; at++) {
      const value = samples[at] ?? null;
      if (value === null) continue;
      sum += value;
      count++;
    }
    minutes.push(count === 0 ? null : Math.round(sum / count));
  }
  return minutes;
}
