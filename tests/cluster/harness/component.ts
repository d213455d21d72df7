/**
 * The components of the cluster, in the order in which they are started.
 *
 * @module
 */
import { type Instance, NETWORK } from "./instance.ts";

/** Names as the command line knows them; they are the binaries' names too. */
export type ComponentName =
  | "etcd"
  | "kube-apiserver"
  | "kube-controller-manager"
  | "kube-scheduler"
  | "containerd"
  | "kube-proxy"
  | "kubelet"
  | "coredns"
  | "metrics-server";

/** How one sees that a component serves: by HTTP, or by a socket that accepts. */
export type Probe = { readonly url: string } | { readonly socket: string };

export interface Component {
  readonly name: ComponentName;
  /** Without the binary's path. */
  readonly args: readonly string[];
  readonly probe: Probe;
  /**
   * Asked once, for the status, where being ready takes longer than one wants to wait for.
   * @default {probe}
   */
  readonly statusProbe?: Probe;
}

/** Starts of one phase run at the same time; each phase needs the ones before it. */
export const PHASES: readonly (readonly ComponentName[])[] = [
  ["etcd", "containerd"],
  ["kube-apiserver"],
  ["kube-controller-manager", "kube-scheduler", "kube-proxy", "kubelet"],
  ["coredns", "metrics-server"],
];

export const COMPONENT_NAMES: readonly ComponentName[] = PHASES.flat();

export function componentNamed(name: string): ComponentName {
  const found = COMPONENT_NAMES.find((each) => each === name);
  if (found !== undefined) return found;
  throw new RangeError(
    `Cannot find the component ${JSON.stringify(name)}: expected one of ${
      COMPONENT_NAMES.join(", ")
    }`,
  );
}

export function component(name: ComponentName, instance: Instance): Component {
  return { name, ...DESCRIPTIONS[name](instance) };
}

/** The file in which the API server notes resizes and what became of them, a JSON object a line. */
export function auditLog({ directory }: Pick<Instance, "directory">): string {
  return `${directory}/audit.log`;
}

type Describe = (instance: Instance) => Omit<Component, "name">;

const DESCRIPTIONS: Readonly<Record<ComponentName, Describe>> = {
  etcd: ({ directory }) => ({
    args: [
      "--name=only",
      `--data-dir=${directory}/etcd`,
      `--listen-client-urls=${NETWORK.etcd}`,
      `--advertise-client-urls=${NETWORK.etcd}`,
      "--listen-peer-urls=http://127.0.0.1:2380",
      "--initial-advertise-peer-urls=http://127.0.0.1:2380",
      "--initial-cluster=only=http://127.0.0.1:2380",
      // The data lives no longer than the cluster.
      "--unsafe-no-fsync",
      "--log-level=warn",
    ],
    probe: { url: `${NETWORK.etcd}/health` },
  }),
  "kube-apiserver": ({ directory }) => ({
    args: [
      `--etcd-servers=${NETWORK.etcd}`,
      "--bind-address=0.0.0.0",
      `--advertise-address=${NETWORK.node}`,
      "--secure-port=6443",
      `--service-cluster-ip-range=${NETWORK.services}`,
      "--authorization-mode=Node,RBAC",
      "--enable-admission-plugins=NodeRestriction",
      "--allow-privileged",
      "--profiling=false",
      `--client-ca-file=${directory}/pki/ca.crt`,
      `--tls-cert-file=${directory}/pki/kube-apiserver.crt`,
      `--tls-private-key-file=${directory}/pki/kube-apiserver.key`,
      `--kubelet-client-certificate=${directory}/pki/admin.crt`,
      `--kubelet-client-key=${directory}/pki/admin.key`,
      "--kubelet-preferred-address-types=InternalIP",
      "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
      `--service-account-key-file=${directory}/pki/service-account.pub`,
      `--service-account-signing-key-file=${directory}/pki/service-account.key`,
      `--requestheader-client-ca-file=${directory}/pki/front-proxy-ca.crt`,
      "--requestheader-allowed-names=front-proxy-client",
      "--requestheader-username-headers=X-Remote-User",
      "--requestheader-group-headers=X-Remote-Group",
      "--requestheader-extra-headers-prefix=X-Remote-Extra-",
      `--proxy-client-cert-file=${directory}/pki/front-proxy-client.crt`,
      `--proxy-client-key-file=${directory}/pki/front-proxy-client.key`,
      "--enable-aggregator-routing=true",
      `--audit-policy-file=${directory}/audit.json`,
      `--audit-log-path=${auditLog({ directory })}`,
      "-v=0",
    ],
    probe: { url: `${NETWORK.apiServer}/readyz` },
  }),
  "kube-controller-manager": ({ directory }) => ({
    args: [
      `--kubeconfig=${directory}/kube-controller-manager.kubeconfig`,
      "--controllers=*,-nodeipam",
      "--leader-elect=false",
      "--use-service-account-credentials=true",
      `--service-account-private-key-file=${directory}/pki/service-account.key`,
      `--root-ca-file=${directory}/pki/ca.crt`,
      `--tls-cert-file=${directory}/pki/local.crt`,
      `--tls-private-key-file=${directory}/pki/local.key`,
      "--bind-address=127.0.0.1",
      "--profiling=false",
      "-v=0",
    ],
    probe: { url: "https://127.0.0.1:10257/healthz" },
  }),
  "kube-scheduler": ({ directory }) => ({
    args: [
      `--kubeconfig=${directory}/kube-scheduler.kubeconfig`,
      "--leader-elect=false",
      `--tls-cert-file=${directory}/pki/local.crt`,
      `--tls-private-key-file=${directory}/pki/local.key`,
      "--bind-address=127.0.0.1",
      "--profiling=false",
      "-v=0",
    ],
    probe: { url: "https://127.0.0.1:10259/healthz" },
  }),
  containerd: ({ directory, containerdSocket }) => ({
    args: [`--config=${directory}/containerd.toml`, "--log-level=warn"],
    probe: { socket: containerdSocket },
  }),
  "kube-proxy": ({ directory, nodeName }) => ({
    args: [
      `--kubeconfig=${directory}/kube-proxy.kubeconfig`,
      "--proxy-mode=nftables",
      `--bind-address=${NETWORK.node}`,
      `--hostname-override=${nodeName}`,
      `--cluster-cidr=${NETWORK.pods}`,
      "--healthz-bind-address=127.0.0.1:10256",
      // These belong to the machine, not to the namespace, and may not be written.
      "--conntrack-max-per-core=0",
      "--conntrack-min=0",
      "--conntrack-tcp-timeout-established=0s",
      "--conntrack-tcp-timeout-close-wait=0s",
      "-v=0",
    ],
    probe: { url: "http://127.0.0.1:10256/livez" },
  }),
  kubelet: ({ directory, nodeName, containerdSocket }) => ({
    args: [
      // For cAdvisor, which otherwise asks at the usual place and knows no container's name.
      `--containerd=${containerdSocket}`,
      `--config=${directory}/kubelet.json`,
      `--kubeconfig=${directory}/kubelet.kubeconfig`,
      `--root-dir=${directory}/kubelet`,
      `--cert-dir=${directory}/kubelet-pki`,
      `--hostname-override=${nodeName}`,
      `--node-ip=${NETWORK.node}`,
      "-v=0",
    ],
    probe: { url: "http://127.0.0.1:10248/healthz" },
  }),
  coredns: ({ directory }) => ({
    args: [`-conf=${directory}/Corefile`, "-quiet"],
    probe: { url: "http://127.0.0.1:10054/ready" },
  }),
  "metrics-server": ({ directory }) => ({
    args: [
      ...["kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig"].map((flag) =>
        `--${flag}=${directory}/metrics-server.kubeconfig`
      ),
      "--secure-port=10443",
      `--tls-cert-file=${directory}/pki/metrics-server-serving.crt`,
      `--tls-private-key-file=${directory}/pki/metrics-server-serving.key`,
      "--kubelet-insecure-tls",
      "--kubelet-preferred-address-types=InternalIP",
      "--metric-resolution=10s",
      "--kubelet-request-timeout=5s",
    ],
    probe: { url: "https://127.0.0.1:10443/livez" },
    // Ready means that two rounds of readings are in.
    statusProbe: { url: "https://127.0.0.1:10443/readyz" },
  }),
};

type KubeObject = Readonly<Record<string, unknown>>;

const NAMESPACE = "kube-system";

/** All objects, for `kubectl apply`. `ca`: PEM of the authority that signed metrics-server's. */
export function addonObjects({ ca }: { readonly ca: string }): KubeObject {
  return {
    apiVersion: "v1",
    kind: "List",
    items: [
      ...service({
        name: "kube-dns",
        clusterIP: NETWORK.dnsService,
        ports: [
          { name: "dns", protocol: "UDP", port: 53, target: 53 },
          { name: "dns-tcp", protocol: "TCP", port: 53, target: 53 },
        ],
      }),
      ...service({
        name: "metrics-server",
        ports: [{ name: "https", protocol: "TCP", port: 443, target: 10443 }],
      }),
      ...role("system:coredns", [
        rule(["list", "watch"], "", ["endpoints", "services", "pods", "namespaces"]),
        rule(["list", "watch"], "discovery.k8s.io", ["endpointslices"]),
      ]),
      ...role("system:metrics-server", [
        rule(["get"], "", ["nodes/metrics"]),
        rule(["get", "list", "watch"], "", ["nodes", "pods"]),
        rule(["create"], "authentication.k8s.io", ["tokenreviews"]),
        rule(["create"], "authorization.k8s.io", ["subjectaccessreviews"]),
      ]),
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRole",
        metadata: {
          name: "system:aggregated-metrics-reader",
          labels: {
            "rbac.authorization.k8s.io/aggregate-to-view": "true",
            "rbac.authorization.k8s.io/aggregate-to-edit": "true",
            "rbac.authorization.k8s.io/aggregate-to-admin": "true",
          },
        },
        rules: [rule(["get", "list", "watch"], "metrics.k8s.io", ["pods", "nodes"])],
      },
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "RoleBinding",
        metadata: { name: "metrics-server-auth-reader", namespace: NAMESPACE },
        roleRef: {
          apiGroup: "rbac.authorization.k8s.io",
          kind: "Role",
          name: "extension-apiserver-authentication-reader",
        },
        subjects: [user("system:metrics-server")],
      },
      {
        apiVersion: "apiregistration.k8s.io/v1",
        kind: "APIService",
        metadata: { name: "v1beta1.metrics.k8s.io" },
        spec: {
          group: "metrics.k8s.io",
          version: "v1beta1",
          groupPriorityMinimum: 100,
          versionPriority: 100,
          caBundle: btoa(ca),
          service: { name: "metrics-server", namespace: NAMESPACE, port: 443 },
        },
      },
    ],
  };
}

/** A Service without selector, and its endpoint: the node. */
function service({ name, clusterIP, ports }: {
  readonly name: string;
  readonly clusterIP?: string;
  readonly ports: readonly {
    readonly name: string;
    readonly protocol: string;
    readonly port: number;
    readonly target: number;
  }[];
}): KubeObject[] {
  return [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, namespace: NAMESPACE, labels: { "k8s-app": name } },
      spec: {
        ...(clusterIP === undefined ? {} : { clusterIP }),
        ports: ports.map(({ target, ...port }) => ({ ...port, targetPort: target })),
      },
    },
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: {
        name: `${name}-node`,
        namespace: NAMESPACE,
        labels: { "kubernetes.io/service-name": name },
      },
      addressType: "IPv4",
      endpoints: [{ addresses: [NETWORK.node], conditions: { ready: true } }],
      ports: ports.map(({ name, protocol, target }) => ({ name, protocol, port: target })),
    },
  ];
}

function role(name: string, rules: readonly KubeObject[]): KubeObject[] {
  const apiVersion = "rbac.authorization.k8s.io/v1";
  return [
    { apiVersion, kind: "ClusterRole", metadata: { name }, rules },
    {
      apiVersion,
      kind: "ClusterRoleBinding",
      metadata: { name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
      subjects: [user(name)],
    },
  ];
}

function rule(
  verbs: readonly string[],
  apiGroup: string,
  resources: readonly string[],
): KubeObject {
  return { verbs, apiGroups: [apiGroup], resources };
}

function user(name: string): KubeObject {
  return { apiGroup: "rbac.authorization.k8s.io", kind: "User", name };
}
