/**
 * The load under which processes are killed: services that burst, a neighbour that makes the node
 * scarce, a Deployment under an OptimizationPolicy, a namespace that opts out and in, a bare pod that
 * is replaced, and pods that take no part.
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Pod, QOSClass } from "../../../shared/api/pod.ts";
import { parseCPU } from "../../../shared/quantity.ts";
import { MANAGED } from "../../../shared/api/market_keys.ts";
import {
  type LoadContainer,
  loadDeployment,
  loadPod,
} from "../../../tests/cluster/scene/load_pod.ts";
import { processOne } from "../../../tests/cluster/scene/node_cgroups.ts";
import {
  optimizationPolicy,
  UNDERSIZED,
} from "../../../tests/cluster/scene/optimization_policies.ts";
import { type RealNode, scratchNamespace } from "../../../tests/cluster/scene/real_node.ts";
import { until } from "../../../tests/cluster/scene/until.ts";
import type { Act } from "./plan.ts";
import type { Baseline } from "./promises.ts";

/** A namespace of the scene. */
export type Place = "services" | "guests" | "tenants";

/** Pods of one name, which is their label `app`. */
interface App {
  readonly name: string;
  readonly place: Place;
  readonly container: Omit<LoadContainer, "name">;
  /** Of a Deployment; absent: a bare pod. */
  readonly replicas?: number;
  readonly qosClass?: QOSClass;
  /** @default {true} */
  readonly managed?: boolean;
}

const BURST = { threads: 2, burstSeconds: 8 };
/** Eight times the smallest limit in the market is above the least ceiling, 500m: the factor decides. */
const APPS: readonly App[] = [
  {
    name: "web",
    place: "services",
    replicas: 2,
    container: { request: "60m", limit: "150m", ...BURST },
  },
  { name: "bare", place: "services", container: { request: "40m", limit: "100m", ...BURST } },
  {
    name: "neighbour",
    place: "services",
    container: { request: "200m", limit: "400m", threads: 4, burstSeconds: 20 },
  },
  { name: "bystander", place: "services", managed: false, container: { limit: "50m", ...BURST } },
  {
    name: "guaranteed",
    place: "services",
    managed: false,
    qosClass: "Guaranteed",
    container: { request: "50m", limit: "50m", memory: "32Mi", ...BURST },
  },
  {
    name: "guest",
    place: "guests",
    replicas: 2,
    container: { request: "30m", limit: "80m", ...BURST },
  },
  // Holds CPU by its request and uses none: what is left to the market is soon scarce.
  {
    name: "ballast",
    place: "services",
    managed: false,
    container: { request: "700m", limit: "700m" },
  },
  { name: "tenant", place: "tenants", replicas: 1, container: UNDERSIZED },
];

/** How long users go on trying while the API server is away. */
const TRIES = { timeoutMs: 180_000, everyMs: 500 };

/** The scene while it is there. */
export interface Scene extends AsyncDisposable {
  /** What is known of a pod from before the product saw it; undefined for pods of others. */
  baselineOf(pod: Pod): Baseline | undefined;
  /** Starts a burst in a pod, chosen among these by a number from 0 to 1; false where none runs. */
  burst(pods: readonly Pod[], act: Pick<Act, "kind" | "which">): boolean;
  /** Opts the guests, or all, out or in; resolves when the API server has it. */
  setManaged(managed: boolean, places?: readonly Place[]): Promise<void>;
  /** Since when the pod's namespace is opted out, ms since 1970. */
  optedOutSinceMs(pod: Pod): number | undefined;
  /** Deletes the bare pod and makes another one of the same name. */
  replaceBare(): Promise<void>;
}

/** Makes the scene and waits until its pods run. */
// deno-lint-ignore house/function-length
export async function openScene(node: RealNode): Promise<Scene> {
  const { connection } = node;
  await using undo = new AsyncDisposableStack();
  const names = new Map<Place, string>();
  for (const place of ["services", "guests", "tenants"] as const) {
    names.set(place, undo.use(await scratchNamespace(connection)).name);
  }
  const namespaceOf = (place: Place): string => names.get(place) ?? "";
  const placeOf = new Map([...names].map(([place, name]) => [name, place]));
  const optedOut = new Map<string, number>();
  const appOf = ({ metadata: { namespace, labels } }: Pod): App | undefined =>
    APPS.find(({ name, place }) => placeOf.get(namespace) === place && labels["app"] === name);

  async function make({ name, place, container, replicas, managed = true }: App): Promise<void> {
    const labels = { app: name, ...managed || name === "guaranteed" ? {} : { [MANAGED]: "false" } };
    const containers = [{ name: "load", ...container }];
    const pod = { name, namespace: namespaceOf(place), labels, containers };
    if (replicas === undefined) {
      await node.create(`/api/v1/namespaces/${pod.namespace}/pods`, loadPod(pod));
      return;
    }
    const path = `/apis/apps/v1/namespaces/${pod.namespace}/deployments`;
    await node.create(path, loadDeployment(pod, replicas));
  }

  for (const app of APPS) await make(app);
  const tenants = namespaceOf("tenants");
  await node.create(
    `/apis/optipod.io/v1alpha1/namespaces/${tenants}/optimizationpolicies`,
    optimizationPolicy({ mode: "Auto", namespace: tenants }),
  );
  const closing = undo.move();
  return {
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
    optedOutSinceMs: ({ metadata }) => optedOut.get(metadata.namespace),
    baselineOf(pod) {
      const app = appOf(pod);
      if (app === undefined) return undefined;
      const { container, qosClass = "Burstable", managed = true } = app;
      const limits = new Map([["load", parseCPU(container.limit ?? "")]]);
      return { limits, qosClass, managed };
    },
    burst(pods, { kind, which }) {
      const wanted = (name = ""): boolean => (name === "neighbour") === (kind === "scarcity");
      const able = pods.filter((pod) => {
        const app = appOf(pod);
        return app?.container.threads !== undefined && wanted(app.name);
      });
      const pod = able[Math.floor(which * able.length)];
      if (pod === undefined) return false;
      try {
        Deno.kill(processOne(pod, "load"), "SIGUSR1");
        return true;
      } catch {
        // It is being replaced, or the kubelet has not reported it yet.
        return false;
      }
    },
    async setManaged(managed, places = ["guests"]) {
      for (const place of places) {
        const name = namespaceOf(place);
        if (managed) optedOut.delete(name);
        await until(`change of namespace ${name}`, () =>
          connection.request({
            method: "PATCH",
            path: `/api/v1/namespaces/${name}`,
            contentType: "application/merge-patch+json",
            body: { metadata: { labels: { [MANAGED]: managed ? null : "false" } } },
          }), TRIES);
        if (!managed) optedOut.set(name, Date.now());
      }
    },
    async replaceBare() {
      const bare = APPS.find(({ name }) => name === "bare");
      if (bare === undefined) return;
      const namespace = namespaceOf(bare.place);
      const path = `/api/v1/namespaces/${namespace}/pods/${bare.name}`;
      await until("end of the bare pod", async () => {
        await answered(() => connection.request({ method: "DELETE", path }), 404);
        return await node.pod({ namespace, name: bare.name }) === undefined ? true : undefined;
      }, TRIES);
      // An answer may be lost: then it is there at the next try.
      await until("another bare pod", () => answered(() => make(bare), 409), TRIES);
    },
  };
}

/** True once the server has answered so, or with this status. */
async function answered(request: () => Promise<unknown>, status: number): Promise<true> {
  try {
    await request();
  } catch (error) {
    if (!(error instanceof ApiError && error.status === status)) throw error;
  }
  return true;
}
