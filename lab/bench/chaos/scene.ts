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

const PLACES = ["services", "guests", "tenants"] as const;
/** One of them. */
export type Place = typeof PLACES[number];

/** Pods of one name, which is their label `app`. */
export interface App {
  readonly name: string;
  /** @default {"services"} */
  readonly place?: Place;
  readonly container: Omit<LoadContainer, "name">;
  /** Replicas of a Deployment; absent: a bare pod. */
  readonly replicas?: number;
  readonly qosClass?: QOSClass;
  /** @default {true} */
  readonly managed?: boolean;
}

const BURST = { threads: 2, burstSeconds: 8 };
const BARE: App = { name: "bare", container: { request: "40m", limit: "100m", ...BURST } };
/** Eight times the smallest limit in the market is above the least ceiling, 500m: the factor decides. */
const APPS: readonly App[] = [
  { name: "web", replicas: 2, container: { request: "60m", limit: "150m", ...BURST } },
  BARE,
  {
    name: "neighbour",
    container: { request: "200m", limit: "400m", threads: 4, burstSeconds: 20 },
  },
  { name: "bystander", managed: false, container: { limit: "50m", ...BURST } },
  {
    name: "guaranteed",
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
  // Holds CPU by its request and uses none: the market divides it all the same.
  { name: "ballast", managed: false, container: { request: "700m", limit: "700m" } },
  { name: "tenant", place: "tenants", replicas: 1, container: UNDERSIZED },
];

/** How long users go on trying while the API server is away. */
const TRIES = { timeoutMs: 180_000, everyMs: 500 };

/** Makes the scene; its pods may not run yet. */
export async function openScene(node: RealNode): Promise<Scene> {
  await using undo = new AsyncDisposableStack();
  const places = new Map<Place, string>();
  for (const place of PLACES) {
    places.set(place, undo.use(await scratchNamespace(node.connection)).name);
  }
  const scene = new Scene(node, places);
  for (const app of APPS) await scene.make(app);
  const namespace = places.get("tenants") ?? "";
  await node.create(
    `/apis/optipod.io/v1alpha1/namespaces/${namespace}/optimizationpolicies`,
    optimizationPolicy({ mode: "Auto", namespace }),
  );
  scene.closing = undo.move();
  return scene;
}

/** The scene while it is there. */
export class Scene implements AsyncDisposable {
  closing: AsyncDisposable | undefined;
  readonly #node: RealNode;
  readonly #places: ReadonlyMap<Place, string>;
  readonly #optedOut = new Map<string, number>();

  constructor(node: RealNode, places: ReadonlyMap<Place, string>) {
    this.#node = node;
    this.#places = places;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.closing?.[Symbol.asyncDispose]();
  }

  async make(
    { name, place = "services", container, replicas, managed = true }: App,
  ): Promise<void> {
    const namespace = this.#places.get(place) ?? "";
    const labels = { app: name, ...managed || name === "guaranteed" ? {} : { [MANAGED]: "false" } };
    const pod = { name, namespace, labels, containers: [{ name: "load", ...container }] };
    await (replicas === undefined
      ? this.#node.create(`/api/v1/namespaces/${namespace}/pods`, loadPod(pod))
      : this.#node.deploy(loadDeployment(pod, replicas)));
  }

  /** The baseline of a pod from before the product saw it; undefined for pods of others. */
  baselineOf(pod: Pod): Baseline | undefined {
    const app = this.#appOf(pod);
    if (app === undefined) return undefined;
    const { container, qosClass = "Burstable", managed = true } = app;
    return { limits: new Map([["load", parseCPU(container.limit ?? "")]]), qosClass, managed };
  }

  /** Starts a burst in a pod, chosen among these by a number from 0 to 1; false where none runs. */
  burst(pods: readonly Pod[], { kind, which }: Pick<Act, "kind" | "which">): boolean {
    const able = pods.filter((pod) => {
      const { container, name } = this.#appOf(pod) ?? {};
      return container?.threads !== undefined &&
        (name === "neighbour") === (kind === "scarcity");
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
  }

  /** Opts the guests, or all, out or in; resolves when the API server has it. */
  async setManaged(managed: boolean, places: readonly Place[] = ["guests"]): Promise<void> {
    for (const place of places) {
      const name = this.#places.get(place) ?? "";
      if (managed) this.#optedOut.delete(name);
      await until(
        `change of namespace ${name}`,
        () =>
          this.#node.merge(`/api/v1/namespaces/${name}`, {
            metadata: { labels: { [MANAGED]: managed ? null : "false" } },
          }),
        TRIES,
      );
      if (!managed) this.#optedOut.set(name, Date.now());
    }
  }

  /** Since when the pod's namespace is opted out, ms since 1970. */
  optedOutSinceMs({ metadata }: Pod): number | undefined {
    return this.#optedOut.get(metadata.namespace);
  }

  /** Deletes the bare pod and makes another one of the same name. */
  async replaceBare(): Promise<void> {
    const namespace = this.#places.get("services") ?? "";
    const path = `/api/v1/namespaces/${namespace}/pods/${BARE.name}`;
    await until("end of the bare pod", async () => {
      await answered(() => this.#node.connection.request({ method: "DELETE", path }), 404);
      return await this.#node.pod({ namespace, name: BARE.name }) === undefined || undefined;
    }, TRIES);
    // An answer may be lost: then it is there at the next try.
    await until("another bare pod", () => answered(() => this.make(BARE), 409), TRIES);
  }

  #appOf({ metadata: { namespace, labels } }: Pod): App | undefined {
    return APPS.find(({ name, place = "services" }) =>
      this.#places.get(place) === namespace && labels["app"] === name
    );
  }
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
