/** The contract suite of evictions, against a real API server. */
import { listOf, objectOf } from "../../adapters/kube/client/json_fields.ts";
import { parsePodDisruptionBudget } from "../../adapters/kube/kinds/pod_disruption_budgets.ts";
import { createPodEvictor } from "../../adapters/kube/writers/pod_writers.ts";
import { podEvictorContract } from "../contract/pod_evictor_contract.ts";
import { sampleContainer } from "../contract/support/sample_objects.ts";
import { openContractWorld } from "./scene/contract_world.ts";
import { until } from "./scene/until.ts";

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
