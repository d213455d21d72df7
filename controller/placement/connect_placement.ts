/**
 * Placement's ports on a real API server.
 *
 * @module
 */
import { createCheckpointStore } from "../../adapters/kube/checkpoint_store.ts";
import type { KubeConnection } from "../../adapters/kube/connection.ts";
import { createDeletionCostWriter } from "../../adapters/kube/deletion_cost_writer.ts";
import { persistentVolumeListWatch } from "../../adapters/kube/persistent_volumes.ts";
import { podDisruptionBudgetListWatch } from "../../adapters/kube/pod_disruption_budgets.ts";
import { createPodEvictor } from "../../adapters/kube/pod_evictor.ts";
import { replicaSetListWatch } from "../../adapters/kube/replica_sets.ts";
import type { Log } from "../../shared/log.ts";
import type { Random } from "../../shared/random.ts";
import type { CheckpointStore } from "../rightsizing/sampler/ports.ts";
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
