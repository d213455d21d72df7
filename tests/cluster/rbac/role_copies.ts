/**
 * Service accounts with chosen rights of a program, each with roles of its own: nothing of what is
 * installed is changed.
 *
 * @module
 */
import { type AccessRule, isAllowed } from "../../../adapters/kube/client/api_checks.ts";
import type { OpenKubeConnection } from "../../../adapters/kube/client/connection.ts";
import { type ConnectByToken, requestToken } from "../scene/product/account_token.ts";
import { until } from "../scene/until.ts";
import { type PolicyRule, ruleOfRight } from "./granted_right.ts";
import type { RoleStage } from "./role_stage.ts";

/** What the account may do. */
export interface CopiedRole {
  /** Rights that count in one namespace only count in that of the account. */
  readonly rights: readonly AccessRule[];
  /** Rules in the whole cluster that are no part of what is tried. */
  readonly beside?: readonly PolicyRule[];
  /** Binds the token to the node. */
  readonly onNode?: boolean;
}

/** Makes such accounts. */
export interface RoleCopies extends AsyncDisposable {
  /** An account's connection, once the server knows of its rights. */
  copy(role: CopiedRole): Promise<OpenKubeConnection>;
}

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const GROUP = "rbac.authorization.k8s.io";

/** Means nothing; a server that knows of it knows of the role's other rules, too. */
function mark(place: string): AccessRule {
  return { verb: "get", group: "try.mbcas.io", resource: place };
}

/** Where the accounts are, and the node to which their tokens may be bound. */
export type CopyPlace = Pick<RoleStage, "admin" | "namespace" | "nodeName" | "nodeUID">;

/** Copies in this place; in the end they are removed. */
export function createRoleCopies(place: CopyPlace, connect: ConnectByToken): RoleCopies {
  const { admin, namespace, nodeName, nodeUID } = place;
  const labels = { "try.mbcas.io/place": namespace };
  const opened: OpenKubeConnection[] = [];
  let made = 0;

  /** A role and its binding, in the namespace or in the whole cluster. */
  async function bind(
    account: string,
    { rules, inside }: { readonly rules: readonly PolicyRule[]; readonly inside: boolean },
  ): Promise<void> {
    const folder = inside ? `${RBAC}/namespaces/${namespace}` : RBAC;
    const [kind, plural] = inside ? ["Role", "role"] : ["ClusterRole", "clusterrole"];
    const name = `${namespace}-${account}`;
    const metadata = { name, labels };
    const subjects = [{ kind: "ServiceAccount", name: account, namespace }];
    const roleRef = { apiGroup: GROUP, kind, name };
    const post = (path: string, body: object): Promise<unknown> =>
      admin.request({ method: "POST", path, body: { metadata, ...body } });
    await Promise.all([
      post(`${folder}/${plural}s`, { rules }),
      post(`${folder}/${plural}bindings`, { roleRef, subjects }),
    ]);
  }

  return {
    async copy({ rights, beside = [], onNode = false }) {
      const account = `copy-${made++}`;
      const rulesOf = (inside: boolean): PolicyRule[] =>
        rights.filter((right) => (right.namespace !== undefined) === inside).map(ruleOfRight);
      await Promise.all([
        admin.request({
          method: "POST",
          path: `/api/v1/namespaces/${namespace}/serviceaccounts`,
          body: { metadata: { name: account } },
        }),
        bind(account, {
          rules: [...rulesOf(false), ...beside, ruleOfRight(mark("cluster"))],
          inside: false,
        }),
        bind(account, { rules: [...rulesOf(true), ruleOfRight(mark("namespace"))], inside: true }),
      ]);
      const node = onNode ? { node: { name: nodeName, uid: nodeUID } } : {};
      const connection = await connect(await requestToken(admin, { namespace, account, ...node }));
      opened.push(connection);
      await until(`rights of ${account}`, async () => {
        const known = await Promise.all([
          isAllowed(connection, mark("cluster")),
          isAllowed(connection, { ...mark("namespace"), namespace }),
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
