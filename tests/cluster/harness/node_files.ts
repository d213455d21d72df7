/**
 * The configuration files of containerd, the kubelet, the pod network, the cluster's DNS and the API
 * server's audit log.
 *
 * @module
 */
import { type Instance, NETWORK } from "./instance.ts";
import { run } from "./shell.ts";

export interface NodeOptions {
  /** `static` gives whole CPUs to Guaranteed pods, with a resize that is then Infeasible. */
  readonly cpuManager: "none" | "static";
  /** With `off` no limit is enforced: `cpuCFSQuota: false`. */
  readonly cpuQuota: "on" | "off";
  /** Where the programs of the pod network are. */
  readonly cniFolder: string;
  readonly snapshotter: "overlayfs" | "native";
}

export const PAUSE_IMAGE = "localhost/coallocator-pause:1";

const PLUGINS_NOT_NEEDED = [
  "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs",
  // It makes /opt/containerd.
  "io.containerd.internal.v1.opt",
  "io.containerd.internal.v1.tracing",
];

/** The resize requests by user, and the server's messages where it refused. */
const AUDIT_POLICY = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [
    {
      level: "Metadata",
      verbs: ["update", "patch"],
      resources: [{ group: "", resources: ["pods/resize"] }],
    },
    { level: "None" },
  ],
};

export function nodeFiles(
  instance: Instance,
  options: NodeOptions,
): Readonly<Record<string, string>> {
  return {
    "containerd.toml": containerdConfig(instance, options),
    "kubelet.json": `${JSON.stringify(kubeletConfig(instance, options), null, 2)}\n`,
    "cni/10-coallocator.conflist": `${JSON.stringify(networkConfig(instance), null, 2)}\n`,
    Corefile: corefile(instance),
    "audit.json": `${JSON.stringify(AUDIT_POLICY, null, 2)}\n`,
    // For pods with the node's own DNS: there is no other server in the namespace.
    "resolv.conf": `nameserver ${NETWORK.node}\n`,
  };
}

/** Version 2 of the format: containerd 1.6 knows no later one, 2.x still reads it. */
function containerdConfig(
  { directory, containerdSocket }: Instance,
  { cniFolder, snapshotter }: NodeOptions,
): string {
  return `version = 2
root = "${directory}/containerd/root"
state = "${directory}/containerd/state"
disabled_plugins = ${JSON.stringify(PLUGINS_NOT_NEEDED)}

[grpc]
  address = "${containerdSocket}"

[ttrpc]
  address = "${containerdSocket}.ttrpc"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${PAUSE_IMAGE}"
  # Where root lacks CAP_SYS_RESOURCE, a lower score than its own can't be given.
  restrict_oom_score_adj = true
  disable_apparmor = true
  netns_mounts_under_state_dir = true
  stream_server_address = "127.0.0.1"

[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "${cniFolder}"
  conf_dir = "${directory}/cni"

[plugins."io.containerd.grpc.v1.cri".containerd]
  snapshotter = "${snapshotter}"
  default_runtime_name = "runc"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  SystemdCgroup = false
  Root = "${directory}/runc"
`;
}

function kubeletConfig(
  { directory, cgroupRoot, containerdSocket }: Instance,
  { cpuManager, cpuQuota }: NodeOptions,
): Record<string, unknown> {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: `${directory}/pki/ca.crt` },
    },
    authorization: { mode: "Webhook" },
    cgroupDriver: "cgroupfs",
    cgroupRoot,
    failCgroupV1: false,
    failSwapOn: false,
    enforceNodeAllocatable: ["pods"],
    localStorageCapacityIsolation: false,
    clusterDNS: [NETWORK.dnsService],
    clusterDomain: "cluster.local",
    resolvConf: `${directory}/resolv.conf`,
    containerRuntimeEndpoint: `unix://${containerdSocket}`,
    podLogsDir: `${directory}/pod-logs`,
    volumePluginDir: `${directory}/volume-plugins`,
    maxPods: 300,
    // Imported images can't be pulled again: neither a full disk nor age may remove them.
    imageGCHighThresholdPercent: 100,
    cpuCFSQuota: cpuQuota === "on",
    evictionHard: { "memory.available": "100Mi" },
    ...(cpuManager === "static"
      // The static policy demands that some CPU is reserved.
      ? { cpuManagerPolicy: "static", kubeReserved: { cpu: "500m" } }
      : {}),
  };
}

function networkConfig({ name, directory }: Instance): Record<string, unknown> {
  return {
    cniVersion: "0.4.0",
    name: networkName(name),
    plugins: [{
      type: "bridge",
      bridge: "cni0",
      isGateway: true,
      hairpinMode: true,
      ipam: {
        type: "host-local",
        dataDir: `${directory}/addresses`,
        ranges: [[{ subnet: NETWORK.pods }]],
        routes: [{ dst: "0.0.0.0/0" }],
      },
    }],
  };
}

/** The pod network's name, with which the files begin that it leaves in a folder of the machine. */
export function networkName(instance: string): string {
  return `coallocator-harness-${instance}`;
}

/**
 * Knows the cluster's names; all others do not exist, as nothing else is reached. Two blocks, since
 * within one `template` would answer before `kubernetes`.
 */
function corefile({ directory }: Instance): string {
  return `cluster.local in-addr.arpa {
  bind ${NETWORK.node}
  errors
  ready 127.0.0.1:10054
  kubernetes cluster.local in-addr.arpa {
    kubeconfig ${directory}/coredns.kubeconfig
  }
  cache 5
}
. {
  bind ${NETWORK.node}
  errors
  template ANY ANY {
    rcode NXDOMAIN
  }
}
`;
}

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
function certificateSpecs({ nodeName }: Instance): readonly CertificateSpec[] {
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

function signArguments(spec: CertificateSpec): readonly string[] {
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
const KUBECONFIG_USERS = [
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
