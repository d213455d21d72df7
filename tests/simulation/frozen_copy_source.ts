/**
 * A copy of one kind that stands still without a sign of it, as behind an API server with a watch cache
 * that has fallen behind.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { ListWatch, ObjectList } from "../../shared/control/informer.ts";
import type { ApiObject } from "../../shared/api/object.ts";

/** A list-watch that can be stopped. */
export interface FreezableSource<T extends ApiObject> {
  readonly source: ListWatch<T>;
  /** From now on lists are the last one, and no event arrives. */
  freeze(): void;
  /** The cache learns that it is too old, and lists again. */
  thaw(): void;
}

/** Follows `server` until it is frozen; `past`: lists that instead while frozen. */
export function freezableSource<T extends ApiObject>(
  server: ListWatch<T>,
  past?: ObjectList<T>,
): FreezableSource<T> {
  let frozen = past !== undefined;
  let last = past;
  let thawed = Promise.withResolvers<void>();
  return {
    source: {
      async list(signal) {
        if (!frozen || last === undefined) last = await server.list(signal);
        return last;
      },
      async *watch(version, signal) {
        if (!frozen) {
          for await (const event of server.watch(version, signal)) {
            if (frozen) break;
            yield event;
          }
        }
        const aborted = Promise.withResolvers<void>();
        signal.addEventListener("abort", () => aborted.resolve(), { once: true });
        if (frozen && !signal.aborted) await Promise.race([thawed.promise, aborted.promise]);
        if (!signal.aborted) throw new ApiError(410, "Expired", "too old resource version");
      },
    },
    freeze() {
      frozen = true;
      thawed = Promise.withResolvers();
    },
    thaw() {
      frozen = false;
      thawed.resolve();
    },
  };
}
