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

/** A kubeconfig while it is there. */
export interface TokenKubeconfig extends AsyncDisposable {
  readonly path: string;
}

/** A kubeconfig with a token and nothing else; a client certificate beside it would win. */
export async function tokenKubeconfig(
  token: string,
  cluster: string = Deno.env.get("KUBECONFIG") ?? "",
): Promise<TokenKubeconfig> {
  // The harness writes its kubeconfigs as JSON.
  const config = JSON.parse(await Deno.readTextFile(cluster));
  const users = [{ ...config.users[0], user: { token } }];
  const path = await Deno.makeTempFile({ suffix: ".kubeconfig" });
  await Deno.writeTextFile(path, JSON.stringify({ ...config, users }));
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path) };
}

/** Connects by a token to the cluster of `KUBECONFIG`, or of another kubeconfig of the harness. */
export async function connectByToken(
  token: string,
  cluster?: string,
): Promise<OpenKubeConnection> {
  await using kubeconfig = await tokenKubeconfig(token, cluster);
  return await connectKubeconfig({ program: "test", path: kubeconfig.path });
}
