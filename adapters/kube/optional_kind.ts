/**
 * A kind that a server may not know: a definition that nobody has installed, or not yet.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { Clock } from "../../shared/clock.ts";
import type { ApiObject, ListWatch } from "../../shared/control/list_watch.ts";

/** How often a server is asked again whether it knows the kind, ms. */
const ASK_AGAIN_MS = 60_000;

/** The version of a list that is empty because the kind is not there. */
const NOT_SERVED = "";

/**
 * As `source`, but empty as long as the server does not serve the kind (404); it is asked again every
 * minute. A definition that is taken away ends the watch, and the next list is empty.
 */
export function optionalKind<T extends ApiObject>(
  source: ListWatch<T>,
  clock: Clock,
): ListWatch<T> {
  return {
    async list(signal) {
      try {
        return await source.list(signal);
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 404) throw error;
        return { items: [], resourceVersion: NOT_SERVED };
      }
    },
    async *watch(resourceVersion, signal) {
      if (resourceVersion !== NOT_SERVED) return yield* source.watch(resourceVersion, signal);
      await clock.sleep(ASK_AGAIN_MS, signal);
      if (!signal.aborted) throw new ApiError(410, "Expired", "the kind may be served by now");
    },
  };
}
