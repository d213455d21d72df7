/**
 * A node: the last hour, the clearing, and its pods.
 *
 * @module
 */
import type { PodView } from "../../../shared/view/node_view.ts";
import { type History, type NodeHour, POINTS, type Samples } from "../history.ts";
import { type NodeLine, nodeLine } from "./cluster.ts";
import { pageOf, type Paging } from "./list.ts";
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

/** A pod's part of the clearing. */
export type Share = Pick<ClearedPod, "namespace" | "pod" | "share" | "need">;

/** All of it. */
export interface NodeDetail {
  readonly node: NodeLine;
  readonly hour: NodeHour | undefined;
  /** Of all pods of the namespaces that the user may see, the largest first. */
  readonly shares: readonly Share[];
  /** The same pods, a page of them: most throttled first, then those that lack most of their need. */
  readonly pods: readonly ClearedPod[];
  readonly paging: Paging;
  /** Those of other namespaces together. */
  readonly others: { readonly count: number; readonly share: number };
}

/** The view of a node; undefined where no agent has answered for it. */
export function nodeDetail(
  { collector: { views, history } }: DashboardState,
  { node: name, visible, nowMs, choice }: ViewOptions & { readonly node: string },
): NodeDetail | undefined {
  const view = views.get(name);
  if (view === undefined) return undefined;
  const pods = view.pods.filter(({ namespace }) => visible(namespace)).map(clearedPod);
  const others = view.pods.filter(({ namespace }) => !visible(namespace));
  const { rows, paging } = pageOf(pods.toSorted(byLack), choice);
  return {
    node: nodeLine(view, nowMs),
    hour: history.node(name, nowMs),
    shares: pods.map(({ namespace, pod, share, need }) => ({ namespace, pod, share, need }))
      .toSorted((a, b) => b.share - a.share),
    pods: rows.map((pod) => ({ ...pod, minutes: minutesOf(history.pod(pod.uid, nowMs)) })),
    paging,
    others: {
      count: others.length,
      share: others.reduce((sum, pod) => sum + shareOf(pod), 0),
    },
  };
}

function clearedPod(
  { bounds: _bounds, containers, ...pod }: PodView,
): Omit<ClearedPod, "minutes"> {
  const share = shareOf({ containers });
  return {
    ...pod,
    share,
    bid: containers.reduce((sum, { weight, credit }) => sum + weight * credit, 0),
    pays: pod.price === null ? null : pod.price * share / 1000,
  };
}

type Cleared = Pick<ClearedPod, "throttledMsPerSecond" | "need" | "share" | "pod">;

function byLack(a: Cleared, b: Cleared): number {
  const throttled = ({ throttledMsPerSecond = 0 }: Cleared): number => throttledMsPerSecond;
  const lack = ({ need, share }: Cleared): number => need - share;
  return throttled(b) - throttled(a) || lack(b) - lack(a) || (a.pod < b.pod ? -1 : 1);
}

function shareOf({ containers }: Pick<PodView, "containers">): number {
  return containers.reduce((sum, { share }) => sum + share, 0);
}

function minutesOf(hour: ReturnType<History["pod"]>): ClearedPod["minutes"] {
  const { usage, demand, limit } = hour?.series ?? {};
  return { usage: byMinute(usage), demand: byMinute(demand), limit: byMinute(limit) };
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
