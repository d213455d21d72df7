/** Where each kind is listed. */
import assert from "node:assert/strict";
import type { ApiObject } from "../../../shared/api/object.ts";
import { serveCanned } from "../../../tests/fixtures/canned_server.ts";
import type { OpenListWatch } from "../client/list_watch.ts";
import { allocationListWatch } from "./allocations.ts";
import { horizontalPodAutoscalerListWatch } from "./autoscalers.ts";
import { leaseListWatch } from "./leases.ts";
import { limitRangeListWatch, namespaceListWatch, resourceQuotaListWatch } from "./namespaces.ts";
import { nodeListWatch, persistentVolumeListWatch } from "./nodes.ts";
import { recommendationReportListWatch } from "./optimization_policies.ts";
import { podDisruptionBudgetListWatch } from "./pod_disruption_budgets.ts";
import { podListWatch } from "./pods.ts";
import { replicaSetListWatch } from "./workloads.ts";

const KINDS: Readonly<Record<string, OpenListWatch<ApiObject>>> = {
  "/api/v1/nodes": nodeListWatch,
  "/api/v1/persistentvolumes": persistentVolumeListWatch,
  "/api/v1/namespaces": namespaceListWatch,
  "/api/v1/limitranges": limitRangeListWatch,
  "/api/v1/resourcequotas": resourceQuotaListWatch,
  "/api/v1/pods": podListWatch,
  "/apis/apps/v1/replicasets": replicaSetListWatch,
  "/apis/policy/v1/poddisruptionbudgets": podDisruptionBudgetListWatch,
  "/apis/autoscaling/v2/horizontalpodautoscalers": horizontalPodAutoscalerListWatch,
  "/apis/coordination.k8s.io/v1/leases": leaseListWatch,
  "/apis/allocation.mbcas.io/v1alpha1/podallocations": allocationListWatch,
  "/apis/optipod.io/v1alpha1/recommendationreports": recommendationReportListWatch,
};

for (const [path, open] of Object.entries(KINDS)) {
  Deno.test(`${path} is listed where the server has it, by namespace and selectors`, async () => {
    await using server = serveCanned(() => ({ metadata: { resourceVersion: "9" }, items: [] }));
    const { signal } = new AbortController();
    const listed = await open(server.connection).list(signal);
    assert.deepEqual(listed, { items: [], resourceVersion: "9" });
    await open(server.connection, { namespace: "shop", labelSelector: "a=b" }).list(signal);
    const within = path.replace(/\/([a-z]+)$/, "/namespaces/shop/$1");
    assert.deepEqual(server.requests.map(({ path, query }) => [path, query]), [
      [path, { limit: "500" }],
      [within, { labelSelector: "a=b", limit: "500" }],
    ]);
  });
}
