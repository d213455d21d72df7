/**
 * Checks of names and of ways through the network.
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
interface PolicedConnection {
  readonly direction: "ingress" | "egress";
  /** Absent: an address that is not known, which only a rule for all addresses lets pass. */
  readonly address?: string;
  /** Labels of the peer's namespace where it is a pod; absent for nodes and other hosts. */
  readonly namespaceLabels?: Texts;
  readonly port: number;
  readonly protocol: "TCP" | "UDP";
}

/**
 * The policies that select the pod and let the connection pass together in no rule; empty where it
 * passes. Rules are added up: one that lets it pass is enough, and without a policy all does.
 */
function blockingPolicies(
  policies: readonly NetworkPolicy[],
  { podLabels, ...connection }: PolicedConnection & { readonly podLabels: Texts },
): readonly NetworkPolicy[] {
  const selecting = policies.filter(({ pods, ...policy }) =>
    policy[connection.direction] !== undefined && labelsMatch(podLabels, pods)
  );
  const passes = selecting.some((policy) =>
    policy[connection.direction]?.some((rule) => letsPass(rule, connection))
  );
  return passes ? [] : selecting;
}

function letsPass({ peers, ports }: PolicyRule, connection: PolicedConnection): boolean {
  return (peers.length === 0 || peers.some((peer) => isPeer(peer, connection))) &&
    (ports.length === 0 || ports.some((port) => isPort(port, connection)));
}

/** A selector of pods is taken to select the peer: labels of single pods are not known here. */
function isPeer({ ipBlock, namespaces }: PolicyPeer, connection: PolicedConnection): boolean {
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

function isPort({ protocol, port, endPort }: PolicyPort, connection: PolicedConnection): boolean {
  if (protocol !== connection.protocol) return false;
  if (typeof port !== "number") return true;
  return connection.port >= port && connection.port <= (endPort ?? port);
}

/** A way that a program needs. */
interface Way extends PolicedConnection {
  readonly code: string;
  readonly what: string;
  readonly remedy: string;
}

/** The parts that decide a program's connections. */
type Routes = Pick<SnapshotParts, "apiAddresses" | "kubelets" | "dns" | "webhook">;

function waysOf({ name }: ProgramState, { apiAddresses, kubelets, dns, webhook }: Routes): Way[] {
  const egress = { direction: "egress", protocol: "TCP" } as const;
  const toAPI = apiAddresses.map(({ address, port }) => ({
    ...egress,
    address,
    port,
    code: "EgressToAPIBlocked",
    what: `the API server at ${address}:${port}`,
    remedy: `allow egress to TCP port ${port}`,
  }));
  const given = [...new Set(kubelets.flatMap(({ clusterDNS }) => clusterDNS))];
  const toDNS = given.flatMap((address): Way[] => {
    const behindService = dns?.addresses.includes(address) === true;
    // NodeLocal DNSCache listens on the node itself. Other servers have namespaces that are not known here.
    if (!behindService && !address.startsWith("169.254.")) return [];
    return [{
      direction: "egress",
      protocol: "UDP",
      address,
      port: 53,
      ...(behindService ? { namespaceLabels: DNS_NAMESPACE } : {}),
      code: "EgressToDNSBlocked",
      what: `the DNS server at ${address}:53`,
      remedy: `allow egress to UDP and TCP port 53 of ${address}`,
    }];
  });
  const toWebhook: Way[] = name === "mbcas-controller" && webhook !== undefined
    ? [{
      direction: "ingress",
      protocol: "TCP",
      port: WEBHOOK_PORT,
      code: "IngressToWebhookBlocked",
      what: `API servers at port ${WEBHOOK_PORT}`,
      remedy: `allow ingress to TCP port ${WEBHOOK_PORT} from all addresses`,
    }]
    : [];
  return [...toAPI, ...toDNS, ...toWebhook];
}

/** All of them. */
export const NETWORK_CHECKS: readonly Check[] = [
  check({
    name: "NetworkPolicies",
    needs: ["programs", "policies", "apiAddresses", "kubelets", "dns", "webhook"],
    find: ({ programs, policies, ...routes }) =>
      programs.flatMap((program) =>
        waysOf(program, routes).flatMap(({ code, what, remedy, ...way }): Finding[] => {
          const blocking = blockingPolicies(policies, { ...way, podLabels: program.podLabels });
          if (blocking.length === 0) return [];
          const names = blocking.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
          return [{
            code,
            severity: "error",
            object: `NetworkPolicy ${names.join(", ")}`,
            seen: `no rule for ${program.name} lets ${what} pass`,
            remedy,
          }];
        })
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
