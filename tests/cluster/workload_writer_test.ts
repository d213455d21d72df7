/** What rightsizing writes of workloads, on a real API server. */
import { patchRequest } from "../../adapters/kube/client/connection.ts";
import { createWorkloadWriter } from "../../adapters/kube/writers/workload_writer.ts";
import { parseWorkload } from "../../adapters/kube/kinds/workloads.ts";
import { silentLog } from "../../shared/log.ts";
import { workloadWriterContract } from "../contract/workload_writer_contract.ts";
import { containerSpec, openContractWorld } from "./scene/contract_world.ts";

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
