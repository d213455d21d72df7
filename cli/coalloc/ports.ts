/**
 * The ports by which commands reach a cluster and the terminal. Every call acts with the user's own
 * rights, and throws an `ApiError` when the server refuses or can't be reached.
 *
 * @module
 */
import type { PrometheusRangeQueries } from "../../adapters/prometheus/range_queries.ts";
import type { ScopeInput } from "../../shared/view/explanation.ts";
import type { Impersonation } from "../../adapters/kube/client/connection.ts";
import type { PodInput } from "../../shared/resize/inputs/resize_input.ts";
import type { ResizePatch } from "../../shared/resize/patch.ts";
import type { Namespace } from "../../shared/api/namespace.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { WorkloadTemplate } from "../../shared/api/workload.ts";
import type { RecommendationReport } from "../../shared/api/recommendation_report.ts";
import type { Clock } from "../../shared/clock.ts";
import type { StoredPolicy } from "../../shared/rightsizing/policy_spec.ts";
import type { NodeView } from "../../shared/view/node_view.ts";
import type { Tunnel } from "../../adapters/kube/client/port_tunnel.ts";
import type { TerminalStyle } from "../terminal/terminal_text.ts";
import type { DiagnosisReader } from "./kube/snapshot.ts";
import type { OutputFormat } from "./output.ts";

/** Name and namespace of a pod. */
export interface PodName {
  readonly namespace: string;
  readonly name: string;
}

/** Reads the API's state. */
export interface ClusterReader {
  pod(name: PodName): Promise<Pod | undefined>;
  /** By default pods of all namespaces, with any labels. */
  pods(namespace?: string, labelSelector?: string): Promise<readonly Pod[]>;
  namespace(name: string): Promise<Namespace | undefined>;
  allocations(namespace?: string): Promise<readonly PodAllocation[]>;
  /** The settings file of the installation; undefined where there is none. */
  settingsText(): Promise<string | undefined>;
  /** CPU limits of the template that the pod was made from, millicores by container name. */
  templateLimits(pod: Pod): Promise<ReadonlyMap<string, number> | undefined>;
  /** Objects that decide, beside pod and namespace, whether the pod takes part. */
  scopeInput(pod: Pod): Promise<ScopeInput>;
  /** LimitRanges and the pod's node, where the user may read them. */
  limitInput(pod: Pod): Promise<Omit<PodInput, "pod">>;
  versions(): Promise<ClusterVersions>;
  /** True while a controller renews its lease. */
  controllerIsAlive(): Promise<boolean>;
}

/** Versions in the cluster. */
export interface ClusterVersions {
  /** The API server's version. */
  readonly server: string;
  /** Undefined where there is no controller, or the user may not see it. */
  readonly controllerImage: string | undefined;
  /** False where the user may not read the installation. */
  readonly controllerIsVisible: boolean;
}

/** Reads policies, reports and templates; by default of all namespaces. */
export interface RecommendationReader {
  reports(namespace?: string): Promise<readonly RecommendationReport[]>;
  policies(namespace?: string): Promise<readonly StoredPolicy[]>;
  /** Templates of Deployments, StatefulSets and DaemonSets. */
  templates(namespace?: string, labelSelector?: string): Promise<readonly WorkloadTemplate[]>;
}

/** Reads the published placement, and the controller's command. */
export interface PlacementReader {
  /** Published statuses as text, by namespace and `statusKey()`; by default of all namespaces. */
  statuses(namespace?: string): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>>;
  /** Arguments and variables in the controller's Deployment; undefined where there is none. */
  controllerCommand(): Promise<ControllerCommand | undefined>;
}

/** A program's settings outside of its file. */
export interface ControllerCommand {
  /** Variables that are set to a text. */
  readonly variables: Readonly<Record<string, string>>;
  /** Arguments without the program's name. */
  readonly args: readonly string[];
}

/** An agent, and the node that it runs on. */
export interface AgentName {
  readonly node: string;
  readonly pod: string;
}

/** Reads agents' views of their nodes. */
export interface AgentViews {
  agents(): Promise<readonly AgentName[]>;
  view(agent: AgentName): Promise<NodeView>;
}

/** Reaches the dashboard. */
export interface DashboardAccess {
  /** A local port that leads to a controller; its owner closes it. */
  tunnel(): Promise<Tunnel>;
  /** The user's own token, or one of the installation's account for the dashboard. */
  token(): Promise<string>;
}

/** Takes pods out of the market. */
export interface MarketSwitches {
  optOutPod(name: PodName): Promise<void>;
  optOutNamespace(name: string): Promise<void>;
  /** Writes the installation's settings, which the controllers follow while they run. */
  writeSettings(text: string): Promise<void>;
}

/** Changes limits: `PATCH pods/{name}/resize` as the given field manager. */
export interface LimitWriter {
  resize(name: PodName, patch: ResizePatch): Promise<void>;
}

/** A connected cluster. */
export interface Cluster {
  /** The namespace of the kubeconfig's context. */
  readonly defaultNamespace: string;
  readonly reader: ClusterReader;
  readonly recommendations: RecommendationReader;
  readonly placement: PlacementReader;
  readonly views: AgentViews;
  readonly diagnosis: DiagnosisReader;
  readonly switches: MarketSwitches;
  readonly dashboard: DashboardAccess;
  /** A writer of limits under this name in managedFields. */
  limitWriter(fieldManager: string): LimitWriter;
}

/** The cluster to connect to. */
export interface ConnectOptions {
  /** A kubeconfig file; without it KUBECONFIG and then ~/.kube/config count. */
  readonly kubeconfig?: string;
  /** A context of that file; without it the current one. */
  readonly context?: string;
  /** The user to act as; takes precedence over the kubeconfig's impersonation. */
  readonly impersonation?: Impersonation;
}

/** The program's ports to the world outside of it. */
export interface CoallocWorld {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  readonly inIsTerminal: boolean;
  /** Size of the terminal now. */
  readonly size: () => { readonly columns: number; readonly rows: number };
  /** Value of NO_COLOR, if set. */
  readonly noColor: string | undefined;
  readonly clock: Clock;
  /** Aborted when the user ends the program. */
  readonly signal: AbortSignal;
  readonly confirm: (question: string) => boolean;
  /** Runs a job that blocks the event loop for seconds; the user can end the program meanwhile. */
  readonly runBlocking: <T>(job: () => T) => T;
  /** Opens a page in the user's browser, if there is one. */
  readonly browse: (url: string) => void;
  /** The content of a file; `-` is standard input. Rejects with the system's error. */
  readonly readFile: (path: string) => Promise<Uint8Array<ArrayBuffer>>;
  readonly connect: (options: ConnectOptions) => Promise<Cluster>;
  /** The names of all contexts in this kubeconfig file, by default in those that `connect` reads. */
  readonly contexts: (kubeconfig?: string) => Promise<readonly string[]>;
  /** Queries a Prometheus. */
  readonly queryRange: PrometheusRangeQueries["ask"];
}

/** The world of a command: escape sequences in texts that it writes have no effect on a terminal. */
export interface CommandWorld extends CoallocWorld {
  /** Writes the program's progress to standard error. */
  readonly progress: (text: string) => void;
  /** Overwrites the terminal's screen with this text; the first one clears it. */
  readonly draw: (text: string, screen: { readonly first: boolean }) => void;
}

/** The namespaces that a command reads. */
export type NamespaceChoice =
  | { readonly all: true }
  | { readonly all: false; readonly name: string };

/** Ports and flags of a command. */
export interface CommandContext {
  readonly cluster: Cluster;
  readonly world: CommandWorld;
  readonly namespace: NamespaceChoice;
  /** Labels of the pods or workloads, which the API server evaluates. */
  readonly selector?: string;
  readonly output: OutputFormat;
  readonly style: TerminalStyle;
}

/** Something a command can't do, in a sentence for the user; the program then ends with code 1. */
export class CommandProblem extends Error {
  override readonly name = "CommandProblem";
}
