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
import type { Random } from "../../shared/random.ts";
import type { CheckpointStore } from "../../shared/control/persisted_map.ts";
import type { PlacementSources } from "./placement_copies.ts";
import type { DeletionCostWriter, PlacementEvents, PodEvictor } from "./placement_ports.ts";

/** All that placement asks of the outside, beside what the market has copies of. */
export interface PlacementAPI {
  readonly sources: PlacementSources;
  readonly evictor: PodEvictor;
  readonly costs: DeletionCostWriter;
  /** For what it must not forget. */
  readonly store: CheckpointStore;
  readonly events: PlacementEvents;
}

/** Label of the ConfigMaps with what placement remembers. */
export const MEMORY_LABEL = "spotalis.io/memory";
/** The field manager that they are applied by. */
const MANAGER = "mbcas-placement";

/** What the adapters work with. */
export interface PlacementAPIOptions {
  /** Of the installation. */
  readonly namespace: string;
  readonly events: PlacementEvents;
  readonly random: Random;
  readonly log: Log;
}

/** The ports with the rights of this connection. */
export function connectPlacementAPI(
  connection: KubeConnection,
  { namespace, events, random, log }: PlacementAPIOptions,
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
    events,
  };
}
