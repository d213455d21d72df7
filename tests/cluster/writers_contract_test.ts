/** The contract suites of evictions and of what rightsizing writes of workloads, on a real API server. */
import { listOf, objectOf } from "../../adapters/kube/client/json_fields.ts";
import { parsePodDisruptionBudget } from "../../adapters/kube/kinds/pod_disruption_budgets.ts";
import { createPodEvictor } from "../../adapters/kube/writers/pod_writers.ts";
import { podEvictorContract } from "../contract/pod_evictor_contract.ts";
import { sampleContainer } from "../contract/support/sample_objects.ts";
import { until } from "./scene/until.ts";
import { patchRequest } from "../../adapters/kube/client/connection.ts";
import { createWorkloadWriter } from "../../adapters/kube/writers/workload_writer.ts";
import { parseWorkload } from "../../adapters/kube/kinds/workloads.ts";
import { silentLog } from "../../shared/log.ts";
import { workloadWriterContract } from "../contract/workload_writer_contract.ts";
import { containerSpec, openContractWorld } from "./scene/contract_world.ts";

podEvictorContract(async () => {
  const { connection, namespace, ...world } = await openContractWorld();
  const budgets = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;
  return {
    ...world,
    subject: createPodEvictor(connection),
    running: (name) => world.runningPod(name, [sampleContainer()]),
    pending: (name) => world.idlePod(name),
    async protect(count) {
      for (let index = 0; index < count; index++) {
        const body = {
          apiVersion: "policy/v1",
          kind: "PodDisruptionBudget",
          metadata: { name: `none-${index}` },
          spec: { maxUnavailable: 0, selector: {} },
        };
        await connection.request({ method: "POST", path: budgets, body });
      }
      await until("budgets in force", async () => {
        const { items } = objectOf(await connection.request({ path: budgets }));
        const all = listOf(items).map((raw) => parsePodDisruptionBudget(raw));
        return all.length === count && all.every(({ current }) => current) ? true : undefined;
      });
    },
    read: world.pod,
  };
});

/** What rightsizing writes of workloads, on a real API server. */

workloadWriterContract(async () => {
  const { connection, namespace, find, ...world } = await openContractWorld();
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  let created = 0;
  return {
    ...world,
    subject: createWorkloadWriter(connection, { log: silentLog }),
    async create(containers, annotations = {}) {
      const labels = { app: `web-${created}` };
      const spec = {
        containers: containers.filter(({ sidecar }) => !sidecar).map(containerSpec),
        initContainers: containers.filter(({ sidecar }) => sidecar).map(containerSpec),
      };
      const body = {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: `web-${created++}`, annotations },
        spec: {
          replicas: 0,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec },
        },
      };
      const query = { fieldManager: "other" };
      return parseWorkload(
        await connection.request({ method: "POST", path, query, body }),
        "Deployment",
      );
    },
    async read({ metadata: { name } }) {
      const raw = await find({ path: `${path}/${name}` });
      return raw === undefined ? undefined : parseWorkload(raw, "Deployment");
    },
    async edit({ metadata: { name }, makes }, requestCPU) {
      const first = makes?.template.containers[0]?.name;
      const containers = [{ name: first, resources: { requests: { cpu: `${requestCPU}m` } } }];
      await connection.request(
        patchRequest("strategic", {
          path: `${path}/${name}`,
          query: { fieldManager: "other" },
          body: { spec: { template: { spec: { containers } } } },
        }),
      );
    },
    remove: async ({ metadata: { name } }) =>
      void await connection.request({ method: "DELETE", path: `${path}/${name}` }),
  };
});
