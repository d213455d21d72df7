/**
 * The write permissions on allocations and on agents' Leases, and what the controller may change of a pod:
 * the deletion cost; on a real API server. RBAC allows everything in the namespace `open`, so that what is
 * refused there is refused by the policies.
 */
import assert from "node:assert/strict";
import { allocationPath, allocationsPath } from "../../adapters/kube/kinds/allocations.ts";
import { listOf, objectOf } from "../../adapters/kube/client/json_fields.ts";
import { patchRequest, resourcePath } from "../../adapters/kube/client/connection.ts";
import { LEASES } from "../../adapters/kube/kinds/leases.ts";
import { CONTROLLER_LEASE } from "../../shared/installation.ts";
import { agentLeaseRef } from "../../shared/api/lease.ts";
import { desiredSchema, podAllocationSchema } from "../../shared/api/pod_allocation.ts";
import { DELETION_COST } from "../../shared/placement/split.ts";
import {
  allocationBody,
  assertRefused,
  byDefinition,
  byLeasePolicy,
  byPolicy,
  type Change,
  denial,
  POD_POLICY,
  type PolicyAccounts,
  type PolicyStage,
  type Refusal,
  setPolicyStage,
  versionOf,
} from "./scene/policy_stage.ts";
import { podPath } from "./scene/real_node.ts";

type Account = keyof PolicyAccounts;

/** An account's write to an object, and the answer; undefined: it is taken. */
interface Row {
  readonly by: Account;
  readonly to: string;
  readonly what: string;
  readonly change: Change;
  readonly refusal?: Refusal;
}

const NOT_YOURS = byPolicy("administer podallocations");
const NO_NODE = byPolicy("\\bno node\\b");
const NOT_THE_STATUS = byPolicy("\\bstatus of PodAllocations$");
const OWN_ONLY = byLeasePolicy(": mbcas-agent-");
const NO_NODE_FOR_LEASES = byLeasePolicy("\\bno node\\b");
const GONE: Refusal = { status: 404, message: /not found/ };

const FORGED: Change = { status: { originalLimits: [{ name: "app", cpu: "64" }] } };
const LIMITS: Change = {
  spec: { desiredCPULimit: "900m", containers: [{ name: "app", cpuLimit: "900m" }] },
};
const LABELS: Change = { metadata: { labels: { team: "b" } } };
const HOLDER: Change = { spec: { holderIdentity: "tried", leaseDurationSeconds: 60 } };
const OWNERS = [{ apiVersion: "v1", kind: "Pod", name: "x", uid: "x" }];

/** Changes that an agent may not make to the allocations of its node. */
const FIELDS: readonly (readonly [change: Change, refusal: Refusal])[] = [
  // To these the definition holds every writer, before any policy is asked; the policy says the same.
  ...["podName", "podUID", "nodeName", "namespace"].map((field) =>
    [{ spec: { [field]: "x" } }, byDefinition(`${field} is immutable`)] as const
  ),
  [LABELS, byPolicy("metadata.labels")],
  [{ metadata: { annotations: { x: "1" } } }, byPolicy("metadata.annotations")],
  [{ metadata: { ownerReferences: OWNERS } }, byPolicy("metadata.ownerReferences")],
  [{ metadata: { finalizers: ["mbcas.io/x"] } }, byPolicy("metadata.finalizers")],
  [{ metadata: { labels: null } }, byPolicy("metadata.labels")],
  [{ metadata: { annotations: null } }, byPolicy("metadata.annotations")],
];

function cost(value: number): Change {
  return { metadata: { annotations: { [DELETION_COST]: String(value) } } };
}

/** Changes that the controller may not make to a pod, and the policy's names for them. */
function forbiddenOf(pod: unknown): typeof FIELDS {
  const [container] = listOf(objectOf(objectOf(pod).spec).containers).map(objectOf);
  const containers = [{ ...container, image: "registry.example.com/stolen" }];
  const by = (message: string): Refusal => ({ message: denial(POD_POLICY, message) });
  return [
    [{ spec: { containers } }, by("spec")],
    [{ spec: { activeDeadlineSeconds: 1 } }, by("spec")],
    [{ metadata: { annotations: { "example.com/other": "1" } } }, by("no annotation")],
    [{ metadata: { annotations: null } }, by("no annotation")],
    [{ metadata: { labels: { app: "other" } } }, by("metadata.labels")],
    [{ metadata: { labels: null } }, by("metadata.labels")],
    [{ metadata: { ownerReferences: OWNERS } }, by("metadata.ownerReferences")],
    [{ metadata: { finalizers: ["example.com/x"] } }, by("metadata.finalizers")],
  ];
}

function rowsOf({ here, there, pod }: PolicyStage): readonly Row[] {
  const row = (by: Account, to: string, change: Change, refusal?: Refusal): Row => {
    const what = Object.keys(Object.values(change)[0] ?? {}).join(" and ");
    return { by, to, what, change, ...(refusal === undefined ? {} : { refusal }) };
  };
  const bound = (node: string, own: string): Refusal =>
    byPolicy(`spec.nodeName is ${node}\\b.*\\b${own}\\b`);
  return [
    row("agentHere", "own", LIMITS),
    row("agentThere", "foreign", LIMITS),
    row("agentHere", "foreign", LIMITS, bound(there.name, here.name)),
    row("agentThere", "own", LIMITS, bound(here.name, there.name)),
    row("unbound", "own", LIMITS, NO_NODE),
    // Alone, and in passing, beside what it may change.
    ...FIELDS.flatMap(([change, refusal]) =>
      [change, { ...change, spec: { ...LIMITS.spec, ...change.spec } }].map((one) =>
        row("agentHere", "own", one, refusal)
      )
    ),
    ...(["agentHere", "agentThere", "unbound"] as const).map((by) =>
      row(by, "own status", FORGED, NOT_THE_STATUS)
    ),
    row("admin", "theirs", LABELS),
    row("administrator", "theirs", LABELS),
    // Its token is bound to the allocation's node, as that of any pod there is.
    row("outsider", "theirs", LABELS, NOT_YOURS),
    row("outsider", "theirs", LIMITS, NOT_YOURS),
    row("administrator", "beyond", LABELS, NOT_YOURS),
    row("administrator", "beyond", LIMITS, NOT_YOURS),
    row("admin", "theirs status", { status: { message: "admin" } }),
    row("administrator", "theirs status", { status: { message: "other" } }),
    row("outsider", "theirs status", FORGED, NOT_YOURS),
    row("administrator", "beyond status", FORGED, NOT_YOURS),
    row("agentHere", "own Lease", HOLDER),
    row("agentThere", "foreign Lease", HOLDER),
    row("agentHere", "foreign Lease", HOLDER, OWN_ONLY),
    row("agentThere", "own Lease", HOLDER, OWN_ONLY),
    row("agentHere", "leader's Lease", HOLDER, OWN_ONLY),
    row("unbound", "own Lease", HOLDER, NO_NODE_FOR_LEASES),
    row("unbound", "leader's Lease", HOLDER, NO_NODE_FOR_LEASES),
    row("controller", "pod", cost(-1)),
    ...forbiddenOf(pod).flatMap(([change, refusal]) =>
      [change, { ...change, metadata: { ...cost(-9).metadata, ...change.metadata } }].map((one) =>
        row("controller", "pod", one, refusal)
      )
    ),
    row("admin", "pod", { metadata: { labels: { app: "x" } } }),
  ];
}

/** Makes the objects that the rows name, the agents' Leases by themselves; their paths. */
async function pathsOf(stage: PolicyStage): Promise<ReadonlyMap<string, string>> {
  const { accounts: { admin, agentHere, agentThere }, open, plain, here, there } = stage;
  const paths = new Map([["pod", podPath({ namespace: open, name: "web" })]]);
  for (
    const [name, namespace, node] of [
      ["own", open, here],
      ["foreign", open, there],
      ["theirs", open, here],
      ["beyond", plain, here],
    ] as const
  ) {
    const body = allocationBody(namespace, { name, node: node.name });
    await admin.request({ method: "POST", path: allocationsPath(namespace), body });
    const path = allocationPath({ namespace, name });
    paths.set(name, path).set(`${name} status`, `${path}/status`);
  }
  const leases = resourcePath({ ...LEASES, namespace: open });
  for (
    const [text, name, by] of [
      ["own Lease", agentLeaseRef(here.name).name, agentHere],
      ["foreign Lease", agentLeaseRef(there.name).name, agentThere],
      ["leader's Lease", CONTROLLER_LEASE, admin],
    ] as const
  ) {
    await by.request({ method: "POST", path: leases, body: { metadata: { name }, ...HOLDER } });
    paths.set(text, `${leases}/${name}`);
  }
  return paths;
}

async function changes(t: Deno.TestContext, stage: PolicyStage): Promise<void> {
  const { accounts } = stage;
  const paths = await pathsOf(stage);
  for (const { by, to, what, change, refusal } of rowsOf(stage)) {
    const verb = refusal === undefined ? "writes" : "may not write";
    await t.step(`${by} ${verb} ${what} of ${to}`, async () => {
      const path = paths.get(to) ?? assert.fail(to);
      const object = path.replace(/\/status$/, "");
      const attempt = () => accounts[by].request(patchRequest("merge", { path, body: change }));
      if (refusal === undefined) {
        await attempt();
        assert.partialDeepStrictEqual(await accounts.admin.request({ path: object }), change);
      } else {
        const before = await versionOf(accounts.admin, object);
        await assertRefused(attempt, refusal);
        assert.equal(await versionOf(accounts.admin, object), before);
      }
    });
  }
  await t.step("an agent is tried with each field of the spec that is not its own", () => {
    const others = Object.keys(podAllocationSchema.shape.spec.shape)
      .filter((field) => !(field in desiredSchema.shape));
    assert.deepEqual(FIELDS.flatMap(([{ spec = {} }]) => Object.keys(spec)), others);
  });
}

function requestRows({ open, plain, here }: PolicyStage) {
  const allocation = (namespace: string, spec = namespace) => ({
    method: "POST" as const,
    path: allocationsPath(namespace),
    body: {
      ...allocationBody(spec, { name: "made", node: here.name }),
      metadata: { name: "made" },
    },
  });
  const lease = (name: string) => ({
    method: "POST" as const,
    path: resourcePath({ ...LEASES, namespace: open }),
    body: { metadata: { name } },
  });
  const third = agentLeaseRef("third-node").name;
  return [
    ["agentHere", "make an allocation", allocation(open), byPolicy("\\bcreates PodAllocations$")],
    ["outsider", "make an allocation", allocation(open), NOT_YOURS],
    ["administrator", "make an allocation", allocation(open), undefined],
    ["admin", "make an allocation that stands elsewhere", allocation(plain, "default"), {
      status: 422,
      message: /'mbcas-allocation-namespace' .*spec\.namespace is default/,
    }],
    ...[third, "any-other"].flatMap((name) => [
      ["agentHere", `make the Lease ${name}`, lease(name), OWN_ONLY] as const,
      ["unbound", `make the Lease ${name}`, lease(name), NO_NODE_FOR_LEASES] as const,
      ["admin", `find the Lease ${name}`, { path: `${lease(name).path}/${name}` }, GONE] as const,
    ]),
  ] as const;
}

Deno.test("admission policies over allocations, Leases and pods, on a real API server", async (t) => {
  await using stage = await setPolicyStage();
  await changes(t, stage);
  for (const [by, what, request, refusal] of requestRows(stage)) {
    const attempt = () => stage.accounts[by].request(request);
    await t.step(`${by} ${refusal === undefined ? "may" : "may not"} ${what}`, async () => {
      await (refusal === undefined ? attempt() : assertRefused(attempt, refusal));
    });
  }
});
