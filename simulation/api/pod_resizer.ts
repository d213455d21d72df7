/**
 * `PATCH pods/{name}/resize` on the simulated API.
 *
 * @module
 */
import type { PodResizer } from "../../controller/allocation/ports.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import type { ApiAccess } from "./api_access.ts";
import { resizePod } from "./resize_rules.ts";

/** The port's implementation; `manager` is the field manager that the pod then names. */
export function createPodResizer({ store, gate }: ApiAccess, manager: string): PodResizer {
  return {
    async resize(namespace, podName, patch) {
      const key = objectKey({ namespace, name: podName });
      await gate.send(
        { verb: "resize", kind: "Pod" },
        () => store.tables.Pod.modify(key, (pod) => resizePod(pod, patch, { manager })),
      );
    },
  };
}
