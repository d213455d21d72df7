/**
 * A cluster of Deployments with pods that run as they are to run, as a server sends it.
 *
 * @module
 */

/** How large it is. */
export interface ClusterSize {
  readonly workloads: number;
  readonly pods: number;
}

/** Share of the replicas on spot nodes at the beginning, percent. */
export const SHARE = 70;

const NODE_PODS = 50;
const NAMESPACE = "bench";
const CAPACITY = "karpenter.sh/capacity-type";

/** An object as JSON. */
export type Raw = Readonly<Record<string, unknown>>;

function metadata(name: string, uid: string, more: Raw = {}): Raw {
  return { namespace: NAMESPACE, name, uid, resourceVersion: "1", generation: 1, ...more };
}

/** Deployment `web-<index>` with this share on spot nodes. */
export function rawDeployment(
  index: number,
  { pods, share, version }: {
    readonly pods: number;
    readonly share: number;
    readonly version: number;
  },
): Raw {
  const name = `web-${index}`;
  return {
    metadata: metadata(name, `d-${index}`, {
      resourceVersion: `${version}`,
      labels: { app: name, "spotalis.io/enabled": "true" },
      annotations: { "spotalis.io/spot-percentage": `${share}%` },
    }),
    spec: { replicas: pods, template: { spec: { containers: [CONTAINER] } } },
    status: {
      observedGeneration: 1,
      replicas: pods,
      readyReplicas: pods,
      updatedReplicas: pods,
    },
  };
}

const RESOURCES = { requests: { cpu: "100m", memory: "64Mi" }, limits: { cpu: "1" } };
const CONTAINER = {
  name: "app",
  image: "registry.example.com/shop/web:1.2.3",
  resources: RESOURCES,
};

/** All objects of a kind of the API, one by one. */
export function* rawObjects(kind: string, size: ClusterSize): Iterable<Raw> {
  switch (kind) {
    case "namespaces":
      yield { metadata: { name: NAMESPACE, uid: "n", resourceVersion: "1" } };
      return;
    case "deployments":
      for (let index = 0; index < size.workloads; index++) {
        yield rawDeployment(index, { pods: size.pods, share: SHARE, version: 1 });
      }
      return;
    case "replicasets":
      for (let index = 0; index < size.workloads; index++) {
        yield { metadata: metadata(`web-${index}-h`, `r-${index}`, owner("Deployment", index)) };
      }
      return;
    case "nodes":
      for (let index = 0; index < nodesOf(size); index++) yield rawNode(index);
      return;
    case "poddisruptionbudgets":
      for (let index = 0; index < size.workloads; index++) yield rawBudget(index, size.pods);
      return;
    case "pods":
      for (let index = 0; index < size.workloads * size.pods; index++) yield rawPod(index, size);
  }
}

/** The number of nodes, half of them in each class. */
function nodesOf({ workloads, pods }: ClusterSize): number {
  return 2 * Math.ceil(workloads * pods / NODE_PODS);
}

function owner(kind: "Deployment" | "ReplicaSet", index: number): Raw {
  const name = kind === "Deployment" ? `web-${index}` : `web-${index}-h`;
  const uid = kind === "Deployment" ? `d-${index}` : `r-${index}`;
  return { ownerReferences: [{ apiVersion: "apps/v1", kind, name, uid, controller: true }] };
}

function rawNode(index: number): Raw {
  const name = `node-${index}`;
  const labels = {
    "kubernetes.io/hostname": name,
    "kubernetes.io/arch": "amd64",
    "kubernetes.io/os": "linux",
    "node.kubernetes.io/instance-type": "m7i.2xlarge",
    "topology.kubernetes.io/zone": `eu-central-1${"abc"[index % 3]}`,
    [CAPACITY]: index % 2 === 0 ? "spot" : "on-demand",
  };
  return {
    metadata: { name, uid: name, resourceVersion: "1", labels },
    status: {
      allocatable: { cpu: "8", memory: "32Gi" },
      conditions: [{ type: "Ready", status: "True" }],
    },
  };
}

function rawBudget(index: number, pods: number): Raw {
  return {
    metadata: metadata(`web-${index}`, `b-${index}`),
    spec: { minAvailable: 1, selector: { matchLabels: { app: `web-${index}` } } },
    status: {
      observedGeneration: 1,
      disruptionsAllowed: pods - 1,
      currentHealthy: pods,
      desiredHealthy: 1,
    },
  };
}

function rawPod(index: number, size: ClusterSize): Raw {
  const workload = Math.floor(index / size.pods);
  const onSpot = index % size.pods < Math.floor(size.pods * SHARE / 100);
  const place = index % (nodesOf(size) / 2);
  const name = `web-${workload}-h-${index % size.pods}`;
  return {
    metadata: metadata(name, `p-${index}`, {
      ...owner("ReplicaSet", workload),
      creationTimestamp: new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString(),
      labels: {
        app: `web-${workload}`,
        "pod-template-hash": "h",
        "spotalis.io/capacity": onSpot ? "spot" : "on-demand",
      },
    }),
    spec: {
      nodeName: `node-${2 * place + (onSpot ? 0 : 1)}`,
      nodeSelector: { [CAPACITY]: onSpot ? "spot" : "on-demand" },
      containers: [CONTAINER],
    },
    status: {
      phase: "Running",
      qosClass: "Burstable",
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }],
      containerStatuses: [{ name: "app", ready: true, containerID: "containerd://0" }],
    },
  };
}
