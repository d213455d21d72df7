/**
 * What the agent does with each of its rights.
 *
 * @module
 */
import assert from "node:assert/strict";
import { allocationListWatch } from "../../../adapters/kube/kinds/allocations.ts";
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import { createDesiredWriter } from "../../../adapters/kube/writers/allocation_writers.ts";
import { createNodeLink, type KubeNodeLink } from "../../../adapters/kube/writers/lease_writers.ts";
import { systemClock } from "../../../adapters/system_clock.ts";
import { sampleDesired } from "../../contract/support/sample_objects.ts";
import { followActs } from "./follow_acts.ts";
import type { RoleAct } from "./role_act.ts";
import type { RoleStage } from "./role_stage.ts";

function link(connection: KubeConnection, { nodeName, namespace }: RoleStage): KubeNodeLink {
  return createNodeLink(connection, {
    nodeName,
    namespace,
    clock: systemClock,
    durationSeconds: 120,
  });
}

/** In the order in which an agent comes to them: its Lease is made before it can be renewed. */
export const AGENT_ACTS: readonly RoleAct[] = [
  ...followActs({
    rights: "podallocations.allocation.mbcas.io",
    kind: "allocations of its node",
    source: (connection, { nodeName }) =>
      allocationListWatch(connection, { fieldSelector: `spec.nodeName=${nodeName}` }),
    name: ({ own }) => own.metadata.name,
  }),
  {
    right: "patch podallocations.allocation.mbcas.io",
    deed: "write a desired limit",
    async perform(connection, stage) {
      await createDesiredWriter(connection).writeDesired(stage.own.metadata, sampleDesired("300m"));
      const { spec } = await stage.allocation(stage.own);
      assert.equal(spec.desiredCPULimit, "300m");
    },
  },
  {
    right: "get nodes",
    deed: "read its node",
    async perform(connection, stage) {
      const { metadata } = await link(connection, stage).node();
      assert.equal(metadata.uid, stage.nodeUID);
    },
  },
  {
    right: "create leases.coordination.k8s.io in mbcas-system",
    deed: "give its first sign of life",
    async perform(connection, stage) {
      await link(connection, stage).renewLease();
      assert.ok(await stage.agentRenewedAt() !== undefined);
    },
  },
  {
    right: "patch leases.coordination.k8s.io in mbcas-system",
    deed: "renew its sign of life",
    async perform(connection, stage) {
      const before = await stage.agentRenewedAt() ?? 0;
      await systemClock.sleep(5);
      await link(connection, stage).renewLease();
      assert.ok((await stage.agentRenewedAt() ?? 0) > before);
    },
  },
];
