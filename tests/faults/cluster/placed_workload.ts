/**
 * A Deployment with replicas that placement spreads over spot and on-demand nodes in the simulated
 * cluster: its controller with scheduler and kubelet in one, and the ports of placement for a process.
 *
 * @module
 */
import { runMutators } from "../../../shared/admission/run_mutators.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import { secondOf } from "../../../shared/placement/placed_pod.ts";
import type { SimulatedAPI } from "../../../lab/simulation/api/simulated_api.ts";
import type { VirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import { podRequest, storedPod } from "../../fixtures/placement/placement_caches.ts";
import { sampleWorkload } from "../../fixtures/sample_workloads.ts";
import type { WebhookService } from "../../fixtures/webhook/webhook_service.ts";
import { byCost, CAPACITY_TYPE, schedule } from "../../simulation/placement_scheduler.ts";

/** The Deployment. */
export const PLACED = {
  namespace: "front",
  name: "web",
  replicas: 4,
  onDemand: 2,
  floor: 1,
} as const;

const SET = "web-5f";
const OWNER = { apiVersion: "apps/v1", kind: "ReplicaSet", name: SET, uid: "front-set" };
const NO_VERSION = { uid: "", resourceVersion: "" };
/** Between two turns of the Deployment's controller, ms. */
const TURN_MS = 500;
/** For all mutators of one pod, ms. */
const ADMISSION_MS = 200;

/** Nodes of both classes, and the Deployment; then its controller runs. */
export function startPlaced(
  api: SimulatedAPI,
  clock: VirtualClock,
  service: Pick<WebhookService, "mutators">,
): void {
  const { Node, ReplicaSet, Deployment, PodDisruptionBudget } = api.store.tables;
  for (const one of ["spot", "on-demand"]) {
    for (const index of [0, 1]) {
      Node.seed({
        metadata: { name: `${one}-${index}`, ...NO_VERSION },
        labels: { [CAPACITY_TYPE]: one },
        allocatableCPU: 4000,
        ready: true,
        pressures: [],
      });
    }
  }
  const { metadata: { uid } } = Deployment.seed(deployment(api));
  ReplicaSet.seed({
    metadata: { namespace: PLACED.namespace, name: SET, uid: OWNER.uid, resourceVersion: "" },
    deployment: { name: PLACED.name, uid },
  });
  PodDisruptionBudget.seed({
    metadata: { namespace: PLACED.namespace, name: PLACED.name, ...NO_VERSION },
    selector: { matchLabels: {}, matchExpressions: [] },
    disruptionsAllowed: 0,
    current: true,
    freesUnready: false,
  });
  let made = 0;
  const turn = (): void => {
    void reconcile(api, { clock, service, nameOf: () => `${SET}-${made++}` });
    clock.at(clock.monotonic() + TURN_MS, turn);
  };
  turn();
}

/** Replicas that are Ready. */
export function readyReplicas({ store }: SimulatedAPI): number {
  return livePods(store).filter(({ ready }) => ready).length;
}

/** Replicas that are Ready on on-demand nodes. */
export function readyOnDemand({ store }: SimulatedAPI): number {
  return livePods(store).filter(({ ready, nodeName }) => ready && nodeName.startsWith("on-demand"))
    .length;
}

function livePods({ tables }: SimulatedAPI["store"]): readonly Pod[] {
  return tables.Pod.all().filter(({ metadata: { namespace, terminating } }) =>
    namespace === PLACED.namespace && !terminating
  );
}

function deployment({ store }: SimulatedAPI) {
  const live = livePods(store);
  const sample = sampleWorkload({
    labels: { "spotalis.io/enabled": "true" },
    annotations: {
      "spotalis.io/spot-percentage": "50%",
      "spotalis.io/min-on-demand": `${PLACED.floor}`,
    },
  });
  return {
    ...sample,
    metadata: { ...sample.metadata, namespace: PLACED.namespace, uid: "front-web" },
    replicas: {
      replicas: PLACED.replicas,
      observed: true,
      present: live.length,
      ready: live.filter(({ ready }) => ready).length,
      updated: live.length,
    },
  };
}

interface Turn {
  readonly clock: VirtualClock;
  readonly service: Pick<WebhookService, "mutators">;
  readonly nameOf: () => string;
}

async function reconcile(api: SimulatedAPI, { clock, service, nameOf }: Turn): Promise<void> {
  const { Pod: pods, Deployment, PodDisruptionBudget } = api.store.tables;
  for (const { metadata: { namespace, name, terminating } } of pods.all()) {
    if (namespace === PLACED.namespace && terminating) pods.remove(`${namespace}/${name}`);
  }
  const live = livePods(api.store);
  const missing = PLACED.replicas - live.length;
  for (const { metadata } of byCost(live).slice(0, Math.max(0, -missing))) {
    pods.remove(`${PLACED.namespace}/${metadata.name}`);
  }
  const podsOn = (node: string): number =>
    livePods(api.store).filter(({ nodeName }) => nodeName === node).length;
  for (const pod of livePods(api.store)) schedule(pod, { api, clock, podsOn });
  const key = `${PLACED.namespace}/${PLACED.name}`;
  // One replica may be away.
  const disruptionsAllowed = Math.max(0, readyReplicas(api) - PLACED.replicas + 1);
  PodDisruptionBudget.modify(key, (one) => ({ ...one, disruptionsAllowed }));
  if (Deployment.get(key) !== undefined) Deployment.modify(key, () => deployment(api));
  // All at once: as many as are missing now, whatever the webhook takes.
  await Promise.all(
    Array.from({ length: Math.max(0, missing) }, () => create(api, { clock, service, nameOf })),
  );
}

async function create(api: SimulatedAPI, { clock, service, nameOf }: Turn): Promise<void> {
  const name = nameOf();
  const request = { ...podRequest(name, { owner: OWNER }), namespace: PLACED.namespace };
  // A replica that ends meanwhile never answers: the API server then goes on without it.
  const { patch } = await runMutators(request, service.mutators(), {
    clock,
    withinMs: ADMISSION_MS,
  });
  if (livePods(api.store).length >= PLACED.replicas) return;
  const pod = storedPod(request, { name, owner: OWNER, patch });
  api.store.tables.Pod.seed({
    ...pod,
    metadata: { ...pod.metadata, namespace: PLACED.namespace, ...NO_VERSION },
    createdAtMs: secondOf(clock.wall()),
  });
}
