/**
 * Tells an observer what becomes of server-side apply patches.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import { refusalKind } from "../../shared/resize/refusal.ts";
import type { WorkloadWriter } from "./loop_ports.ts";
import type { RightsizingObserver } from "./rightsizing_observer.ts";

/** The same writer; `observer` hears of each template that it has applied, or could not apply. */
export function observedWorkloads(
  writer: WorkloadWriter,
  observer: Pick<RightsizingObserver, "templatePatched"> | undefined,
): WorkloadWriter {
  return {
    annotate: (workload, patch) => writer.annotate(workload, patch),
    async recreate(workload, wanted, options) {
      const { kind } = workload;
      const tell = (outcome: string): void => {
        if (options.serverSideApply) observer?.templatePatched?.({ kind, outcome });
      };
      try {
        await writer.recreate(workload, wanted, options);
      } catch (error) {
        tell(error instanceof ApiError ? refusalKind(error) : "failed");
        throw error;
      }
      tell("accepted");
    },
  };
}
