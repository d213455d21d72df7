/**
 * Kubeconfig files: the API server and the user.
 *
 * @module
 */
import { type Instance, NETWORK } from "../instance.ts";

/** Users with a kubeconfig; their certificates are named the same. */
export const KUBECONFIG_USERS = [
  "admin",
  "kube-controller-manager",
  "kube-scheduler",
  "kube-proxy",
  "kubelet",
  "coredns",
  "metrics-server",
] as const;

/** The text of one user's kubeconfig, in JSON, with the certificates in it (PEM in base64). */
export function kubeconfig(
  instance: Instance,
  { user, ca, certificate, key }: {
    readonly user: string;
    readonly ca: string;
    readonly certificate: string;
    readonly key: string;
  },
): string {
  const { name } = instance;
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{
      name,
      cluster: { server: NETWORK.apiServer, "certificate-authority-data": btoa(ca) },
    }],
    users: [{
      name: user,
      user: { "client-certificate-data": btoa(certificate), "client-key-data": btoa(key) },
    }],
    contexts: [{ name, context: { cluster: name, user } }],
    "current-context": name,
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

/** Writes `USER.kubeconfig` for all users from the certificates in `pki/`. */
export async function writeKubeconfigs(instance: Instance): Promise<void> {
  const { directory } = instance;
  const read = (file: string): Promise<string> => Deno.readTextFile(`${directory}/pki/${file}`);
  const ca = await read("ca.crt");
  for (const user of KUBECONFIG_USERS) {
    const [certificate, key] = [await read(`${user}.crt`), await read(`${user}.key`)];
    const text = kubeconfig(instance, { user, ca, certificate, key });
    await Deno.writeTextFile(`${directory}/${user}.kubeconfig`, text, { mode: 0o600 });
  }
}
