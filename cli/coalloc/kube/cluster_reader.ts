/**
 * Reads the state of a real API server for the commands.
 *
 * @module
 */
import { readServerVersion } from "../../../adapters/kube/client/api_checks.ts";
import {
  type KubeConnection,
  pathPart,
  resourcePath,
  unlessNotFound,
  unlessRefused,
} from "../../../adapters/kube/client/connection.ts";
import {
  type JSONObject,
  listOf,
  objectOf,
  present,
  textOf,
} from "../../../adapters/kube/client/json_fields.ts";
import { allocationListWatch } from "../../../adapters/kube/kinds/allocations.ts";
import {
  horizontalPodAutoscalerListWatch,
  verticalPodAutoscalerListWatch,
} from "../../../adapters/kube/kinds/autoscalers.ts";
import { LEASES, parseLease } from "../../../adapters/kube/kinds/leases.ts";
import { limitRangeListWatch, parseNamespace } from "../../../adapters/kube/kinds/namespaces.ts";
import { nodePath, parseNode } from "../../../adapters/kube/kinds/nodes.ts";
import { createOwnerTemplates } from "../../../adapters/kube/kinds/owner_templates.ts";
import { parsePod, podListWatch } from "../../../adapters/kube/kinds/pods.ts";
import {
  isWorkloadKind,
  parseWorkload,
  workloadPath,
} from "../../../adapters/kube/kinds/workloads.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { VerticalPodAutoscaler } from "../../../shared/api/autoscalers.ts";
import type { Node } from "../../../shared/api/node.ts";
import type { ApiObject } from "../../../shared/api/object.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import { defined } from "../../../shared/defined.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { ListWatch } from "../../../shared/control/informer.ts";
import { resourceRangesOf } from "../../../shared/resize/checks/limit_range.ts";
import { movesRequest } from "../../../shared/resize/inputs/qos.ts";
import { belongsTo } from "../../../shared/resize/workloads_of.ts";
import type { ClusterReader, ClusterVersions, PodName } from "../ports.ts";
import type { ScopeInput } from "../../../shared/view/explanation.ts";
import { CONTROLLER_DEPLOYMENT, CONTROLLER_LEASE, SETTINGS } from "../../../shared/installation.ts";
import { settingsPath, SYSTEM_NAMESPACE } from "./system_namespace.ts";

/** Clock and signal of the reader's requests. */
export interface ReaderParts {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Requests of one command. */
interface Requests extends ReaderParts {
  readonly connection: KubeConnection;
}

/** Creates the reader. */
export function createClusterReader(
  connection: KubeConnection,
  parts: ReaderParts,
): ClusterReader {
  const requests: Requests = { ...parts, connection };
  return {
    async pod(name) {
      const raw = await get(requests, podPath(name));
      return raw === undefined ? undefined : parsePod(raw);
    },
    pods: (namespace, labelSelector) =>
      list(requests, podListWatch(connection, defined({ namespace, labelSelector }))),
    async namespace(name) {
      const raw = await get(requests, `/api/v1/namespaces/${pathPart(name)}`);
      return raw === undefined ? undefined : parseNamespace(raw);
    },
    allocations: (namespace) =>
      list(requests, allocationListWatch(connection, present("namespace", namespace))),
    async settingsText() {
      const text = objectOf(objectOf(await get(requests, settingsPath())).data)[SETTINGS.key];
      return typeof text === "string" ? text : undefined;
    },
    templateLimits: createOwnerTemplates(connection).limitsOf,
    scopeInput: (pod) => readScopeInput(requests, pod),
    limitInput: (pod) => readLimitInput(requests, pod),
    versions: () => readVersions(requests),
    controllerIsAlive: () => readControllerIsAlive(requests),
  };
}

/** The object; undefined where there is none. */
function get({ connection }: Requests, path: string): Promise<unknown> {
  return unlessNotFound(connection.request({ path }));
}

/** All objects of the list. */
export async function list<T extends ApiObject>(
  { signal }: Pick<ReaderParts, "signal">,
  source: ListWatch<T>,
): Promise<readonly T[]> {
  return (await source.list(signal)).items;
}

async function readScopeInput(requests: Requests, pod: Pod): Promise<ScopeInput> {
  const [verticalAutoscalers, horizontal, node] = await Promise.all([
    unlessUnreadable(verticalAutoscalersOf(requests, pod)),
    unlessHidden(horizontalAutoscalersOf(requests, pod)),
    readableNode(requests, pod),
  ]);
  return { ...present("verticalAutoscalers", verticalAutoscalers), ...horizontal, ...node };
}

/** VPAs of the pod; none where the kind is not defined. */
async function verticalAutoscalersOf(
  requests: Requests,
  pod: Pod,
): Promise<readonly VerticalPodAutoscaler[]> {
  const { connection, clock } = requests;
  const { namespace } = pod.metadata;
  const source = verticalPodAutoscalerListWatch(connection, { clock, namespace });
  return (await list(requests, source)).filter(({ target }) => belongsTo(pod, target));
}

/** HPAs of the pod: they decide about its part in the market only where its request moves with the limit. */
async function horizontalAutoscalersOf(
  requests: Requests,
  pod: Pod,
): Promise<Pick<ScopeInput, "autoscalers" | "workload">> {
  if (!movesRequest(pod)) return {};
  const { namespace } = pod.metadata;
  const source = horizontalPodAutoscalerListWatch(requests.connection, { namespace });
  const autoscalers = (await list(requests, source)).filter(({ target }) => belongsTo(pod, target));
  const [scaled] = autoscalers;
  const { kind = "", name = "" } = scaled?.target ?? {};
  const path = workloadPath(namespace, { kind, name });
  if (path === undefined || !isWorkloadKind(kind)) return { autoscalers };
  const raw = await unlessHidden(get(requests, path));
  return raw === undefined ? { autoscalers } : { autoscalers, workload: parseWorkload(raw, kind) };
}

async function readLimitInput(
  requests: Requests,
  pod: Pod,
): ReturnType<ClusterReader["limitInput"]> {
  const { namespace } = pod.metadata;
  const [ranges, node] = await Promise.all([
    // Where the user may not read LimitRanges, the server decides.
    unlessHidden(list(requests, limitRangeListWatch(requests.connection, { namespace }))),
    readableNode(requests, pod),
  ]);
  return { ...present("limitRange", resourceRangesOf(ranges ?? [])), ...node };
}

/** The pod's node; absent where it is unknown, since its CPU must not count as 0. */
async function readableNode(
  requests: Requests,
  { nodeName }: Pick<Pod, "nodeName">,
): Promise<{ readonly node?: Node }> {
  const raw = nodeName === "" ? undefined : await unlessHidden(get(requests, nodePath(nodeName)));
  return raw === undefined ? {} : { node: parseNode(raw) };
}

async function readVersions({ connection }: Requests): Promise<ClusterVersions> {
  const [server, container] = await Promise.all([
    readServerVersion(connection),
    unlessHidden(readControllerContainer(connection).then((found = {}) => found)),
  ]);
  return {
    server,
    controllerImage: textOf(container?.image),
    controllerIsVisible: container !== undefined,
  };
}

/** The container of the controllers' Deployment; undefined where there is none. */
export async function readControllerContainer(
  connection: KubeConnection,
): Promise<JSONObject | undefined> {
  const path = `/apis/apps/v1/namespaces/${SYSTEM_NAMESPACE}/deployments/${CONTROLLER_DEPLOYMENT}`;
  const raw = await unlessNotFound(connection.request({ path }));
  if (raw === undefined) return undefined;
  const { spec } = objectOf(objectOf(objectOf(raw).spec).template);
  return objectOf(listOf(objectOf(spec).containers)[0]);
}

async function readControllerIsAlive(requests: Requests): Promise<boolean> {
  const lease = { ...LEASES, namespace: SYSTEM_NAMESPACE, name: CONTROLLER_LEASE };
  const raw = await get(requests, resourcePath(lease));
  if (raw === undefined) return false;
  const { holder, renewTimeMs = 0, durationSeconds } = parseLease(raw);
  // Twice the duration allows for a difference between the clocks.
  return holder !== "" && requests.clock.wall() - renewTimeMs < 2 * durationSeconds * 1000;
}

/** The path of a pod. */
export function podPath({ namespace, name }: PodName): string {
  return `/api/v1/namespaces/${pathPart(namespace)}/pods/${pathPart(name)}`;
}

/** Undefined for what the user may not read. */
export function unlessHidden<T>(answer: Promise<T>): Promise<T | undefined> {
  return unlessRefused(answer, 403);
}

/** As `unlessHidden`, and undefined for a foreign kind with a broken definition or webhook. */
async function unlessUnreadable<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await unlessHidden(answer);
  } catch (error) {
    if (error instanceof ApiError && error.status >= 500) return undefined;
    throw error;
  }
}
