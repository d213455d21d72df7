/**
 * The pods of a scene as a watch shows them, one change after the other.
 *
 * @module
 */
import { createInformer } from "../../../shared/control/informer.ts";
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import { podListWatch } from "../../../adapters/kube/kinds/pods.ts";
import { systemClock } from "../../../adapters/system_clock.ts";
import type { Pod, PodOwner } from "../../../shared/api/pod.ts";
import { CAPACITY } from "../../../shared/api/placement_keys.ts";
import { silentLog } from "../../../shared/log.ts";
import type { ClassCounts, NodeClass } from "../../../shared/placement/node_classes.ts";
import { revisionOf } from "../../../shared/placement/placed_pod.ts";
import { until, type UntilOptions } from "./until.ts";

/** A pod that is not ending. */
export interface SeenReplica {
  readonly name: string;
  readonly uid: string;
  /** Of the node that it is on; undefined until it has one, or where that is no simulated one. */
  readonly class: NodeClass | undefined;
  /** What the label says that it was made for; undefined where there is none. */
  readonly label: string | undefined;
  readonly revision: string;
  readonly ready: boolean;
  readonly owner: PodOwner | undefined;
  readonly nodeName: string;
}

/** Reports pods by their label `app`. */
export interface SeenReplicas extends AsyncDisposable {
  of(app: string): readonly SeenReplica[];
  /** Waits until there are exactly these, all Ready; returns them. */
  whenDivided(
    app: string,
    counts: ClassCounts,
    options?: DividedOptions,
  ): Promise<readonly SeenReplica[]>;
  /** Waits until there are so many, wherever, all Ready; returns them. */
  whenReady(app: string, count: number): Promise<readonly SeenReplica[]>;
  /** Looks at each moment that the watch shows, until it is ended. */
  everyMoment(app: string, check: (replicas: readonly SeenReplica[]) => void): Moments;
}

/** How long to wait, and for which pods. */
export interface DividedOptions extends UntilOptions {
  /** Is it these that were waited for? @default {any will do} */
  readonly suits?: (replicas: readonly SeenReplica[]) => boolean;
}

/** Moments that are looked at. */
export interface Moments {
  /**
   * Looks no more. Throws what the first check has thrown that did; otherwise the number of moments.
   */
  end(): number;
}

/** Follows the pods of a namespace. */
export async function seenReplicas(
  connection: KubeConnection,
  { namespace, classOf }: {
    readonly namespace: string;
    readonly classOf: (nodeName: string) => NodeClass | undefined;
  },
): Promise<SeenReplicas> {
  const pods = createInformer({
    source: podListWatch(connection, { namespace }),
    clock: systemClock,
    random: { next: () => 0.5 },
    log: silentLog,
    name: "Pod",
    indexBy: ({ metadata }) => metadata.labels["app"],
  });
  const end = new AbortController();
  const running = pods.run(end.signal);
  await pods.whenSynced(end.signal);

  const seen = ({ metadata, nodeName, ready }: Pod): SeenReplica => ({
    name: metadata.name,
    uid: metadata.uid,
    class: classOf(nodeName),
    label: metadata.labels[CAPACITY],
    revision: revisionOf(metadata.labels),
    ready,
    owner: metadata.owner,
    nodeName,
  });
  const of = (app: string): readonly SeenReplica[] =>
    pods.byIndex(app).filter(({ metadata }) => !metadata.terminating).map(seen);

  return {
    of,
    whenDivided: (app, counts, { suits = () => true, ...options } = {}) =>
      until(
        `${counts.spot} pods of ${app} on spot and ${counts["on-demand"]} on on-demand nodes`,
        () => {
          const now = of(app);
          const { spot, "on-demand": onDemand } = countsOf(now);
          const settled = now.every(({ ready, class: one }) => ready && one !== undefined);
          const isDivided = spot === counts.spot && onDemand === counts["on-demand"];
          if (settled && isDivided && suits(now)) return now;
          const ready = now.filter((one) => one.ready).length;
          throw new Error(`${spot} and ${onDemand}; of ${now.length} pods ${ready} are Ready`);
        },
        options,
      ),
    whenReady: (app, count) =>
      until(`${count} ready pods of ${app}`, () => {
        const now = of(app);
        return now.length === count && now.every(({ ready }) => ready) ? now : undefined;
      }),
    everyMoment(app, check) {
      let moments = 0;
      let failure: { readonly error: unknown } | undefined;
      const look = (): void => {
        if (failure !== undefined) return;
        moments++;
        try {
          check(of(app));
        } catch (error) {
          failure = { error };
        }
      };
      const unsubscribe = pods.subscribe((key) => {
        // The owner of a deleted pod is unknown.
        const pod = pods.get(key);
        if (pod === undefined || pod.metadata.labels["app"] === app) look();
      });
      return {
        end() {
          unsubscribe();
          if (failure !== undefined) throw failure.error;
          return moments;
        },
      };
    },
    async [Symbol.asyncDispose]() {
      end.abort();
      await running;
    },
  };
}

/** How many are where; a pod without a node counts as what it was made for. */
export function countsOf(replicas: readonly SeenReplica[]): ClassCounts {
  const counts = { spot: 0, "on-demand": 0 };
  for (const { class: one, label } of replicas) {
    if ((one ?? label) === "spot") counts.spot++;
    else counts["on-demand"]++;
  }
  return counts;
}
