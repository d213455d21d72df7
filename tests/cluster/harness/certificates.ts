/**
 * The cluster's certificates and keys, made by openssl, and the kubeconfigs that hold them.
 *
 * @module
 */
import { type Instance, NETWORK } from "./instance.ts";
import { run } from "./shell.ts";

/** A certificate that one of the two authorities signs. */
export interface CertificateSpec {
  readonly name: string;
  readonly commonName: string;
  /** Kubernetes takes it for the user's group. */
  readonly organization?: string;
  /** As openssl writes them; none for one that only a client uses. */
  readonly alternativeNames?: readonly string[];
  /** @default {"ca"} */
  readonly authority?: "ca" | "front-proxy-ca";
}

/** Longer than a cluster for tests lives. */
const DAYS = 30;

/** All certificates. Users and groups as Kubernetes' own roles expect them. */
export function certificateSpecs({ nodeName }: Instance): readonly CertificateSpec[] {
  const user = (name: string): CertificateSpec => ({ name, commonName: `system:${name}` });
  return [
    {
      name: "kube-apiserver",
      commonName: "kube-apiserver",
      alternativeNames: [
        "DNS:localhost",
        "DNS:kubernetes",
        "DNS:kubernetes.default",
        "DNS:kubernetes.default.svc",
        "DNS:kubernetes.default.svc.cluster.local",
        "IP:127.0.0.1",
        `IP:${NETWORK.node}`,
        `IP:${NETWORK.apiService}`,
      ],
    },
    { name: "admin", commonName: "admin", organization: "system:masters" },
    user("kube-controller-manager"),
    user("kube-scheduler"),
    user("kube-proxy"),
    { name: "kubelet", commonName: `system:node:${nodeName}`, organization: "system:nodes" },
    user("coredns"),
    user("metrics-server"),
    {
      name: "metrics-server-serving",
      commonName: "metrics-server",
      alternativeNames: ["DNS:metrics-server.kube-system.svc", "IP:127.0.0.1"],
    },
    { name: "local", commonName: "localhost", alternativeNames: ["IP:127.0.0.1"] },
    {
      name: "front-proxy-client",
      commonName: "front-proxy-client",
      authority: "front-proxy-ca",
    },
  ];
}

/** The arguments of `openssl req` for a certificate. */
export function signArguments(spec: CertificateSpec): readonly string[] {
  const authority = spec.authority ?? "ca";
  const names = spec.alternativeNames ?? [];
  const organization = spec.organization === undefined ? "" : `/O=${spec.organization}`;
  return [
    ...newKey(spec.name),
    ...["-subj", `${organization}/CN=${spec.commonName}`],
    ...["-CA", `${authority}.crt`, "-CAkey", `${authority}.key`],
    ...["-addext", "basicConstraints=critical,CA:FALSE"],
    ...["-addext", "keyUsage=critical,digitalSignature"],
    ...["-addext", "extendedKeyUsage=clientAuth,serverAuth"],
    ...(names.length === 0 ? [] : ["-addext", `subjectAltName=${names.join(",")}`]),
  ];
}

function newKey(name: string): string[] {
  return [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
    ...["-days", String(DAYS), "-config", "openssl.cnf"],
    ...["-keyout", `${name}.key`, "-out", `${name}.crt`],
  ];
}

/** Makes all certificates and the service accounts' pair of keys in `pki/` of the instance. */
export async function makeCertificates(instance: Instance): Promise<void> {
  const directory = `${instance.directory}/pki`;
  await Deno.mkdir(directory, { recursive: true, mode: 0o700 });
  const openssl = (...args: string[]): Promise<string> => run(["openssl", ...args], { directory });
  // The system's file would add extensions of its own choice.
  await Deno.writeTextFile(
    `${directory}/openssl.cnf`,
    "[req]\ndistinguished_name = dn\n[dn]\n",
  );
  for (const authority of ["ca", "front-proxy-ca"]) {
    await openssl(
      ...newKey(authority),
      ...["-subj", `/CN=${authority}`],
      ...["-addext", "basicConstraints=critical,CA:TRUE"],
      ...["-addext", "keyUsage=critical,keyCertSign,digitalSignature"],
    );
  }
  await Promise.all(certificateSpecs(instance).map((spec) => openssl(...signArguments(spec))));
  const key = "service-account.key";
  await openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", key);
  await openssl("pkey", "-in", key, "-pubout", "-out", "service-account.pub");
}

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
