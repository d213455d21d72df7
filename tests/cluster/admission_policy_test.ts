/** The write permissions on allocations, on a real API server. */
import assert from "node:assert/strict";
import { allocationsPath, parseAllocation } from "../../adapters/kube/kinds/allocations.ts";
import {
  createAllocationStore,
  createDesiredWriter,
} from "../../adapters/kube/writers/allocation_writers.ts";
import type { KubeConnection } from "../../adapters/kube/client/connection.ts";
import { objectOf } from "../../adapters/kube/client/json_fields.ts";
import {
  desiredSchema,
  type PodAllocation,
  podAllocationSchema,
} from "../../shared/api/pod_allocation.ts";
import { sampleDesired } from "../contract/support/sample_objects.ts";
import { type Change, type Manner, MANNERS, type Target, write } from "./policy/manner.ts";
import {
  allocationTarget,
  draftAllocation,
  type PolicyStage,
  setPolicyStage,
} from "./policy/policy_stage.ts";
import {
  assertRefused,
  byDefinition,
  byPolicy,
  byRBAC,
  type Refusal,
  versionOf,
} from "./policy/refused_write.ts";

const NOT_YOURS = byPolicy("administer podallocations");

const NOT_THE_STATUS = byPolicy("\\bstatus of PodAllocations$");

/** A forged record of original limits. */
const FORGED: Change = { status: { originalLimits: [{ name: "app", cpu: "64" }] } };

function limits(cpuLimit: string): Change {
  return { spec: { desiredCPULimit: cpuLimit, containers: [{ name: "app", cpuLimit }] } };
}

/** The changes that an agent may not make, in which ways, and the refusing policy. */
const FIELDS: readonly (readonly [what: string, change: Change, refusal: Refusal, Manner[]?])[] = [
  // To these the definition holds everybody, before any policy is asked; the policy says the same.
  ["spec.podName", { spec: { podName: "x" } }, byDefinition("podName is immutable")],
  ["spec.podUID", { spec: { podUID: "x" } }, byDefinition("podUID is immutable")],
  ["spec.nodeName", { spec: { nodeName: "x" } }, byDefinition("nodeName is immutable")],
  ["spec.namespace", { spec: { namespace: "x" } }, byDefinition("namespace is immutable")],
  ["labels", { metadata: { labels: { team: "b" } } }, byPolicy("metadata.labels")],
  ["annotations", { metadata: { annotations: { x: "1" } } }, byPolicy("metadata.annotations")],
  [
    "ownerReferences",
    { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "x", uid: "x" }] } },
    byPolicy("metadata.ownerReferences"),
  ],
  ["finalizers", { metadata: { finalizers: ["mbcas.io/x"] } }, byPolicy("metadata.finalizers")],
  // An apply takes away only what it wrote itself.
  ["labels to none", { metadata: { labels: null } }, byPolicy("metadata.labels"), [
    "update",
    "patch",
  ]],
  ["annotations to none", { metadata: { annotations: null } }, byPolicy("metadata.annotations"), [
    "update",
    "patch",
  ]],
];

async function read({ admin }: PolicyStage, { path }: Target): Promise<PodAllocation> {
  return parseAllocation(await admin.request({ path }));
}

/** Throws unless the write is refused and the object stays as it was. */
async function assertUnwritten(
  stage: PolicyStage,
  { by, manner, target, change, refusal }: {
    readonly by: KubeConnection;
    readonly manner: Manner;
    readonly target: Target;
    readonly change: Change;
    readonly refusal: Refusal;
  },
): Promise<void> {
  const before = await versionOf(stage.admin, target.path);
  await assertRefused(() => write(by, { manner, target, change }), refusal);
  assert.equal(await versionOf(stage.admin, target.path), before);
}

async function agents(t: Deno.TestContext, stage: PolicyStage): Promise<void> {
  const { open, plain, here, there, agentHere, agentThere, unbound } = stage;
  const own = await stage.allocate(open, { name: "own", node: here.name });
  const foreign = await stage.allocate(open, { name: "foreign", node: there.name });

  for (const [index, manner] of MANNERS.entries()) {
    const cpu = `${300 + index}m`;
    await t.step(`an agent writes the desired limits of its own node by ${manner}`, async () => {
      await write(agentHere, { manner, target: own, change: limits(cpu) });
      await write(agentThere, { manner, target: foreign, change: limits(cpu) });
      assert.equal((await read(stage, own)).spec.desiredCPULimit, cpu);
      assert.equal((await read(stage, foreign)).spec.desiredCPULimit, cpu);
    });
    await t.step(`an agent may not write another node's limits by ${manner}`, async () => {
      const change = limits("900m");
      for (
        const [by, target, nodeName, bound] of [
          [agentHere, foreign, there.name, here.name],
          [agentThere, own, here.name, there.name],
        ] as const
      ) {
        const refusal = byPolicy(`spec.nodeName is ${nodeName}\\b.*\\b${bound}\\b`);
        await assertUnwritten(stage, { by, manner, target, change, refusal });
      }
    });
    await t.step(`an agent's token without a node writes no limits by ${manner}`, async () => {
      const refusal = byPolicy("\\bno node\\b");
      const change = limits("900m");
      await assertUnwritten(stage, { by: unbound, manner, target: own, change, refusal });
    });
    for (const [what, change, refusal, manners = MANNERS] of FIELDS) {
      if (!manners.includes(manner)) continue;
      await t.step(`an agent may not change ${what} by ${manner}`, async () => {
        await assertUnwritten(stage, { by: agentHere, manner, target: own, change, refusal });
        // Nor in passing, beside what it may change.
        const both = { ...change, spec: { ...limits("900m").spec, ...change.spec } };
        await assertUnwritten(stage, { by: agentHere, manner, target: own, change: both, refusal });
      });
    }
  }

  for (const manner of MANNERS) {
    await t.step(`an agent may not write the status where RBAC lets it by ${manner}`, async () => {
      const what = { manner, change: FORGED, refusal: NOT_THE_STATUS };
      for (const by of [agentHere, agentThere, unbound]) {
        await assertUnwritten(stage, { by, target: { ...own, statusOnly: true }, ...what });
      }
      // By way of the object it is no refusal, and no status either.
      const change = { ...limits("700m"), ...FORGED };
      await write(agentHere, { manner, target: own, change });
      const { spec, status } = await read(stage, own);
      assert.deepEqual([spec.desiredCPULimit, status], ["700m", undefined]);
    });
  }

  const draft = { name: "made", node: here.name };
  const create = (namespace: string) => () =>
    agentHere.request({
      method: "POST",
      path: allocationsPath(namespace),
      body: draftAllocation(namespace, draft),
    });
  await t.step("an agent may not create allocations of its node, by RBAC", async () => {
    await assertRefused(create(plain), byRBAC("create"));
  });
  await t.step("an agent may not create allocations of its node, by policy", async () => {
    const refusal = byPolicy("\\bcreates PodAllocations$");
    await assertRefused(create(open), refusal);
    const target = allocationTarget(open, draft.name);
    const { spec } = draftAllocation(open, draft) as { spec: Record<string, unknown> };
    const apply = { manner: "apply", target, change: { spec } } as const;
    await assertRefused(() => write(agentHere, apply), refusal);
    await assertRefused(() => stage.admin.request({ path: target.path }), {
      status: 404,
      message: /not found/,
    });
  });

  await t.step("an agent is tried with each field of the spec that is not its own", () => {
    const others = Object.keys(podAllocationSchema.shape.spec.shape)
      .filter((field) => !(field in desiredSchema.shape));
    const tried = FIELDS.flatMap(([, { spec = {} }]) => Object.keys(spec));
    assert.deepEqual(tried, others);
  });

  const kept = await stage.allocate(plain, { name: "kept", node: here.name });
  await t.step("an agent writes with the rights of the manifests, too", async () => {
    const { metadata } = await read(stage, kept);
    await createDesiredWriter(agentHere).writeDesired(metadata, sampleDesired("300m"));
    assert.equal((await read(stage, kept)).spec.desiredCPULimit, "300m");
  });
  await t.step("an agent may not delete allocations of its node", async () => {
    const { path } = kept;
    const before = await versionOf(stage.admin, path);
    await assertRefused(() => agentHere.request({ method: "DELETE", path }), byRBAC("delete"));
    const all = { method: "DELETE", path: allocationsPath(plain) } as const;
    await assertRefused(() => agentHere.request(all), byRBAC("deletecollection"));
    assert.equal(await versionOf(stage.admin, path), before);
  });
  await t.step("an agent may not write the status, which holds its bounds", async () => {
    const status = { bounds: { revision: 9, reason: "", containers: [] } };
    const store = createAllocationStore(agentHere);
    const allocation = { ...await read(stage, kept), status };
    await assertRefused(() => store.writeStatus(allocation), byRBAC("update"));
    assert.equal((await read(stage, kept)).status, undefined);
  });
}

async function others(t: Deno.TestContext, stage: PolicyStage): Promise<void> {
  const { admin, open, plain, here, there, controller, outsider, administrator } = stage;
  const draft = (namespace: string, name: string): PodAllocation => ({
    apiVersion: "allocation.mbcas.io/v1alpha1",
    kind: "PodAllocation",
    metadata: { name, namespace, uid: "", resourceVersion: "" },
    spec: { podName: name, podUID: name, nodeName: there.name, namespace },
  });
  await t.step(
    "the controller creates allocations, writes their status, deletes them",
    async () => {
      const store = createAllocationStore(controller);
      const created = await store.create(draft(plain, "enrolled"));
      const status = { bounds: { revision: 1, reason: "", containers: [] } };
      const written = await store.writeStatus({ ...created, status });
      assert.equal(written.status?.bounds?.revision, 1);
      await store.remove(written);
      const { path } = allocationTarget(plain, "enrolled");
      await assertRefused(() => admin.request({ path }), { status: 404, message: /not found/ });
    },
  );

  const label = (team: string): Change => ({ metadata: { labels: { team } } });
  const labels = async ({ path }: Target): Promise<unknown> =>
    objectOf(objectOf(await admin.request({ path })).metadata).labels;
  const target = await stage.allocate(open, { name: "theirs", node: here.name });
  const beyond = await stage.allocate(plain, { name: "beyond", node: here.name });

  for (const manner of MANNERS) {
    await t.step(`a cluster-admin changes what agents may not by ${manner}`, async () => {
      await write(admin, { manner, target, change: label(`admin-${manner}`) });
      assert.deepEqual(await labels(target), { team: `admin-${manner}` });
    });
    await t.step(`an administrator changes what agents may not by ${manner}`, async () => {
      await write(administrator, { manner, target, change: label(`other-${manner}`) });
      assert.deepEqual(await labels(target), { team: `other-${manner}` });
    });
    await t.step(`an administrator of another namespace changes nothing by ${manner}`, async () => {
      const what = { by: administrator, manner, target: beyond, refusal: NOT_YOURS };
      await assertUnwritten(stage, { ...what, change: label("x") });
      await assertUnwritten(stage, { ...what, change: limits("900m") });
    });
    await t.step(`administrators write the status, others do not by ${manner}`, async () => {
      const statusOnly = { ...target, statusOnly: true };
      const refused = { manner, change: FORGED, refusal: NOT_YOURS };
      await assertUnwritten(stage, { by: outsider, target: statusOnly, ...refused });
      const elsewhere = { ...beyond, statusOnly: true };
      await assertUnwritten(stage, { by: administrator, target: elsewhere, ...refused });
      for (const [name, by] of [["admin", admin], ["other", administrator]] as const) {
        const message = `${name}-${manner}`;
        await write(by, { manner, target: statusOnly, change: { status: { message } } });
        assert.equal((await read(stage, target)).status?.message, message);
      }
    });
    await t.step(`others with all rights on allocations change nothing by ${manner}`, async () => {
      const what = { by: outsider, manner, target, refusal: NOT_YOURS };
      await assertUnwritten(stage, { ...what, change: label("x") });
      // Its token is bound to the allocation's node, as that of any pod there is.
      await assertUnwritten(stage, { ...what, change: limits("900m") });
    });
  }

  await t.step("others create no allocations, an administrator does", async () => {
    const create = (by: KubeConnection) =>
      createAllocationStore(by).create(draft(open, "administered"));
    await assertRefused(() => create(outsider), NOT_YOURS);
    assert.equal((await create(administrator)).metadata.name, "administered");
  });
  await t.step("an allocation stands in the namespace of its pod, for every writer", async () => {
    const raw = draftAllocation("default", { name: "orphan", node: here.name });
    const body = { ...raw, metadata: { name: "orphan" } };
    const create = () => admin.request({ method: "POST", path: allocationsPath(plain), body });
    await assertRefused(create, {
      status: 422,
      message: /'mbcas-allocation-namespace' .*spec\.namespace is default/,
    });
  });
}

Deno.test("admission policies over allocations, on a real API server", async (t) => {
  await using stage = await setPolicyStage();
  await agents(t, stage);
  await others(t, stage);
});
