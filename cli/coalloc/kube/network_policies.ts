/**
 * NetworkPolicies, as `doctor` reads them.
 *
 * @module
 */
import type { LabelSelector } from "../../../shared/api/label_selector.ts";
import type { NamespacedObject } from "../../../shared/api/object.ts";
import { present } from "../../../adapters/kube/client/json_fields.ts";
import {
  parseLabelSelector,
  parseNamespacedIdentity,
} from "../../../adapters/kube/kinds/object_fields.ts";
import type { RawObject, RawSelector } from "../../../adapters/kube/kinds/raw_objects.ts";

/** Peers that a rule allows: addresses of a block, or pods of namespaces. */
export interface PolicyPeer {
  readonly ipBlock?: { readonly cidr: string; readonly except: readonly string[] };
  /** Absent: the policy's namespace. */
  readonly namespaces?: LabelSelector;
}

/** Ports that a rule allows. */
export interface PolicyPort {
  readonly protocol: string;
  /** A number, or the name of a port of the pod; absent: all ports. */
  readonly port?: number | string;
  /** Absent: `port` alone. */
  readonly endPort?: number;
}

/** A rule; without peers or ports it allows all of them. */
export interface PolicyRule {
  readonly peers: readonly PolicyPeer[];
  readonly ports: readonly PolicyPort[];
}

/** The trimmed policy. */
export interface NetworkPolicy extends NamespacedObject {
  readonly pods: LabelSelector;
  /** Absent: the policy restricts no such connections. */
  readonly ingress?: readonly PolicyRule[];
  /** As `ingress`. */
  readonly egress?: readonly PolicyRule[];
}

interface RawPeer {
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
  readonly namespaceSelector?: RawSelector;
}

interface RawPort {
  readonly protocol?: string;
  readonly port?: number | string;
  readonly endPort?: number;
}

type RawPolicy = RawObject<{
  podSelector?: RawSelector;
  policyTypes?: readonly string[];
  ingress?: readonly { readonly from?: readonly RawPeer[]; readonly ports?: readonly RawPort[] }[];
  egress?: readonly { readonly to?: readonly RawPeer[]; readonly ports?: readonly RawPort[] }[];
}>;

/** Projects a policy, with the directions that it restricts. */
export function parseNetworkPolicy(raw: unknown): NetworkPolicy {
  const { podSelector = {}, policyTypes = [], ingress = [], egress = [] } = (raw as RawPolicy).spec;
  return {
    metadata: parseNamespacedIdentity(raw),
    pods: parseLabelSelector(podSelector),
    ...(policyTypes.includes("Ingress")
      ? { ingress: ingress.map(({ from, ports }) => ruleOf(from, ports)) }
      : {}),
    ...(policyTypes.includes("Egress")
      ? { egress: egress.map(({ to, ports }) => ruleOf(to, ports)) }
      : {}),
  };
}

function ruleOf(peers: readonly RawPeer[] = [], ports: readonly RawPort[] = []): PolicyRule {
  return {
    peers: peers.map(({ ipBlock, namespaceSelector }): PolicyPeer => ({
      ...(ipBlock === undefined
        ? {}
        : { ipBlock: { cidr: ipBlock.cidr, except: ipBlock.except ?? [] } }),
      ...present("namespaces", namespaceSelector && parseLabelSelector(namespaceSelector)),
    })),
    ports: ports.map(({ protocol = "TCP", port, endPort }) => ({
      protocol,
      ...present("port", port),
      ...present("endPort", endPort),
    })),
  };
}
