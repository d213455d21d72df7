/**
 * Service accounts of tests, and their tokens.
 *
 * @module
 */
import type {
  KubeConnection,
  OpenKubeConnection,
} from "../../../adapters/kube/client/connection.ts";
import { objectOf, textOf } from "../../../adapters/kube/client/json_fields.ts";
import { connectKubeconfig } from "../../../adapters/kube/client/connect.ts";
import type { Kubectl } from "../kubectl.ts";

/** Which account, and the node that its token is bound to, as those of pods are. */
export interface TokenRequest {
  readonly namespace: string;
  readonly account: string;
  readonly node?: { readonly name: string; readonly uid: string };
}

/** A fresh token. */
export async function requestToken(
  admin: KubeConnection,
  { namespace, account, node }: TokenRequest,
): Promise<string> {
  const bound = node === undefined
    ? {}
    : { boundObjectRef: { apiVersion: "v1", kind: "Node", name: node.name, uid: node.uid } };
  const answer = await admin.request({
    method: "POST",
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
    body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: bound },
  });
  return textOf(objectOf(objectOf(answer).status).token) ?? "";
}

/** Opens connections to the cluster of `KUBECONFIG` with a token and nothing else. */
export type ConnectByToken = (token: string) => Promise<OpenKubeConnection>;

/** Reads the kubeconfig once, for many tokens. */
export async function tokenConnector(kubectl: Kubectl): Promise<ConnectByToken> {
  const view = ["config", "view", "--raw", "--minify", "--flatten", "-o", "json"];
  const config = JSON.parse(await kubectl.must(view));
  return async (token) => {
    const path = await Deno.makeTempFile({ suffix: ".kubeconfig" });
    try {
      // A client certificate beside the token would win.
      const users = [{ ...config.users[0], user: { token } }];
      await Deno.writeTextFile(path, JSON.stringify({ ...config, users }));
      return await connectKubeconfig({ path });
    } finally {
      await Deno.remove(path);
    }
  };
}
