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

/** Options of the adapters. */
export interface ControllerAPIOptions {
  readonly namespace: string;
  /** The name of the ConfigMap with the settings; null: none is followed. */
  readonly configMap: string | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: Random;
  /** The reporting instance of events. */
  readonly identity: string;
  readonly settings: () => ControllerSettings;
}

/** Connects the ports. */
export function connectControllerAPI(
  connection: KubeConnection,
  { namespace, configMap, clock, log, random, identity, settings }: ControllerAPIOptions,
): ControllerAPI {
  const common = { log, random };
  const events = createEventSink(connection, { clock, log, instance: identity });
  return {
    ask: () => checkAPI(connection),
    sources: {
      pods: podListWatch(connection, common),
      namespaces: namespaceListWatch(connection, common),
      nodes: nodeListWatch(connection, common),
      allocations: allocationListWatch(connection, common),
      leases: leaseListWatch(connection, { ...common, namespace }),
      limitRanges: limitRangeListWatch(connection, common),
      resourceQuotas: resourceQuotaListWatch(connection, common),
      deployments: workloadListWatch(connection, { ...common, kind: "Deployment" }),
      statefulSets: workloadListWatch(connection, { ...common, kind: "StatefulSet" }),
      daemonSets: workloadListWatch(connection, { ...common, kind: "DaemonSet" }),
      horizontalPodAutoscalers: horizontalPodAutoscalerListWatch(connection, common),
      verticalPodAutoscalers: verticalPodAutoscalerListWatch(connection, { ...common, clock }),
    },
    ...(configMap === null
      ? {}
      : { settings: configMapListWatch(connection, { ...common, namespace, name: configMap }) }),
    leadership: createLeaseStore(connection, { namespace, name: CONTROLLER_LEASE }),
    store: createAllocationStore(connection),
    resizer: createPodResizer(connection, { fieldManager: MARKET_MANAGER }),
    templates: createOwnerTemplates(connection),
    events,
    ...(settings().placement
      ? { placement: connectPlacementAPI(connection, { ...common, namespace, events }) }
      : {}),
    ...(settings().rightsizing
      ? {
        rightsizing: connectRightsizingAPI(connection, {
          ...common,
          namespace,
          settings,
          events,
          clock,
        }),
      }
      : {}),
  };
}
