/**
 * The controller's ports on a real API server.
 *
 * @module
 */
import { checkAPI } from "../adapters/kube/client/api_checks.ts";
import type { KubeConnection } from "../adapters/kube/client/connection.ts";
import { allocationListWatch } from "../adapters/kube/kinds/allocations.ts";
import {
  horizontalPodAutoscalerListWatch,
  verticalPodAutoscalerListWatch,
} from "../adapters/kube/kinds/autoscalers.ts";
import { configMapListWatch } from "../adapters/kube/kinds/config_maps.ts";
import { leaseListWatch } from "../adapters/kube/kinds/leases.ts";
import {
  limitRangeListWatch,
  namespaceListWatch,
  resourceQuotaListWatch,
} from "../adapters/kube/kinds/namespaces.ts";
import { nodeListWatch } from "../adapters/kube/kinds/nodes.ts";
import { createOwnerTemplates } from "../adapters/kube/kinds/owner_templates.ts";
import { podListWatch } from "../adapters/kube/kinds/pods.ts";
import { workloadListWatch } from "../adapters/kube/kinds/workloads.ts";
import { createAllocationStore } from "../adapters/kube/writers/allocation_writers.ts";
import { createEventSink } from "../adapters/kube/writers/event_sink.ts";
import { createLeaseStore } from "../adapters/kube/writers/lease_writers.ts";
import { createPodResizer } from "../adapters/kube/writers/pod_writers.ts";
import { MARKET_MANAGER } from "../shared/resize/original_limits.ts";
import type { Clock } from "../shared/clock.ts";
import type { Log } from "../shared/log.ts";
import type { Random } from "../shared/random.ts";
import { CONTROLLER_LEASE } from "../shared/installation.ts";
import { connectPlacementAPI } from "./placement/connect.ts";
import { connectRightsizingAPI } from "./rightsizing/api.ts";
import type { ControllerAPI } from "./run_controller.ts";
import type { ControllerSettings } from "./settings.ts";

/** Where the installation is, and what the adapters work with. */
export interface ControllerAPIOptions {
  readonly namespace: string;
  /** The ConfigMap that is followed; null: none. */
  readonly configMap: string | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: Random;
  /** Under which events are reported. */
  readonly identity: string;
  readonly settings: () => ControllerSettings;
}

/** The ports with the rights of this connection. */
export function connectControllerAPI(
  connection: KubeConnection,
  { namespace, configMap, clock, log, random, identity, settings }: ControllerAPIOptions,
): ControllerAPI {
  const every = { log, random };
  const events = createEventSink(connection, { clock, log, instance: identity });
  return {
    ask: () => checkAPI(connection),
    sources: {
      pods: podListWatch(connection, every),
      namespaces: namespaceListWatch(connection, every),
      nodes: nodeListWatch(connection, every),
      allocations: allocationListWatch(connection, every),
      leases: leaseListWatch(connection, { ...every, namespace }),
      limitRanges: limitRangeListWatch(connection, every),
      resourceQuotas: resourceQuotaListWatch(connection, every),
      deployments: workloadListWatch(connection, { ...every, kind: "Deployment" }),
      statefulSets: workloadListWatch(connection, { ...every, kind: "StatefulSet" }),
      daemonSets: workloadListWatch(connection, { ...every, kind: "DaemonSet" }),
      horizontalPodAutoscalers: horizontalPodAutoscalerListWatch(connection, every),
      verticalPodAutoscalers: verticalPodAutoscalerListWatch(connection, { ...every, clock }),
    },
    ...(configMap === null
      ? {}
      : { settings: configMapListWatch(connection, { ...every, namespace, name: configMap }) }),
    leadership: createLeaseStore(connection, { namespace, name: CONTROLLER_LEASE }),
    store: createAllocationStore(connection),
    resizer: createPodResizer(connection, { fieldManager: MARKET_MANAGER }),
    templates: createOwnerTemplates(connection),
    events,
    ...(settings().placement
      ? { placement: connectPlacementAPI(connection, { ...every, namespace, events }) }
      : {}),
    ...(settings().rightsizing
      ? {
        rightsizing: connectRightsizingAPI(connection, {
          ...every,
          namespace,
          settings,
          events,
          clock,
        }),
      }
      : {}),
  };
}
