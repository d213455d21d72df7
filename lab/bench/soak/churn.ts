/**
 * Pods that come and go all the time, some of which opt out and in.
 *
 * @module
 */
import { seededRandom } from "../../../shared/random.ts";
import { MANAGED } from "../../../shared/api/market_keys.ts";
import { loadPod } from "../../../tests/cluster/scene/load_pod.ts";
import type { RealNode } from "../../../tests/cluster/scene/real_node.ts";
import { pause } from "../../../tests/cluster/scene/until.ts";

/** What was done so far. */
export interface Churn {
  created: number;
  deleted: number;
  /** Opt-outs and opt-ins of living pods. */
  toggled: number;
  /** Requests that failed; the next turn goes on. */
  failed: number;
}

/** One pod comes in this time, and from then on one goes, ms. */
const EVERY_MS = 2000;
const LIVING = 36;
/** In this share of turns a living pod changes its mind. */
const TOGGLES = 0.25;
/** This share of pods begins outside of the market. */
const OUTSIDE = 0.2;

/** Makes, changes and deletes pods until the signal is aborted; counts in `done`. */
export async function churn(
  node: RealNode,
  { namespace, seed, done, signal }: {
    readonly namespace: string;
    readonly seed: number;
    readonly done: Churn;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const random = seededRandom(seed);
  const living: { readonly name: string; managed: boolean }[] = [];
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const attempt = async (
    count: "created" | "deleted" | "toggled",
    request: () => Promise<unknown>,
  ) => {
    try {
      await request();
      done[count]++;
    } catch {
      done.failed++;
    }
  };
  for (let turn = 0; !signal.aborted; turn++) {
    const began = performance.now();
    const pod = { name: `churn-${turn}`, managed: random.next() >= OUTSIDE };
    const load = { name: "load", request: "5m", limit: "20m" };
    const labels = { [MANAGED]: `${pod.managed}` };
    await attempt(
      "created",
      () => node.create(path, loadPod({ namespace, name: pod.name, labels, containers: [load] })),
    );
    living.push(pod);
    const oldest = living.length > LIVING ? living.shift() : undefined;
    if (oldest !== undefined) {
      const gone = { method: "DELETE", path: `${path}/${oldest.name}` } as const;
      await attempt("deleted", () => node.connection.request(gone));
    }
    const changed = living[Math.floor(random.next() * living.length)];
    if (changed !== undefined && random.next() < TOGGLES) {
      changed.managed = !changed.managed;
      await attempt("toggled", () =>
        node.connection.request({
          method: "PATCH",
          path: `${path}/${changed.name}`,
          contentType: "application/merge-patch+json",
          body: { metadata: { labels: { [MANAGED]: `${changed.managed}` } } },
        }));
    }
    await pause(Math.max(0, began + EVERY_MS - performance.now()));
  }
}
