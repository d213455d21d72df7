/**
 * Rights of RBAC: those that roles give, each verb on each resource by itself, accounts that have chosen
 * ones, and which one a refusal names.
 *
 * @module
 */
import type { AccessRule } from "../../../adapters/kube/client/api_checks.ts";
import type {
  KubeConnection,
  OpenKubeConnection,
} from "../../../adapters/kube/client/connection.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { ManifestObject } from "../rendered_manifests.ts";
import { connectByToken, requestToken } from "../scene/real_node.ts";
import { until } from "../scene/until.ts";

export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/**
 * The rights of a service account by the roles that are bound to it; those in one namespace only have
 * that namespace. Throws an `Error` for a binding with a role that is not there.
 */
export function grantedRights(
  objects: readonly ManifestObject[],
  account: string,
): readonly AccessRule[] {
  const bindings = objects.filter((object) =>
    /^(Cluster)?RoleBinding$/.test(object.kind) &&
    (object["subjects"] as readonly { kind: string; name: string }[]).some(
      ({ kind, name }) => kind === "ServiceAccount" && name === account,
    )
  );
  return bindings.flatMap((binding) => {
    const { kind, name } = binding["roleRef"] as { kind: string; name: string };
    const role = objects.find((one) => one.kind === kind && one.metadata.name === name);
    if (role === undefined) {
      throw new Error(`Cannot read the rights of ${account}: no ${kind} ${name}`);
    }
    const { namespace } = binding.metadata;
    const place = namespace === undefined ? {} : { namespace };
    return (role["rules"] as readonly PolicyRule[]).flatMap(rightsOfRule)
      .map((right) => ({ ...right, ...place }));
  });
}

function rightsOfRule({ apiGroups, resources, resourceNames, verbs }: PolicyRule): AccessRule[] {
  const names = resourceNames?.map((name) => ({ name })) ?? [{}];
  return apiGroups.flatMap((group) =>
    resources.flatMap((full) => {
      const [resource = "", subresource] = full.split("/");
      const kind = { group, resource, ...(subresource === undefined ? {} : { subresource }) };
      return verbs.flatMap((verb) => names.map((name) => ({ verb, ...kind, ...name })));
    })
  );
}

export async function isAllowed(
  connection: KubeConnection,
  resourceAttributes: AccessRule,
): Promise<boolean> {
  const [apiVersion, kind] = ["authorization.k8s.io/v1", "SelfSubjectAccessReview"];
  const reviewed = await connection.request({
    method: "POST",
    path: `/apis/${apiVersion}/selfsubjectaccessreviews`,
    body: { apiVersion, kind, spec: { resourceAttributes } },
  }) as { readonly status: { readonly allowed: boolean } };
  return reviewed.status.allowed;
}

/** The rule that gives this right and nothing else. */
export function ruleOfRight({ verb, group, resource, subresource, name }: AccessRule): PolicyRule {
  return {
    apiGroups: [group],
    resources: [subresource === undefined ? resource : `${resource}/${subresource}`],
    verbs: [verb],
    ...(name === undefined ? {} : { resourceNames: [name] }),
  };
}

/** The rule as `kubectl auth can-i` has it: `patch pods/resize in shop`. */
export function accessRuleText(rule: AccessRule): string {
  const { verb, group, resource, subresource, namespace, name } = rule;
  const kind = subresource === undefined ? resource : `${resource}/${subresource}`;
  return `${verb} ${kind}${group === "" ? "" : `.${group}`}` +
    (name === undefined ? "" : ` "${name}"`) +
    (namespace === undefined ? "" : ` in ${namespace}`);
}

/**
 * The message of the API server (k8s.io/apiserver/pkg/endpoints/handlers/responsewriters,
 * `forbiddenMessage`). An admission policy answers 403 as well, with another one.
 */
const REFUSAL =
  / cannot (\S+) resource "([^"]+)" in API group "([^"]*)" (at the cluster|in the name)/;

/** The right that was missing, as `patch pods/resize`; the message when anything but RBAC refused. */
function refusedRight({ status, message }: ApiError): string {
  const [, verb = "", resource = "", group = ""] = REFUSAL.exec(message) ?? [];
  if (status !== 403 || verb === "") return message;
  return `${verb} ${resource}${group === "" ? "" : `.${group}`}`;
}

/**
 * Refusals by RBAC or a policy while the action used the connection, also where an adapter keeps them
 * to itself. Throws what the action threw, but for objects that are not there, changed or incomplete.
 */
export async function refusalsIn(
  connection: KubeConnection,
  action: (noting: KubeConnection) => Promise<unknown>,
): Promise<readonly string[]> {
  const refusals: string[] = [];
  const note = (error: unknown): never => {
    if (error instanceof ApiError && error.status === 403) refusals.push(refusedRight(error));
    throw error;
  };
  try {
    await action({
      request: (request) => connection.request(request).catch(note),
      async *lines(request) {
        try {
          yield* connection.lines(request);
        } catch (error) {
          note(error);
        }
      },
    });
  } catch (error) {
    if (!(error instanceof ApiError && [403, 404, 409, 422].includes(error.status))) throw error;
  }
  return refusals;
}

export interface CopiedRole {
  /** Rights that count in one namespace only count in that of the account. */
  readonly rights: readonly AccessRule[];
  /** Rules in the whole cluster that are no part of what is tried. */
  readonly beside?: readonly PolicyRule[];
  readonly node?: { readonly name: string; readonly uid: string };
}

/** Makes accounts with roles of their own: nothing of what is installed is changed. */
export interface RoleCopies extends AsyncDisposable {
  /** An account's connection, once the server knows of its rights. */
  copy(role: CopiedRole): Promise<OpenKubeConnection>;
}

const GROUP = "rbac.authorization.k8s.io";
const RBAC = `/apis/${GROUP}/v1`;

/** Means nothing; a server that knows of it knows of the role's other rules, too. */
function mark(place: string): AccessRule {
  return { verb: "get", group: "try.mbcas.io", resource: place };
}

export function createRoleCopies(
  { admin, namespace }: { readonly admin: KubeConnection; readonly namespace: string },
): RoleCopies {
  const labels = { "try.mbcas.io/place": namespace };
  const opened: OpenKubeConnection[] = [];
  const post = (path: string, body: object): Promise<unknown> =>
    admin.request({ method: "POST", path, body });

  async function bind(account: string, kind: "Role" | "ClusterRole", rules: readonly PolicyRule[]) {
    const folder = kind === "Role" ? `${RBAC}/namespaces/${namespace}` : RBAC;
    const metadata = { name: `${namespace}-${account}`, labels };
    const subjects = [{ kind: "ServiceAccount", name: account, namespace }];
    const roleRef = { apiGroup: GROUP, kind, name: metadata.name };
    const plural = kind.toLowerCase();
    await Promise.all([
      post(`${folder}/${plural}s`, { metadata, rules }),
      post(`${folder}/${plural}bindings`, { metadata, roleRef, subjects }),
    ]);
  }

  return {
    async copy({ rights, beside = [], node }) {
      const account = `copy-${crypto.randomUUID().slice(0, 8)}`;
      const rulesOf = (inside: boolean): PolicyRule[] =>
        rights.filter((right) => (right.namespace !== undefined) === inside).map(ruleOfRight);
      const marks = ["cluster", "namespace"].map(mark);
      await Promise.all([
        post(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: account } }),
        bind(account, "ClusterRole", [...rulesOf(false), ...beside, ruleOfRight(marks[0]!)]),
        bind(account, "Role", [...rulesOf(true), ruleOfRight(marks[1]!)]),
      ]);
      const bound = node === undefined ? {} : { node };
      const connection = await connectByToken(
        await requestToken(admin, { namespace, account, ...bound }),
      );
      opened.push(connection);
      await until(`rights of ${account}`, async () => {
        const known = await Promise.all([
          isAllowed(connection, marks[0]!),
          isAllowed(connection, { ...marks[1]!, namespace }),
        ]);
        return known.every(Boolean) || undefined;
      }, { everyMs: 20 });
      return connection;
    },
    async [Symbol.asyncDispose]() {
      for (const connection of opened) connection.close();
      const query = { labelSelector: `try.mbcas.io/place=${namespace}` };
      for (const plural of ["clusterrolebindings", "clusterroles"]) {
        await admin.request({ method: "DELETE", path: `${RBAC}/${plural}`, query });
      }
    },
  };
}
