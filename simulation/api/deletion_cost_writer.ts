/**
 * The annotation by which a ReplicaSet chooses pods to delete, on the simulated API.
 *
 * @module
 */
import type { DeletionCostWriter } from "../../controller/placement/ports.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import { DELETION_COST } from "../../shared/placement/deletion_cost.ts";
import type { ApiAccess } from "./api_access.ts";

/** The port's implementation. */
export function createDeletionCostWriter({ store, gate }: ApiAccess): DeletionCostWriter {
  const { Pod: pods } = store.tables;
  return {
    write: ({ namespace, name, uid }, cost) =>
      gate.send({ verb: "patch", kind: "Pod" }, () => {
        const key = objectKey({ namespace, name });
        if (pods.get(key)?.metadata.uid !== uid) return false;
        pods.modify(key, (pod) => {
          const annotations = { ...pod.metadata.annotations, [DELETION_COST]: String(cost) };
          return { ...pod, metadata: { ...pod.metadata, annotations } };
        });
        return true;
      }),
  };
}
