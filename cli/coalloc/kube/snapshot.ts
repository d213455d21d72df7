/**
 * The input of `doctor`: parts of the cluster, each of which the user may be unable to read.
 *
 * @module
 */
import type {
  HorizontalPodAutoscaler,
  VerticalPodAutoscaler,
} from "../../../shared/api/autoscalers.ts";
import type { Lease } from "../../../shared/api/lease.ts";
import type { Namespace } from "../../../shared/api/namespace.ts";
import type { NetworkPolicy } from "./network_policies.ts";
import type { Node } from "../../../shared/api/node.ts";
import type { Texts } from "../../../shared/api/object.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import type { RecommendationReport } from "../../../shared/api/recommendation_report.ts";
import type { NodeView } from "../../../shared/view/node_view.ts";

/** A program of the product. */
export const PROGRAMS = ["mbcas-controller", "mbcas-agent"] as const;
/** One of {@linkcode PROGRAMS}. */
export type ProgramName = typeof PROGRAMS[number];

/** The state of the kubelet of a Ready Linux node. */
export interface KubeletState {
  readonly node: string;
  /** Why it can't be read, in a sentence. */
  readonly problem?: string;
  /** The right that the user lacks: `the right to get nodes/proxy is missing`. */
  readonly missingRight?: string;
  /** From its metrics; absent from kubelets before 1.31. */
  readonly cgroupVersion?: number;
  readonly cgroupDriver?: string;
  readonly cpuManagerPolicy?: string;
  /** False: it enforces no CPU limit. */
  readonly cpuCFSQuota?: boolean;
  /** Addresses of the DNS server that it gives to pods. */
  readonly clusterDNS: readonly string[];
}

/** The Deployment of the controllers, or the DaemonSet of the agents. */
export interface ProgramState {
  readonly name: ProgramName;
  /** Desired pods, and ready ones. */
  readonly wanted: number;
  readonly ready: number;
  /** Labels of its pods. */
  readonly podLabels: Texts;
}

/** A pod of a program that is not ready. */
export interface UnreadyPod {
  readonly name: string;
  /** The text of its `/readyz`, or why that can't be read. */
  readonly reason: string;
  /** The last line of its log about a name that could not be resolved. */
  readonly dnsError?: string;
}

/** A Lease with the time of its last write. */
export interface WrittenLease extends Lease {
  /** By the API server's clock, whole seconds; absent without `managedFields`. */
  readonly writtenAtMs?: number;
}

/** The view of an agent, or why it can't be read. */
export type AgentAnswer =
  & { readonly node: string; readonly pod: string }
  & ({ readonly view: NodeView } | { readonly problem: string });

/** A CustomResourceDefinition of the product. */
export interface DefinitionState {
  readonly name: string;
  /** False where the server has none. */
  readonly exists: boolean;
  /** Its label `app.kubernetes.io/version`. */
  readonly version?: string;
}

/** A certificate of a bundle. */
export interface BundledCertificate {
  readonly notAfterMs: number;
}

/** The webhook's configuration, and the certificates of the Secret where there is one. */
export interface WebhookState {
  readonly bundles: readonly {
    readonly webhook: string;
    /** Why the bundle can't be read, in a sentence. */
    readonly problem?: string;
    readonly certificates: readonly BundledCertificate[];
    /** Whether one of them has signed the certificate that the webhook serves; absent where unknown. */
    readonly signs?: boolean;
  }[];
  /** The certificate that the webhook serves. */
  readonly serving?: BundledCertificate;
}

/** The priority level of service accounts without a FlowSchema of their own. */
export const PRIORITY_LEVEL = "workload-low";

/** Requests of a priority level since the server's start. */
export interface PriorityLevel {
  readonly name: string;
  readonly dispatched: number;
  readonly rejected: number;
  readonly timedOut: number;
  /** Rejected and timed out in the last seconds; absent without earlier ones, or where unknown. */
  readonly recent?: { readonly refused: number; readonly seconds: number };
}

/** All parts by name. */
export interface SnapshotParts {
  /** `atMs`: the server's clock. */
  readonly server: { readonly version: string; readonly atMs: number };
  readonly nodes: readonly Node[];
  readonly kubelets: readonly KubeletState[];
  readonly pods: readonly Pod[];
  readonly namespaces: readonly Namespace[];
  readonly allocations: readonly PodAllocation[];
  readonly reports: readonly RecommendationReport[];
  readonly verticalAutoscalers: readonly VerticalPodAutoscaler[];
  readonly autoscalers: readonly HorizontalPodAutoscaler[];
  /** The settings file; empty where there is none. */
  readonly settings: string;
  /** Installed programs. */
  readonly programs: readonly ProgramState[];
  readonly unready: readonly UnreadyPod[];
  readonly leases: readonly WrittenLease[];
  readonly agents: readonly AgentAnswer[];
  /** Values by series, of each controller. */
  readonly controllerMetrics: readonly ReadonlyMap<string, number>[];
  readonly policies: readonly NetworkPolicy[];
  /** Addresses of the API server behind its Service. */
  readonly apiAddresses: readonly { readonly address: string; readonly port: number }[];
  /** Addresses of the Service `kube-dns`, and how many endpoints are ready; absent without one. */
  readonly dns: { readonly addresses: readonly string[]; readonly ready: number } | undefined;
  readonly definitions: readonly DefinitionState[];
  /** Fields of PodAllocations that the server would drop. */
  readonly unknownFields: readonly string[];
  /** Undefined where it is not installed. */
  readonly webhook: WebhookState | undefined;
  readonly priorityLevels: readonly PriorityLevel[];
}

/** The name of a part. */
export type PartName = keyof SnapshotParts;

/** A part that could not be read. */
export interface Unread {
  /** `the right to list nodes is missing`, or the server's message. */
  readonly unread: string;
}

/** Each part, or why it could not be read. */
export type Snapshot = { readonly [P in PartName]: { readonly value: SnapshotParts[P] } | Unread };

/** Reads all parts at once. Throws an `ApiError` where the server does not answer. */
export interface DiagnosisReader {
  snapshot(): Promise<Snapshot>;
}
