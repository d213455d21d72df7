/**
 * The cost of placement beside an API in its own process: the memory that workloads and pods take over
 * an idle controller, and the time from a change to its decision. `deno task bench:placement`, `--
 * --workloads 50` for a quick look.
 *
 * @module
 */
import { Command } from "commander";
import { quantile } from "../../simulation/statistics.ts";
import { benchFlags, goal, printResult, wholeNumber } from "../bench.ts";
import { memoryAfterGC } from "../memory.ts";
import { type ClusterSize, rawDeployment, rawObjects, SHARE } from "./cluster_objects.ts";
import { namespaceListWatch } from "../../../adapters/kube/kinds/namespaces.ts";
import { nodeListWatch, persistentVolumeListWatch } from "../../../adapters/kube/kinds/nodes.ts";
import { podDisruptionBudgetListWatch } from "../../../adapters/kube/kinds/pod_disruption_budgets.ts";
import { podListWatch } from "../../../adapters/kube/kinds/pods.ts";
import { replicaSetListWatch, workloadListWatch } from "../../../adapters/kube/kinds/workloads.ts";
import { systemClock } from "../../../adapters/system_clock.ts";
import { createCaches } from "../../../controller/caches.ts";
import { createPlacementState } from "../../../controller/placement/store.ts";
import { createPlacementInformers } from "../../../controller/placement/caches.ts";
import { createEvictionLog } from "../../../controller/placement/eviction_memory.ts";
import { runPlacementLoop } from "../../../controller/placement/loop.ts";
import { createStatusPublisher } from "../../../controller/placement/publisher.ts";
import { type Log, silentLog } from "../../../shared/log.ts";
import { PLACEMENT_DEFAULTS } from "../../../tests/fixtures/placement/placement_defaults.ts";
import { type Random, seededRandom } from "../../../shared/random.ts";
import { cacheSources, createSimulatedAPI } from "../../simulation/api/simulated_api.ts";
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import type { Clock } from "../../../shared/clock.ts";

interface RunningPlacement extends AsyncDisposable {
  /** Resolves when each workload was reconciled at. */
  readonly synced: Promise<void>;
  /** Gives the Deployment another share; resolves with the time until a move was sent, ms. */
  change(index: number, share: number): Promise<number>;
}

const SETTINGS = { ...PLACEMENT_DEFAULTS, evictionsPerSecond: 1000, evictionBurst: 1000 };

function placementCaches(
  connection: KubeConnection,
  options: { readonly clock: Clock; readonly random: Random; readonly log: Log },
): ReturnType<typeof createCaches> & ReturnType<typeof createPlacementInformers> {
  // The kinds that placement does not read are never run.
  const unread = cacheSources(createSimulatedAPI(options));
  return {
    ...createCaches({
      ...unread,
      pods: podListWatch(connection),
      nodes: nodeListWatch(connection),
      namespaces: namespaceListWatch(connection),
      deployments: workloadListWatch(connection, { kind: "Deployment" }),
      statefulSets: workloadListWatch(connection, { kind: "StatefulSet" }),
    }, options),
    ...createPlacementInformers({
      replicaSets: replicaSetListWatch(connection),
      budgets: podDisruptionBudgetListWatch(connection),
      volumes: persistentVolumeListWatch(connection),
    }, options),
  };
}

/** Starts a loop that remembers nothing and evicts no pod, which it does not know. */
function startPlacement(size: ClusterSize): RunningPlacement {
  const { connection, send } = serveObjects(size);
  const end = new AbortController();
  const { signal } = end;
  const options = { clock: systemClock, random: seededRandom(7), log: silentLog };
  const reconciled = new Set<string>();
  const moved = new Map<string, () => void>();
  const { promise: synced, resolve: whenSynced } = Promise.withResolvers<void>();
  const caches = placementCaches(connection, options);
  const { pods, nodes, namespaces, deployments, statefulSets } = caches;
  const { replicaSets, budgets, volumes } = caches;
  const copies = [nodes, namespaces, deployments, statefulSets, replicaSets, budgets, volumes];
  const store = {
    list: () => Promise.resolve([]),
    apply: () => Promise.resolve(),
    remove: () => Promise.resolve(),
  };
  const running = Promise.all([
    ...[pods, ...copies].map((copy) => copy.run(signal)),
    runPlacementLoop({
      ...options,
      caches,
      state: createPlacementState({ store, clock: systemClock, log: silentLog }),
      publisher: createStatusPublisher({ statuses: store, clock: systemClock, log: silentLog }),
      evictor: {
        evict({ name }) {
          moved.get(name.split("-", 2).join("-"))?.();
          return Promise.resolve({ is: "gone" });
        },
      },
      evictions: createEvictionLog({ clock: systemClock, settings: () => SETTINGS }),
      costs: { write: () => Promise.resolve(true) },
      events: { emit() {} },
      observer: {
        reconciled({ name }) {
          reconciled.add(name);
          if (reconciled.size === size.workloads) whenSynced();
        },
      },
      settings: () => SETTINGS,
    }, signal),
  ]);
  return {
    synced,
    async change(index, share) {
      const { promise, resolve } = Promise.withResolvers<void>();
      moved.set(`web-${index}`, resolve);
      const begun = performance.now();
      send(rawDeployment(index, { pods: size.pods, share, version: 2 }));
      await promise;
      return performance.now() - begun;
    },
    async [Symbol.asyncDispose]() {
      end.abort();
      await running;
    },
  };
}

function serveObjects(
  size: ClusterSize,
): { readonly connection: KubeConnection; send(deployment: unknown): void } {
  const lists = new Map<string, Iterator<unknown>>();
  const waiting: unknown[] = [];
  let wake: (reason?: unknown) => void = () => {};

  function page(kind: string, limit: number, isFirst: boolean): unknown {
    const known = isFirst ? undefined : lists.get(kind);
    const objects = known ?? rawObjects(kind, size)[Symbol.iterator]();
    lists.set(kind, objects);
    const items: unknown[] = [];
    while (items.length < limit) {
      const { value, done } = objects.next();
      if (done === true) return list(items, {});
      items.push(value);
    }
    return list(items, { continue: kind });
  }

  return {
    connection: {
      request: ({ path, query = {} }) => {
        const answer = page(kindOf(path), Number(query.limit), query.continue === undefined);
        // As it comes from the wire: no text is shared with what this server knows.
        return Promise.resolve(JSON.parse(JSON.stringify(answer)));
      },
      async *lines({ path, signal }) {
        const isFed = kindOf(path) === "deployments";
        while (signal?.aborted !== true) {
          const object = isFed ? waiting.shift() : undefined;
          if (object !== undefined) yield { type: "MODIFIED", object };
          else {
            await new Promise<unknown>((resolve) => {
              signal?.addEventListener("abort", resolve, { once: true });
              if (isFed) wake = resolve;
            });
          }
        }
      },
    },
    send(deployment) {
      waiting.push(JSON.parse(JSON.stringify(deployment)));
      wake();
    },
  };
}

function list(items: readonly unknown[], more: object): unknown {
  return { metadata: { resourceVersion: "1", ...more }, items };
}

function kindOf(path: string): string {
  return path.split("/").at(-1) ?? "";
}

const MEGABYTES_PER_MEBIBYTE = 2 ** 20 / 1e6;

const { json, changes, ...size } = benchFlags<{
  workloads: number;
  pods: number;
  changes: number;
}>(
  new Command("bench:placement")
    .description("Memory and reaction of placement. Exits with 1 when a goal is missed.")
    .option("--workloads <n>", "Deployments", wholeNumber, 1000)
    .option("--pods <n>", "of each Deployment", wholeNumber, 10)
    .option("--changes <n>", "Deployments with a share that is changed", wholeNumber, 50),
);
// Once for all that is loaded and compiled when it is used for the first time.
await using _warm = startPlacement({ workloads: 1, pods: 1 });
await _warm.synced;
const idle = await memoryAfterGC();
const begun = performance.now();
await using loop = startPlacement(size);
await loop.synced;
const syncedSeconds = (performance.now() - begun) / 1000;
const full = await memoryAfterGC();
const decisionMs: number[] = [];
for (let index = 0; index < Math.min(changes, size.workloads); index++) {
  decisionMs.push(await loop.change(index, SHARE + 20));
}
const medianMs = quantile(decisionMs, 0.5);
const mostMs = quantile(decisionMs, 1);
const overIdle = (of: "resident" | "used") => MEGABYTES_PER_MEBIBYTE * (full[of] - idle[of]);
printResult({
  json,
  figures: { size, idle, full, syncedSeconds, decisions: { medianMs, mostMs } },
  goals: [
    goal("resident over idle, MB", overIdle("resident"), { most: 100 }),
    goal("used over idle, MB", overIdle("used"), { most: 100 }),
    goal("change to decision, s", mostMs / 1000, { most: 5 }),
  ],
  text: [
    `${size.workloads} Deployments of ${size.pods} pods, all looked at after ` +
    `${syncedSeconds.toFixed(2)} s`,
    `${decisionMs.length} changes, median ${medianMs.toFixed(0)} ms`,
  ],
});
