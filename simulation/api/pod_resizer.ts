/**
 * `PATCH pods/{name}/resize` on the simulated API.
 *
 * @module
 */
import type { PodResizer } from "../../controller/resize/pod_resizer.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import { chargeQuotas, checkNode } from "./admission.ts";
import type { ApiAccess } from "./api_access.ts";
import { checkLimitRanges, writeDefaults } from "./limit_ranger.ts";
import { resizePod } from "./resize_rules.ts";

/** The port's implementation; `manager` is the field manager that the pod then names. */
export function createPodResizer({ store, gate }: ApiAccess, manager: string): PodResizer {
  return {
    async resize(namespace, podName, patch, options = {}) {
      const key = objectKey({ namespace, name: podName });
      const { Pod: pods } = store.tables;
      return await gate.send(
        { verb: "resize", kind: "Pod", key },
        () =>
          pods.modify(key, (before) => {
            const after = writeDefaults(store, resizePod(before, patch, { manager, ...options }));
            if (after === before) return before;
            checkLimitRanges(store, after);
            checkNode(store, after);
            chargeQuotas(store, { before, after });
            return after;
          }).metadata.resourceVersion,
      );
    },
  };
}
