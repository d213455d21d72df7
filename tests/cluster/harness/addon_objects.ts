/**
 * The objects that make the cluster's DNS and the metrics API known: both run as processes on the
 * node, behind Services with endpoints that are the node's address.
 *
 * @module
 */
import { NETWORK } from "./instance.ts";

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

/** A ClusterRole and its binding to the user of the same name. */
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
