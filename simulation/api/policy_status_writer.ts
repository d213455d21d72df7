/**
 * The controller's writes of policies' status, on the simulated API.
 *
 * @module
 */
import type { PolicyStatusWriter } from "../../controller/rightsizing/ports.ts";
import type { ApiAccess } from "./api_access.ts";

/** The port's implementation. */
export function createPolicyStatusWriter({ store, gate }: ApiAccess): PolicyStatusWriter {
  const table = store.tables.OptimizationPolicy;
  return {
    async writeStatus({ metadata }, status) {
      const stored = await gate.send(
        { verb: "updateStatus", kind: "OptimizationPolicy" },
        () => table.replaceStatus({ metadata, faults: [], status }),
      );
      return stored.metadata.resourceVersion;
    },
  };
}
