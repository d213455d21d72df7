/**
 * What the controller does with each of its rights.
 *
 * @module
 */
import assert from "node:assert/strict";
import { createAllocationStore } from "../../../adapters/kube/writers/allocation_writers.ts";
import { allocationListWatch } from "../../../adapters/kube/kinds/allocations.ts";
import { configMapListWatch } from "../../../adapters/kube/kinds/config_maps.ts";
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import {
  horizontalPodAutoscalerListWatch,
  verticalPodAutoscalerListWatch,
} from "../../../adapters/kube/kinds/autoscalers.ts";
import { createLeaseStore } from "../../../adapters/kube/writers/lease_writers.ts";
import { leaseListWatch } from "../../../adapters/kube/kinds/leases.ts";
import {
  limitRangeListWatch,
  namespaceListWatch,
  resourceQuotaListWatch,
} from "../../../adapters/kube/kinds/namespaces.ts";
import { nodeListWatch } from "../../../adapters/kube/kinds/nodes.ts";
import { createPodResizer } from "../../../adapters/kube/writers/pod_writers.ts";
import { podListWatch } from "../../../adapters/kube/kinds/pods.ts";
import { workloadListWatch } from "../../../adapters/kube/kinds/workloads.ts";
import { systemClock } from "../../../adapters/system_clock.ts";
import { LEADER_LEASE } from "../../../controller/rights.ts";
import type { Lease } from "../../../shared/api/lease.ts";
import type { LeaseStore } from "../../../shared/control/leader_election.ts";
import { eventActs } from "./event_acts.ts";
import { followActs } from "./follow_acts.ts";
import type { RoleAct } from "./role_act.ts";
import { MADE, type RoleStage } from "./role_stage.ts";
import { templateActs } from "./template_acts.ts";

const ALLOCATIONS = "podallocations.allocation.mbcas.io";
const LEASES = "leases.coordination.k8s.io";

/** The copies of kinds in the whole cluster. */
const FOLLOWED: readonly RoleAct[] = [
  { rights: "pods", kind: "pods", source: podListWatch, name: () => MADE },
  { rights: "nodes", kind: "nodes", source: nodeListWatch, name: (at: RoleStage) => at.nodeName },
  {
    rights: "namespaces",
    kind: "namespaces",
    source: namespaceListWatch,
    name: (at: RoleStage) => at.namespace,
  },
  {
    rights: "resourcequotas",
    kind: "quotas",
    source: resourceQuotaListWatch,
    name: () => MADE,
  },
  { rights: "limitranges", kind: "LimitRanges", source: limitRangeListWatch, name: () => MADE },
  {
    rights: ALLOCATIONS,
    kind: "allocations",
    source: allocationListWatch,
    name: (at: RoleStage) => at.own.metadata.name,
  },
  ...(["Deployment", "StatefulSet", "DaemonSet"] as const).map((kind) => ({
    rights: `${kind.toLowerCase()}s.apps`,
    kind: `${kind}s`,
    source: (connection: KubeConnection) => workloadListWatch(connection, { kind }),
    name: () => MADE,
  })),
  {
    rights: "horizontalpodautoscalers.autoscaling",
    kind: "HorizontalPodAutoscalers",
    source: horizontalPodAutoscalerListWatch,
    name: () => MADE,
  },
  {
    rights: "verticalpodautoscalers.autoscaling.k8s.io",
    kind: "VerticalPodAutoscalers",
    source: (connection: KubeConnection) =>
      verticalPodAutoscalerListWatch(connection, { clock: systemClock }),
    name: () => MADE,
    served: (at: RoleStage) => at.servesVPA,
  },
].flatMap((kind) => followActs({ ...kind, source: (connection) => kind.source(connection) }));

function leadership(connection: KubeConnection, { namespace }: RoleStage): LeaseStore {
  return createLeaseStore(connection, { namespace, name: LEADER_LEASE });
}

function candidacy(holder: string, { namespace }: RoleStage): Lease {
  return {
    metadata: { name: LEADER_LEASE, namespace, uid: "", resourceVersion: "" },
    holder,
    durationSeconds: 15,
    acquireTimeMs: undefined,
    renewTimeMs: undefined,
    transitions: 0,
  };
}

/** Its own Lease in the order of an election, the agents' Leases, and the settings. */
const IN_ITS_NAMESPACE: readonly RoleAct[] = [
  {
    right: `create ${LEASES} in mbcas-system`,
    deed: "become the first leader",
    async perform(connection, stage) {
      const lease = await leadership(connection, stage).create(candidacy("first", stage));
      assert.equal(lease.holder, "first");
    },
  },
  {
    right: `get ${LEASES} "${LEADER_LEASE}" in mbcas-system`,
    deed: "see the leader",
    async perform(connection, stage) {
      assert.equal((await leadership(connection, stage).read())?.holder, "first");
    },
  },
  {
    right: `update ${LEASES} "${LEADER_LEASE}" in mbcas-system`,
    deed: "take over the leadership",
    async perform(connection, stage) {
      const store = leadership(connection, stage);
      const next = candidacy("second", stage);
      const { metadata } = await store.read() ?? next;
      assert.equal((await store.update({ ...next, metadata })).holder, "second");
    },
  },
  ...followActs({
    rights: `${LEASES} in mbcas-system`,
    kind: "agents' signs of life",
    source: (connection, { namespace }) => leaseListWatch(connection, { namespace }),
    name: () => LEADER_LEASE,
  }),
  ...followActs({
    rights: 'configmaps "mbcas-config" in mbcas-system',
    kind: "settings",
    source: (connection, { namespace }) =>
      configMapListWatch(connection, { namespace, name: "mbcas-config" }),
    name: () => "mbcas-config",
  }),
];

/** In an order in which each finds what it needs. */
export const CONTROLLER_ACTS: readonly RoleAct[] = [
  ...FOLLOWED,
  {
    right: "patch pods/resize",
    deed: "resize",
    async perform(connection, { namespace, pod, limitOf }) {
      await createPodResizer(connection).resize(namespace, pod.metadata.name, {
        metadata: { uid: pod.metadata.uid },
        spec: { containers: [{ name: "app", resources: { limits: { cpu: "300m" } } }] },
      });
      assert.equal(await limitOf(pod), 300);
    },
  },
  {
    right: `create ${ALLOCATIONS}`,
    deed: "take a pod into the market",
    async perform(connection, { fresh, allocation }) {
      const { metadata } = await createAllocationStore(connection).create(fresh);
      assert.equal((await allocation(fresh)).metadata.uid, metadata.uid);
    },
  },
  {
    right: `update podallocations/status.allocation.mbcas.io`,
    deed: "publish bounds",
    async perform(connection, { reported, allocation }) {
      const status = { bounds: { revision: 7, reason: "", containers: [] } };
      await createAllocationStore(connection).writeStatus({ ...reported, status });
      assert.equal((await allocation(reported)).status?.bounds?.revision, 7);
    },
  },
  {
    right: `delete ${ALLOCATIONS}`,
    deed: "let go of a pod",
    async perform(connection, { gone, allocation }) {
      await createAllocationStore(connection).remove(gone);
      await assert.rejects(allocation(gone), /not found/);
    },
  },
  ...templateActs(),
  ...eventActs(),
  ...IN_ITS_NAMESPACE,
];
