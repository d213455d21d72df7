/** Which Leases the agents' account may write, on a real API server. */
import assert from "node:assert/strict";
import { type KubeConnection, resourcePath } from "../../adapters/kube/client/connection.ts";
import { LEASES, parseLease } from "../../adapters/kube/kinds/leases.ts";
import { createNodeLink } from "../../adapters/kube/writers/lease_writers.ts";
import { systemClock } from "../../adapters/system_clock.ts";
import { LEADER_LEASE } from "../../controller/rights.ts";
import { agentLeaseRef } from "../../shared/api/lease.ts";
import { MANNERS, type Target, write } from "./policy/manner.ts";
import { type PolicyStage, setPolicyStage } from "./policy/policy_stage.ts";
import { assertRefused, byLeasePolicy, byRBAC, versionOf } from "./policy/refused_write.ts";
import { PRODUCT_NAMESPACE } from "./scene/product/product.ts";

const OWN_ONLY = byLeasePolicy(": mbcas-agent-");
const NO_NODE = byLeasePolicy("\\bno node\\b");

interface Place {
  readonly namespace: string;
  readonly name: string;
}

function target({ namespace, name }: Place, dryRun = false): Target {
  const path = `${resourcePath({ ...LEASES, namespace })}/${name}`;
  return { apiVersion: "coordination.k8s.io/v1", kind: "Lease", path, dryRun };
}

function create(by: KubeConnection, { namespace, name }: Place): Promise<unknown> {
  const body = {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name },
    spec: { holderIdentity: "first", leaseDurationSeconds: 60 },
  };
  return by.request({ method: "POST", path: resourcePath({ ...LEASES, namespace }), body });
}

/** RBAC allows everything here: only the policy refuses. */
async function byPolicyAlone(t: Deno.TestContext, stage: PolicyStage): Promise<void> {
  const { admin, open: namespace, here, there, agentHere, agentThere, unbound } = stage;
  const at = (name: string): Place => ({ namespace, name });
  const own = at(agentLeaseRef(here.name).name);
  const foreign = at(agentLeaseRef(there.name).name);
  const leaders = at(LEADER_LEASE);

  await t.step("an agent makes its own Lease", async () => {
    await create(agentHere, own);
    await create(agentThere, foreign);
  });
  await t.step("an agent makes no other Lease", async () => {
    const third = at(agentLeaseRef("third-node").name);
    for (const place of [leaders, third, at("any-other")]) {
      await assertRefused(() => create(agentHere, place), OWN_ONLY);
      await assertRefused(() => create(unbound, place), NO_NODE);
      const { path } = target(place);
      await assertRefused(() => admin.request({ path }), { status: 404, message: /not found/ });
    }
  });
  await create(admin, leaders);

  for (const manner of MANNERS) {
    const holder = (identity: string) => ({
      spec: { holderIdentity: identity, leaseDurationSeconds: 60 },
    });
    await t.step(`an agent renews its own Lease by ${manner}`, async () => {
      for (const [by, place] of [[agentHere, own], [agentThere, foreign]] as const) {
        await write(by, { manner, target: target(place), change: holder(manner) });
        const { holder: now } = parseLease(await admin.request({ path: target(place).path }));
        assert.equal(now, manner);
      }
    });
    await t.step(
      `an agent writes neither another's Lease nor the leader's by ${manner}`,
      async () => {
        const refused = [
          [agentHere, foreign, OWN_ONLY],
          [agentThere, own, OWN_ONLY],
          [agentHere, leaders, OWN_ONLY],
          [unbound, own, NO_NODE],
          [unbound, leaders, NO_NODE],
        ] as const;
        for (const [by, place, refusal] of refused) {
          const before = await versionOf(admin, target(place).path);
          const change = holder("usurper");
          await assertRefused(() => write(by, { manner, target: target(place), change }), refusal);
          assert.equal(await versionOf(admin, target(place).path), before);
        }
      },
    );
  }
}

/** Where the product is, and agents have the rights of the manifests. */
async function whereInstalled(t: Deno.TestContext, stage: PolicyStage): Promise<void> {
  const { admin, here, there, agentHere, agentThere } = stage;
  const namespace = PRODUCT_NAMESPACE;
  const foreign = { namespace, name: agentLeaseRef(there.name).name };
  const { path } = target(foreign);
  await t.step("an agent's own sign of life is taken", async () => {
    const link = createNodeLink(agentThere, {
      nodeName: there.name,
      clock: systemClock,
      durationSeconds: 120,
    });
    // Made the first time, renewed the second.
    await link.renewLease();
    await link.renewLease();
    assert.equal(parseLease(await admin.request({ path })).holder, there.name);
  });
  try {
    await t.step("an agent gives no sign of life for another", async () => {
      const before = await versionOf(admin, path);
      const link = createNodeLink(agentHere, {
        nodeName: there.name,
        clock: systemClock,
        durationSeconds: 120,
      });
      await assertRefused(() => link.renewLease(), OWN_ONLY);
      assert.equal(await versionOf(admin, path), before);
      const another = createNodeLink(agentThere, {
        nodeName: here.name,
        clock: systemClock,
        durationSeconds: 120,
      });
      await assertRefused(() => another.renewLease(), OWN_ONLY);
    });
    await t.step("an agent neither reads nor deletes Leases", async () => {
      await assertRefused(() => agentThere.request({ path }), byRBAC("get"));
      await assertRefused(
        () => agentThere.request({ path: resourcePath({ ...LEASES, namespace }) }),
        byRBAC("list"),
      );
      await assertRefused(
        () => agentThere.request({ path, method: "DELETE" }),
        byRBAC("delete"),
      );
    });
    await t.step("an agent does not take the leadership", async () => {
      const leaders = target({ namespace, name: LEADER_LEASE }, true);
      const change = { spec: { holderIdentity: "usurper" } };
      // An apply makes it where no controller has led yet.
      const taking = { manner: "apply", target: leaders, change } as const;
      await assertRefused(() => write(agentHere, taking), OWN_ONLY);
    });
  } finally {
    await admin.request({ path, method: "DELETE" });
  }
}

Deno.test("admission policy over agents' Leases, on a real API server", async (t) => {
  await using stage = await setPolicyStage();
  await byPolicyAlone(t, stage);
  await whereInstalled(t, stage);
});
