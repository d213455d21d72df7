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
} from "../../../adapters/kube/client/connection.ts";
import { listOf, objectOf, present, textOf } from "../../../adapters/kube/client/json_fields.ts";
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
import type { Clock } from "../../../shared/clock.ts";
import type { ListWatch } from "../../../shared/control/list_watch.ts";
import { resourceRangesOf } from "../../../shared/resize/checks/limit_range.ts";
import { movesRequest } from "../../../shared/resize/inputs/qos.ts";
import { belongsTo } from "../../../shared/resize/workloads_of.ts";
import type { ClusterReader, PodName, ScopeFacts } from "../ports.ts";
import {
  CONTROLLER_DEPLOYMENT,
  CONTROLLER_LEASE,
  SETTINGS,
  settingsPath,
  SYSTEM_NAMESPACE,
} from "./installation.ts";

/** What reading works with. */
export interface ReaderParts {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Stands for an object that the user may not read. */
const HIDDEN = Symbol("hidden");

/** The port's implementation. */
// deno-lint-ignore house/function-length
export function createClusterReader(
  connection: KubeConnection,
  { clock, signal }: ReaderParts,
): ClusterReader {
  // A server that does not answer must not outlast the user's patience.
  const interruptible: KubeConnection = {
    ...connection,
    request: (request) => connection.request({ signal, ...request }),
  };
  const get = (path: string): Promise<unknown> => orNothing(interruptible.request({ path }));
  const all = async <T extends ApiObject>(source: ListWatch<T>): Promise<readonly T[]> =>
    (await source.list(signal)).items;
  /** None where the kind is not defined. */
  async function verticalAutoscalersOf(pod: Pod): Promise<readonly VerticalPodAutoscaler[]> {
    const { namespace } = pod.metadata;
    const source = verticalPodAutoscalerListWatch(connection, { clock, namespace });
    return (await all(source)).filter(({ target }) => belongsTo(pod, target));
  }
  /** Only of a pod with a request that moves do they decide whether it takes part. */
  async function autoscalersOf(
    pod: Pod,
  ): Promise<Pick<ScopeFacts, "autoscalers" | "workload"> | undefined> {
    if (!movesRequest(pod)) return {};
    const { namespace } = pod.metadata;
    const source = horizontalPodAutoscalerListWatch(connection, { namespace });
    const autoscalers = (await all(source)).filter(({ target }) => belongsTo(pod, target));
    const [scaled] = autoscalers;
    const { kind = "", name = "" } = scaled?.target ?? {};
    const path = workloadPath(namespace, { kind, name });
    if (path === undefined || !isWorkloadKind(kind)) return { autoscalers };
    const raw = await unlessHidden(get(path));
    return raw === undefined
      ? { autoscalers }
      : { autoscalers, workload: parseWorkload(raw, kind) };
  }
  return {
    async pod(name) {
      const raw = await get(podPath(name));
      return raw === undefined ? undefined : parsePod(raw);
    },
    pods: (namespace) =>
      all(podListWatch(connection, namespace === undefined ? {} : { namespace })),
    async namespace(name) {
      const raw = await get(`/api/v1/namespaces/${pathPart(name)}`);
      return raw === undefined ? undefined : parseNamespace(raw);
    },
    allocations: (namespace) =>
      all(allocationListWatch(connection, present("namespace", namespace))),
    async settingsText() {
      const text = objectOf(objectOf(await get(settingsPath())).data)[SETTINGS.key];
      return typeof text === "string" ? text : undefined;
    },
    templateLimits: (pod) => createOwnerTemplates(interruptible).limitsOf(pod),
    async scopeFacts(pod) {
      const [verticalAutoscalers, horizontal, node] = await Promise.all([
        unlessUnreadable(verticalAutoscalersOf(pod)),
        unlessHidden(autoscalersOf(pod)),
        pod.nodeName === "" ? undefined : unlessHidden(get(nodePath(pod.nodeName))),
      ]);
      return {
        ...present("verticalAutoscalers", verticalAutoscalers),
        ...horizontal,
        ...readableNode(node),
      };
    },
    async limitFacts({ nodeName, metadata: { namespace } }) {
      const [ranges, node] = await Promise.all([
        // Not all users may read them; the server decides anyway.
        unlessHidden(all(limitRangeListWatch(connection, { namespace }))),
        nodeName === "" ? undefined : unlessHidden(get(nodePath(nodeName))),
      ]);
      const limitRange = resourceRangesOf(ranges ?? []);
      return {
        ...(limitRange === undefined ? {} : { limitRange }),
        ...readableNode(node),
      };
    },
    async versions() {
      const [server, deployment] = await Promise.all([
        readServerVersion(interruptible),
        get(`/apis/apps/v1/namespaces/${SYSTEM_NAMESPACE}/deployments/${CONTROLLER_DEPLOYMENT}`)
          .catch((error: unknown) => {
            if (error instanceof ApiError && error.status === 403) return HIDDEN;
            throw error;
          }),
      ]);
      const { template } = objectOf(objectOf(deployment).spec);
      const [container] = listOf(objectOf(objectOf(template).spec).containers);
      return {
        server,
        controllerImage: textOf(objectOf(container).image),
        controllerIsVisible: deployment !== HIDDEN,
      };
    },
    async controllerIsAlive() {
      const raw = await get(
        resourcePath({ ...LEASES, namespace: SYSTEM_NAMESPACE, name: CONTROLLER_LEASE }),
      );
      if (raw === undefined) return false;
      const { holder, renewTimeMs = 0, durationSeconds } = parseLease(raw);
      // Twice the duration absorbs a difference between the clocks.
      return holder !== "" && clock.wall() - renewTimeMs < 2 * durationSeconds * 1000;
    },
  };
}

/** The pod's own path. */
export function podPath({ namespace, name }: PodName): string {
  return `/api/v1/namespaces/${pathPart(namespace)}/pods/${pathPart(name)}`;
}

/** Nothing for a node that is not known: its CPU must not count as none. */
function readableNode(raw: unknown): { readonly node?: Node } {
  return raw === undefined ? {} : { node: parseNode(raw) };
}

/** Undefined for what the user may not read. */
async function unlessHidden<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return undefined;
    throw error;
  }
}

/** As `unlessHidden`, and for a kind of others with a definition or webhook that is broken. */
async function unlessUnreadable<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await unlessHidden(answer);
  } catch (error) {
    if (error instanceof ApiError && error.status >= 500) return undefined;
    throw error;
  }
}

async function orNothing(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}
