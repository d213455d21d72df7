/**
 * Two nodes, their allocations, and accounts that may or may not write them.
 *
 * @module
 */
import { type AccessRule, isAllowed } from "../../../adapters/kube/client/api_checks.ts";
import { allocationPath, allocationsPath } from "../../../adapters/kube/kinds/allocations.ts";
import {
  type KubeConnection,
  type OpenKubeConnection,
  resourcePath,
} from "../../../adapters/kube/client/connection.ts";
import { connectKubeconfig } from "../../../adapters/kube/client/connect.ts";
import { listOf, objectOf } from "../../../adapters/kube/client/json_fields.ts";
import { LEASES as LEASE_KIND } from "../../../adapters/kube/kinds/leases.ts";
import { type ObjectIdentity, parseIdentity } from "../../../adapters/kube/kinds/object_fields.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import { createKubectl } from "../kubectl.ts";
import { ruleOfRight } from "../rbac/granted_right.ts";
import { createRoleCopies } from "../rbac/role_copies.ts";
import { applyRights } from "../rendered_manifests.ts";
import { requestToken, tokenConnector } from "../scene/product/account_token.ts";
import { PRODUCT_NAMESPACE } from "../scene/product/product.ts";
import { scratchNamespace } from "../scene/scratch_namespace.ts";
import { secondNode } from "../scene/nodes/second_node.ts";
import { until } from "../scene/until.ts";
import type { Target } from "./manner.ts";

/** The stage while it stands. */
export interface PolicyStage extends AsyncDisposable {
  readonly admin: OpenKubeConnection;
  /** RBAC allows everything here: agents may do anything with allocations, status, and Leases. */
  readonly open: string;
  /** Here everybody has the rights of the manifests and no more. */
  readonly plain: string;
  readonly here: ObjectIdentity;
  readonly there: ObjectIdentity;
  /** The agents' account with a token of node `here`, of node `there`, and of none. */
  readonly agentHere: OpenKubeConnection;
  readonly agentThere: OpenKubeConnection;
  readonly unbound: OpenKubeConnection;
  /** The controller's account. */
  readonly controller: OpenKubeConnection;
  /** Accounts of others with all rights on allocations, by tokens of node `here`. */
  readonly outsider: OpenKubeConnection;
  /** As `outsider`, and may also `administer` in the namespace `open`. */
  readonly administrator: OpenKubeConnection;
  /** An allocation of one of the nodes; throws an `ApiError` when it is there already. */
  allocate(
    namespace: string,
    at: { readonly name: string; readonly node: string },
  ): Promise<Target>;
}

const ALLOCATIONS = { group: "allocation.mbcas.io", resource: "podallocations" } as const;
const STATUS = { ...ALLOCATIONS, subresource: "status" } as const;
const LEASES = { group: "coordination.k8s.io", resource: "leases" } as const;
const VERBS = ["get", "create", "update", "patch", "delete"];

/** An allocation of a pod that never was, with a label and an annotation. */
export function draftAllocation(namespace: string, at: { name: string; node: string }): object {
  const { name, node: nodeName } = at;
  return {
    apiVersion: "allocation.mbcas.io/v1alpha1",
    kind: "PodAllocation",
    metadata: { name, namespace, labels: { team: "a" }, annotations: { note: "a" } },
    spec: { podName: name, podUID: name, nodeName, namespace },
  };
}

/** Where to write an allocation. */
export function allocationTarget(namespace: string, name: string): Target {
  const path = allocationPath({ namespace, name });
  return { apiVersion: "allocation.mbcas.io/v1alpha1", kind: "PodAllocation", path };
}

/** Sets the stage, with the policies of the manifests in force. */
export async function setPolicyStage(): Promise<PolicyStage> {
  const kubectl = createKubectl();
  await applyRights(kubectl);
  const admin = await connectKubeconfig();
  const connect = await tokenConnector(kubectl);
  await using stack = new AsyncDisposableStack();
  stack.defer(() => admin.close());
  const marks = { annotations: { "mbcas.io/managed": "false" } };
  const [{ name: open }, { name: plain }] = await Promise.all([
    scratchNamespace(admin, marks).then((one) => stack.use(one)),
    scratchNamespace(admin, marks).then((one) => stack.use(one)),
  ]);
  const { items } = objectOf(await admin.request({ path: "/api/v1/nodes" }));
  const here = parseIdentity(listOf(items)[0]);
  const there = stack.use(await secondNode(admin));

  async function account(name: string, node?: { name: string; uid: string }) {
    const bound = node === undefined ? {} : { node };
    const request = { namespace: PRODUCT_NAMESPACE, account: name, ...bound };
    const connection = await connect(await requestToken(admin, request));
    stack.defer(() => connection.close());
    return connection;
  }

  /** Lets the agents do more in the namespace `open` than the manifests do. */
  async function openToAgents(): Promise<void> {
    const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${open}`;
    const post = (plural: string, body: object): Promise<unknown> =>
      admin.request({ method: "POST", path: `${path}/${plural}`, body });
    const metadata = { name: "open" };
    const kinds = [ALLOCATIONS, STATUS, LEASES];
    const rules = kinds.flatMap((kind) => VERBS.map((verb) => ruleOfRight({ verb, ...kind })));
    await post("roles", { metadata, rules });
    await post("rolebindings", {
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "open" },
      subjects: [{ kind: "ServiceAccount", name: "mbcas-agent", namespace: PRODUCT_NAMESPACE }],
    });
  }

  const place = { admin, namespace: open, nodeName: here.name, nodeUID: here.uid };
  const copies = stack.use(createRoleCopies(place, connect));
  const all = [ALLOCATIONS, STATUS].flatMap((kind) => VERBS.map((verb) => ({ verb, ...kind })));
  const administer: AccessRule = { verb: "administer", ...ALLOCATIONS, namespace: open };
  const [agentHere, agentThere, unbound, controller, outsider, administrator] = await Promise.all([
    account("mbcas-agent", here),
    account("mbcas-agent", there),
    account("mbcas-agent"),
    account("mbcas-controller", here),
    copies.copy({ rights: all, onNode: true }),
    copies.copy({ rights: [...all, administer], onNode: true }),
    openToAgents(),
  ]);
  await until("rights of agents", async () => {
    const rule = { verb: "delete", ...LEASES, namespace: open };
    return await isAllowed(agentHere, rule) || undefined;
  });

  const allocate: PolicyStage["allocate"] = async (namespace, at) => {
    const body = draftAllocation(namespace, at);
    await admin.request({ method: "POST", path: allocationsPath(namespace), body });
    return allocationTarget(namespace, at.name);
  };

  await Promise.all([
    untilInForce(/\badminister podallocations\b/, {
      by: outsider,
      path: allocationsPath(open),
      body: draftAllocation(open, { name: "probe", node: here.name }),
    }),
    untilInForce(/'mbcas-agent-leases'/, {
      by: unbound,
      path: resourcePath({ ...LEASE_KIND, namespace: open }),
      body: { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "probe" } },
    }),
  ]);

  const standing = stack.move();
  return {
    admin,
    open,
    plain,
    here,
    there: { name: there.name, uid: there.uid, resourceVersion: "" },
    agentHere,
    agentThere,
    unbound,
    controller,
    outsider,
    administrator,
    allocate,
    [Symbol.asyncDispose]: () => standing[Symbol.asyncDispose](),
  };
}

/**
 * Tries to create an object until a policy refuses it with this message: a policy takes effect some
 * moments after it was written, and the server says nothing when.
 */
async function untilInForce(
  message: RegExp,
  { by, path, body }: { by: KubeConnection; path: string; body: object },
): Promise<void> {
  const request = { method: "POST", path, query: { dryRun: "All" }, body } as const;
  await until(`policy that says "${message.source}"`, async () => {
    try {
      await by.request(request);
      return undefined;
    } catch (error) {
      return error instanceof ApiError && message.test(error.message) ? true : undefined;
    }
  });
}
