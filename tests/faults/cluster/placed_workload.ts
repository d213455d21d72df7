/**
 * A Deployment with replicas that placement spreads over spot and on-demand nodes in the simulated
 * cluster: its controller with scheduler and kubelet in one, and the ports of placement for a process.
 *
 * @module
 */
import type { PlacementAPI } from "../../../controller/placement/ports.ts";
import type { Checkpoint } from "../../../shared/control/persisted_map.ts";
import type { AdmissionRequest } from "../../../shared/admission/admission_review.ts";
import { applyJSONPatch } from "../../fixtures/webhook/apply_json_patch.ts";
import { runMutators } from "../../../shared/admission/run_mutators.ts";
import { objectOf, textsOf } from "../../../adapters/kube/client/json_fields.ts";
import { labelsMatch } from "../../../shared/api/label_selector.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import { secondOf } from "../../../shared/placement/placed_pod.ts";
import type { SimulatedAPI, SimulatedClient } from "../../../lab/simulation/api/simulated_api.ts";
import type { VirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import { samplePod } from "../../contract/support/sample_objects.ts";
import { sampleWorkload } from "../../fixtures/sample_workloads.ts";
import type { WebhookService } from "../../fixtures/webhook/webhook_service.ts";
import { byCost } from "../../simulation/placement_scheduler.ts";
import { checkpointStore } from "./rightsized_workload.ts";

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
const CLASS_LABEL = "karpenter.sh/capacity-type";
const NO_VERSION = { uid: "", resourceVersion: "" };
/** Between two turns of the Deployment's controller, and until a pod on a node is Ready, ms. */
const TURN_MS = 500;
const READY_MS = 2000;
/** For all mutators of one pod, ms. */
const ADMISSION_MS = 200;

/** The ports of placement for one process. */
export function placementAPI(client: SimulatedClient, kept: Map<string, Checkpoint>): PlacementAPI {
  return {
    sources: {
      replicaSets: client.listWatch("ReplicaSet"),
      budgets: client.listWatch("PodDisruptionBudget"),
      volumes: client.listWatch("PersistentVolume"),
    },
    evictor: client.podEvictor,
    costs: client.deletionCostWriter,
    store: checkpointStore(kept),
    statuses: checkpointStore(kept),
    events: { emit: () => {} },
  };
}

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
        labels: { [CLASS_LABEL]: one },
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
  for (const pod of livePods(api.store)) follow(api, clock, pod);
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
  const request: AdmissionRequest = {
    uid: name,
    kind: "Pod",
    resource: "pods",
    operation: "CREATE",
    namespace: PLACED.namespace,
    name: "",
    dryRun: false,
    object: {
      metadata: {
        generateName: `${SET}-`,
        labels: { "pod-template-hash": "5f" },
        ownerReferences: [{ ...OWNER, controller: true }],
      },
      spec: {},
    },
  };
  // A replica that ends meanwhile never answers: the API server then goes on without it.
  const { patch } = await runMutators(request, service.mutators(), {
    clock,
    withinMs: ADMISSION_MS,
  });
  if (livePods(api.store).length >= PLACED.replicas) return;
  const { metadata, spec } = objectOf(applyJSONPatch(request.object, patch));
  const { labels, annotations } = objectOf(metadata);
  const sample = samplePod(name, { namespace: PLACED.namespace, nodeName: "" });
  api.store.tables.Pod.seed({
    ...sample,
    metadata: {
      ...sample.metadata,
      labels: textsOf(labels),
      annotations: textsOf(annotations),
      owner: OWNER,
    },
    nodeSelector: textsOf(objectOf(spec)["nodeSelector"]),
    createdAtMs: secondOf(clock.wall()),
  });
}

/** Gives the pod a node, or makes it Ready. Without a selector it goes to an on-demand node. */
function follow({ store }: SimulatedAPI, clock: VirtualClock, pod: Pod): void {
  const { Pod: pods, Node } = store.tables;
  const { metadata: { name }, nodeName, nodeSelector = {}, createdAtMs = 0, ready } = pod;
  const key = `${PLACED.namespace}/${name}`;
  if (nodeName !== "") {
    if (ready || clock.wall() - createdAtMs < READY_MS) return;
    pods.modify(key, (one) => ({ ...one, phase: "Running", ready: true }));
    return;
  }
  const podsOn = (node: string): number =>
    livePods(store).filter((one) => one.nodeName === node).length;
  const [node] = Node.all()
    .filter(({ labels = {} }) =>
      labels[CLASS_LABEL] !== undefined &&
      labelsMatch(labels, { matchLabels: nodeSelector, matchExpressions: [] })
    )
    .map(({ metadata, labels = {} }) => ({
      name: metadata.name,
      spot: labels[CLASS_LABEL] === "spot",
    }))
    .toSorted((a, b) => Number(a.spot) - Number(b.spot) || podsOn(a.name) - podsOn(b.name));
  if (node !== undefined) pods.modify(key, (one) => ({ ...one, nodeName: node.name }));
}
