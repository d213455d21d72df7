/**
 * Placement's ports on a real API server.
 *
 * @module
 */
import { createCheckpointStore } from "../../adapters/kube/writers/checkpoint_store.ts";
import type { KubeConnection } from "../../adapters/kube/client/connection.ts";
import {
  createDeletionCostWriter,
  createPodEvictor,
} from "../../adapters/kube/writers/pod_writers.ts";
import { persistentVolumeListWatch } from "../../adapters/kube/kinds/nodes.ts";
import { podDisruptionBudgetListWatch } from "../../adapters/kube/kinds/pod_disruption_budgets.ts";
import { replicaSetListWatch } from "../../adapters/kube/kinds/workloads.ts";
import type { Log } from "../../shared/log.ts";
import { MEMORY_LABEL, STATUS_LABEL } from "../../shared/placement/status.ts";
import type { Random } from "../../shared/random.ts";
import type { PlacementAPI, PlacementEvents } from "./ports.ts";

/** The field manager of the ConfigMaps. */
const MANAGER = "mbcas-placement";

/** Ports that use this connection. */
export function connectPlacementAPI(
  connection: KubeConnection,
  { namespace, events, random, log }: {
    /** The installation's. */
    readonly namespace: string;
    readonly events: PlacementEvents;
    readonly random: Random;
    readonly log: Log;
  },
): PlacementAPI {
  const every = { log, random };
  return {
    sources: {
      replicaSets: replicaSetListWatch(connection, every),
      budgets: podDisruptionBudgetListWatch(connection, every),
      volumes: persistentVolumeListWatch(connection, every),
    },
    evictor: createPodEvictor(connection),
    costs: createDeletionCostWriter(connection),
    store: createCheckpointStore(connection, { namespace, label: MEMORY_LABEL, manager: MANAGER }),
    statuses: createCheckpointStore(connection, {
      ...{ namespace, label: STATUS_LABEL, manager: MANAGER },
    }),
    events,
  };
}
