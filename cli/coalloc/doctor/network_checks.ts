/**
 * Checks of DNS and of NetworkPolicies.
 *
 * @module
 */
import { BlockList, isIPv6 } from "node:net";
import { labelsMatch } from "../../../shared/api/label_selector.ts";
import type {
  NetworkPolicy,
  PolicyPeer,
  PolicyPort,
  PolicyRule,
} from "../kube/network_policies.ts";
import type { Texts } from "../../../shared/api/object.ts";
import { SYSTEM_NAMESPACE } from "../kube/system_namespace.ts";
import { type Check, check, type Finding } from "./check.ts";
import type { ProgramState, SnapshotParts } from "../kube/snapshot.ts";

/** The port of the webhook's server. */
const WEBHOOK_PORT = 9443;
/** The label that each namespace has. */
const DNS_NAMESPACE = { "kubernetes.io/metadata.name": "kube-system" };

/** A connection, seen from the pod. */
interface Connection {
  readonly direction: "ingress" | "egress";
  /** The peer's; absent: unknown, so that only a rule for all addresses allows the connection. */
  readonly address?: string;
  /** Labels of the peer's namespace where it is a pod; absent for nodes and other hosts. */
  readonly namespaceLabels?: Texts;
  readonly port: number;
  readonly protocol: "TCP" | "UDP";
}

/**
 * The policies that select the pod, if none of their rules allows the connection; empty where one does, and
 * where no policy selects the pod.
 */
function blockingPolicies(
  policies: readonly NetworkPolicy[],
  { podLabels, ...connection }: Connection & { readonly podLabels: Texts },
): readonly NetworkPolicy[] {
  const selecting = policies.filter(({ pods, ...policy }) =>
    policy[connection.direction] !== undefined && labelsMatch(podLabels, pods)
  );
  const isAllowed = selecting.some((policy) =>
    policy[connection.direction]?.some((rule) => allows(rule, connection))
  );
  return isAllowed ? [] : selecting;
}

function allows({ peers, ports }: PolicyRule, connection: Connection): boolean {
  return (peers.length === 0 || peers.some((peer) => isPeer(peer, connection))) &&
    (ports.length === 0 || ports.some((port) => isPort(port, connection)));
}

/** Whether the rule's peer is the connection's. A podSelector counts as selecting it: pods are not read. */
function isPeer({ ipBlock, namespaces }: PolicyPeer, connection: Connection): boolean {
  const { address, namespaceLabels } = connection;
  if (ipBlock === undefined) {
    return namespaceLabels !== undefined && namespaces !== undefined &&
      labelsMatch(namespaceLabels, namespaces);
  }
  const { cidr, except } = ipBlock;
  return cidr === "0.0.0.0/0" && except.length === 0 && address === undefined ||
    address !== undefined && contains(cidr, address) &&
      !except.some((one) => contains(one, address));
}

function contains(cidr: string, address: string): boolean {
  const [network = "", length = "32"] = cidr.split("/");
  const family = (ip: string): "ipv4" | "ipv6" => isIPv6(ip) ? "ipv6" : "ipv4";
  const block = new BlockList();
  block.addSubnet(network, Number(length), family(network));
  return block.check(address, family(address));
}

function isPort({ protocol, port, endPort }: PolicyPort, connection: Connection): boolean {
  if (protocol !== connection.protocol) return false;
  if (typeof port !== "number") return true;
  return connection.port >= port && connection.port <= (endPort ?? port);
}

/** A connection that a program needs. */
interface NeededConnection extends Connection {
  readonly code: string;
  readonly peer: string;
  readonly remedy: string;
}

/** The peers of the programs. */
type Peers = Pick<SnapshotParts, "apiAddresses" | "kubelets" | "dns" | "webhook">;

function connectionsOf(
  { name }: ProgramState,
  { apiAddresses, kubelets, dns, webhook }: Peers,
): NeededConnection[] {
  const egress = { direction: "egress", protocol: "TCP" } as const;
  const toAPI = apiAddresses.map(({ address, port }) => ({
    ...egress,
    address,
    port,
    code: "EgressToAPIBlocked",
    peer: `the API server at ${address}:${port}`,
    remedy: `allow egress to TCP port ${port}`,
  }));
  const servers = [...new Set(kubelets.flatMap(({ clusterDNS }) => clusterDNS))];
  const toDNS = servers.flatMap((address): NeededConnection[] => {
    const behindService = dns?.addresses.includes(address) === true;
    // NodeLocal DNSCache has a link-local address. The namespaces of other servers are unknown.
    if (!behindService && !address.startsWith("169.254.")) return [];
    return [{
      direction: "egress",
      protocol: "UDP",
      address,
      port: 53,
      ...(behindService ? { namespaceLabels: DNS_NAMESPACE } : {}),
      code: "EgressToDNSBlocked",
      peer: `the DNS server at ${address}:53`,
      remedy: `allow egress to UDP and TCP port 53 of ${address}`,
    }];
  });
  const toWebhook: NeededConnection[] = name === "mbcas-controller" && webhook !== undefined
    ? [{
      direction: "ingress",
      protocol: "TCP",
      port: WEBHOOK_PORT,
      code: "IngressToWebhookBlocked",
      peer: `API servers at port ${WEBHOOK_PORT}`,
      remedy: `allow ingress to TCP port ${WEBHOOK_PORT} from all addresses`,
    }]
    : [];
  return [...toAPI, ...toDNS, ...toWebhook];
}

/** Checks of the network. */
export const NETWORK_CHECKS: readonly Check[] = [
  check({
    name: "NetworkPolicies",
    needs: ["programs", "policies", "apiAddresses", "kubelets", "dns", "webhook"],
    find: ({ programs, policies, ...peers }) =>
      programs.flatMap((program) =>
        connectionsOf(program, peers).flatMap(
          ({ code, peer, remedy, ...connection }): Finding[] => {
            const { podLabels } = program;
            const blocking = blockingPolicies(policies, { ...connection, podLabels });
            if (blocking.length === 0) return [];
            const names = blocking.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
            return [{
              code,
              severity: "error",
              object: `NetworkPolicy ${names.join(", ")}`,
              seen: `no rule for ${program.name} lets ${peer} pass`,
              remedy,
            }];
          },
        )
      ),
  }),
  check({
    name: "cluster DNS",
    needs: ["dns"],
    find: ({ dns }) =>
      dns === undefined || dns.ready > 0 ? [] : [{
        code: "DNSDown",
        severity: "error",
        object: "Service kube-system/kube-dns",
        seen: "0 endpoints are ready: agents and controllers find the API server by its name",
        remedy: "mend CoreDNS: kubectl get pods -n kube-system -l k8s-app=kube-dns",
      }],
  }),
  check({
    name: "names that programs resolve",
    needs: ["unready"],
    find: ({ unready }) =>
      unready.flatMap(({ name, dnsError }): Finding[] =>
        dnsError === undefined ? [] : [{
          code: "DNSFails",
          severity: "error",
          object: `Pod ${SYSTEM_NAMESPACE}/${name}`,
          seen: `its log says: ${dnsError}`,
          remedy: "check dnsPolicy, the node's DNS and NetworkPolicies: the pod must resolve " +
            "kubernetes.default.svc",
        }]
      ),
  }),
];
