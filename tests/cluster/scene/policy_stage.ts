/**
 * The policies of the manifests in force, two nodes, and accounts that may or may not write.
 *
 * @module
 */
import {
  type KubeConnection,
  type OpenKubeConnection,
  patchRequest,
} from "../../../adapters/kube/client/connection.ts";
import { listOf, objectOf } from "../../../adapters/kube/client/json_fields.ts";
import { parseIdentity } from "../../../adapters/kube/kinds/object_fields.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import { createKubectl, type Kubectl } from "../kubectl.ts";
import { createRoleCopies, isAllowed, ruleOfRight } from "../rbac/rights.ts";
import { applyRights, renderWith } from "../rendered_manifests.ts";
import { connectByToken, openRealNode, requestToken, scratchNamespace } from "./real_node.ts";
import { PRODUCT_NAMESPACE } from "./product.ts";
import { until } from "./until.ts";
import assert from "node:assert/strict";

export interface BoundNode {
  readonly name: string;
  readonly uid: string;
}

export interface PolicyAccounts {
  readonly admin: OpenKubeConnection;
  /** The agents' account with a token of node `here`, of node `there`, and of none. */
  readonly agentHere: OpenKubeConnection;
  readonly agentThere: OpenKubeConnection;
  readonly unbound: OpenKubeConnection;
  readonly controller: OpenKubeConnection;
  /** Accounts of others with all rights on allocations, by tokens of node `here`. */
  readonly outsider: OpenKubeConnection;
  /** As `outsider`, and may also `administer` in the namespace `open`. */
  readonly administrator: OpenKubeConnection;
}

export interface PolicyStage extends AsyncDisposable {
  readonly accounts: PolicyAccounts;
  /** RBAC allows everything here: agents may do anything with allocations, status, and Leases. */
  readonly open: string;
  /** Here each account has the rights of the manifests and no more. */
  readonly plain: string;
  readonly here: BoundNode;
  readonly there: BoundNode;
  /** The pod `web` in `open`, which the controller may change as far as RBAC goes; raw. */
  readonly pod: unknown;
}

/** The policy over the controller's writes to pods. */
export const POD_POLICY = "mbcas-placement-pods";

const ALLOCATIONS = { group: "allocation.mbcas.io", resource: "podallocations" } as const;
const STATUS = { ...ALLOCATIONS, subresource: "status" } as const;
const LEASES = { group: "coordination.k8s.io", resource: "leases" } as const;
const VERBS = ["get", "create", "update", "patch", "delete"];

export async function setPolicyStage(): Promise<PolicyStage> {
  const kubectl = createKubectl();
  await applyRights(kubectl);
  await using stack = new AsyncDisposableStack();
  const { connection: admin } = stack.use(await openRealNode());
  const marks = { annotations: { "mbcas.io/managed": "false" } };
  const [open, plain] = await Promise.all(
    [1, 2].map(async () => stack.use(await scratchNamespace(admin, marks)).name),
  ) as [string, string];
  const { items } = objectOf(await admin.request({ path: "/api/v1/nodes" }));
  const here = parseIdentity(listOf(items)[0]);
  const there = await secondNode(admin, stack);

  async function account(name: string, node?: BoundNode): Promise<OpenKubeConnection> {
    const bound = node === undefined ? {} : { node: { name: node.name, uid: node.uid } };
    const request = { namespace: PRODUCT_NAMESPACE, account: name, ...bound };
    const connection = await connectByToken(await requestToken(admin, request));
    stack.defer(() => connection.close());
    return connection;
  }

  const copies = stack.use(createRoleCopies({ admin, namespace: open }));
  const rightsOn = (...kinds: (typeof ALLOCATIONS | typeof STATUS | typeof LEASES)[]) =>
    kinds.flatMap((kind) => VERBS.map((verb) => ({ verb, ...kind })));
  const rights = rightsOn(ALLOCATIONS, STATUS);
  const administer = { verb: "administer", ...ALLOCATIONS, namespace: open };
  const [agentHere, agentThere, unbound, controller, outsider, administrator] = await Promise.all([
    account("mbcas-agent", here),
    account("mbcas-agent", there),
    account("mbcas-agent"),
    account("mbcas-controller", here),
    copies.copy({ rights, node: here }),
    copies.copy({ rights: [...rights, administer], node: here }),
    grant(admin, {
      namespace: open,
      to: "mbcas-agent",
      rules: rightsOn(ALLOCATIONS, STATUS, LEASES).map(ruleOfRight),
    }),
    grant(admin, {
      namespace: open,
      to: "mbcas-controller",
      rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get", "update", "patch"] }],
    }),
  ]);
  stack.use(await installPolicy(kubectl, POD_POLICY));
  await until("rights of agents and controller", async () => {
    const onPods = { verb: "patch", group: "", resource: "pods", namespace: open };
    const known = await Promise.all([
      isAllowed(agentHere, { verb: "delete", ...LEASES, namespace: open }),
      isAllowed(controller, onPods),
    ]);
    return known.every(Boolean) || undefined;
  });
  await Promise.all([
    untilInForce(/\badminister podallocations\b/, () =>
      outsider.request({
        method: "POST",
        path: `/apis/allocation.mbcas.io/v1alpha1/namespaces/${open}/podallocations`,
        query: { dryRun: "All" },
        body: allocationBody(open, { name: "probe", node: here.name }),
      })),
    untilInForce(/'mbcas-agent-leases'/, () =>
      unbound.request({
        method: "POST",
        path: `/apis/coordination.k8s.io/v1/namespaces/${open}/leases`,
        query: { dryRun: "All" },
        body: { metadata: { name: "probe" } },
      })),
  ]);
  // A pod that no scheduler and no kubelet sees: nothing else changes it.
  const metadata = {
    name: "web",
    labels: { app: "web" },
    annotations: { "example.com/mine": "1" },
  };
  const resources = { requests: { cpu: "100m" }, limits: { cpu: "200m" } };
  const containers = [{ name: "app", image: "busybox:stable", resources }];
  const pods = `/api/v1/namespaces/${open}/pods`;
  const pod = await admin.request({
    method: "POST",
    path: pods,
    body: { metadata, spec: { schedulerName: "none", containers } },
  });
  await untilInForce(new RegExp(POD_POLICY), () =>
    controller.request({
      ...patchRequest("merge", { path: `${pods}/web`, body: { metadata: { labels: { a: "b" } } } }),
      query: { dryRun: "All" },
    }));
  const objects = stack.move();
  return {
    accounts: { admin, agentHere, agentThere, unbound, controller, outsider, administrator },
    open,
    plain,
    here,
    there,
    pod,
    [Symbol.asyncDispose]: () => objects[Symbol.asyncDispose](),
  };
}

/** An allocation of a pod that never was, with a label and an annotation. */
export function allocationBody(
  namespace: string,
  { name, node: nodeName }: { readonly name: string; readonly node: string },
): { readonly spec: Readonly<Record<string, unknown>> } {
  return {
    apiVersion: "allocation.mbcas.io/v1alpha1",
    kind: "PodAllocation",
    metadata: { name, namespace, labels: { team: "a" }, annotations: { note: "a" } },
    spec: { podName: name, podUID: name, nodeName, namespace },
  } as { spec: Record<string, unknown> };
}

/** A node that no machine stands behind: tokens can be bound to it. */
async function secondNode(admin: KubeConnection, stack: AsyncDisposableStack): Promise<BoundNode> {
  // After the names that real nodes have: tests take the first one for the real one. Without
  // `kubernetes.io/os` no DaemonSet of the product wants a pod there.
  const name = `z-try-${crypto.randomUUID().slice(0, 8)}`;
  const body = { metadata: { name }, spec: { unschedulable: true } };
  const { uid } = parseIdentity(
    await admin.request({ method: "POST", path: "/api/v1/nodes", body }),
  );
  stack.defer(async () => {
    try {
      await admin.request({ method: "DELETE", path: `/api/v1/nodes/${name}` });
    } catch (error) {
      // A cloud's controller removes nodes without a machine by itself.
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
    }
  });
  return { name, uid };
}

/** Gives users, or an account of the product, more rights in this namespace. */
export async function grant(
  admin: KubeConnection,
  { namespace, to, rules }: {
    readonly namespace: string;
    readonly to: string | readonly string[];
    readonly rules: readonly object[];
  },
): Promise<void> {
  const group = "rbac.authorization.k8s.io";
  const path = `/apis/${group}/v1/namespaces/${namespace}`;
  const metadata = { name: typeof to === "string" ? to : "users" };
  const roleRef = { apiGroup: group, kind: "Role", name: metadata.name };
  const subjects = typeof to === "string"
    ? [{ kind: "ServiceAccount", name: to, namespace: PRODUCT_NAMESPACE }]
    : to.map((name) => ({ apiGroup: group, kind: "User", name }));
  await admin.request({ method: "POST", path: `${path}/roles`, body: { metadata, rules } });
  const body = { metadata, roleRef, subjects };
  await admin.request({ method: "POST", path: `${path}/rolebindings`, body });
}

/**
 * Tries a write until a policy refuses it with this message: a policy takes effect some moments after it
 * was written, and the server says nothing when.
 */
export async function untilInForce(message: RegExp, dry: () => Promise<unknown>): Promise<void> {
  await until(`policy that says "${message.source}"`, async () => {
    try {
      await dry();
      return undefined;
    } catch (error) {
      return error instanceof ApiError && message.test(error.message) ? true : undefined;
    }
  });
}

/**
 * Applies a policy of the component placement and its binding as they are rendered; disposing removes them
 * unless they were installed.
 */
export async function installPolicy(kubectl: Kubectl, policy: string): Promise<AsyncDisposable> {
  const rendered = await renderWith("overlays/kind", { components: ["placement"] });
  const items = rendered.filter(({ metadata: { name } }) => name === policy);
  const list = { apiVersion: "v1", kind: "List", items };
  const get = ["get", "validatingadmissionpolicy", policy, "-o", "name"];
  const { ok: isInstalled } = await kubectl.run(get);
  await kubectl.must(["apply", "--server-side", "--force-conflicts", "-f", "-"], list);
  return {
    async [Symbol.asyncDispose]() {
      if (!isInstalled) await kubectl.must(["delete", "-f", "-"], list);
    },
  };
}

/** Members of metadata, spec and status to write; null takes one away. */
export interface Change {
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

export interface Refusal {
  /** @default {403} */
  readonly status?: number;
  readonly message: RegExp;
}

export function byPolicy(message: string): Refusal {
  return { message: denial("mbcas-agent-allocations", message) };
}

export function byLeasePolicy(message: string): Refusal {
  return { message: denial("mbcas-agent-leases", message) };
}

/** By the CustomResourceDefinition, before any policy is evaluated, for every writer. */
export function byDefinition(message: string): Refusal {
  return { status: 422, message: new RegExp(message) };
}

export function denial(policy: string, message: string): RegExp {
  return new RegExp(`ValidatingAdmissionPolicy '${policy}' .*denied request: .*${message}`);
}

export async function assertRefused(
  write: () => Promise<unknown>,
  { status = 403, message }: Refusal,
): Promise<void> {
  await assert.rejects(write, (error) => {
    assert.ok(error instanceof ApiError, String(error));
    assert.equal(error.status, status, error.message);
    assert.match(error.message, message);
    return true;
  });
}

export async function versionOf(admin: KubeConnection, path: string): Promise<string> {
  return parseIdentity(await admin.request({ path })).resourceVersion;
}
