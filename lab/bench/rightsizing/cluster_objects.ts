/**
 * The objects of a cluster with usage that is known: namespaces, Deployments and their pods.
 *
 * @module
 */
import type { SimulatedAPI } from "../../simulation/api/simulated_api.ts";
import {
  templateContainer,
  workloadPod,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import {
  type ClusterSize,
  containerName,
  namespaceOf,
  podName,
  replicaSetName,
  workloadName,
} from "./known_usage.ts";

const BARE = { uid: "", resourceVersion: "", labels: {}, annotations: {} };

/** Adds them; each pod runs, and has what its template says. */
export function addCluster(tables: SimulatedAPI["store"]["tables"], size: ClusterSize): void {
  const containers = Array.from(
    { length: size.containers },
    (_, index) => templateContainer({ name: containerName(index) }),
  );
  const namespaces = new Set<string>();
  for (let workload = 0; workload < size.workloads; workload++) {
    const namespace = namespaceOf(workload);
    if (!namespaces.has(namespace)) {
      tables.Namespace.create({ metadata: { name: namespace, ...BARE } });
      namespaces.add(namespace);
    }
    tables.Deployment.create({
      kind: "Deployment",
      metadata: { name: workloadName(workload), namespace, ...BARE },
      rollout: { updated: size.pods, total: size.pods, stands: false },
      makes: {
        paused: false,
        replicas: size.pods,
        template: { containers, initContainers: [] },
      },
    });
    for (let pod = 0; pod < size.pods; pod++) {
      const name = podName({ workload, pod });
      const made = workloadPod(name, containers);
      const { owner } = made.metadata;
      tables.Pod.seed({
        ...made,
        metadata: {
          ...made.metadata,
          namespace,
          ...(owner === undefined ? {} : { owner: { ...owner, name: replicaSetName(workload) } }),
        },
      });
    }
  }
}
