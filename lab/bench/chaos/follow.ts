/**
 * Every version of the objects of a kind, as far as a server that is killed now and then shows them.
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import type { ListWatch } from "../../../shared/control/informer.ts";
import type { ApiObject } from "../../../shared/api/object.ts";
import { pause } from "../../../tests/cluster/scene/until.ts";

/** Receives each version, and a last one of what is gone. */
export interface Follower<T> {
  seen(object: T): void;
  gone(object: T): void;
  /** A new list replaces a watch: versions before it may have been missed. */
  relisted(items: readonly T[]): void;
}

const RETRY_MS = 200;

/** Lists and watches until the signal is aborted; resumes where a watch has broken. */
export async function follow<T extends ApiObject>(
  source: ListWatch<T>,
  { seen, gone, relisted }: Follower<T>,
  { signal }: { readonly signal: AbortSignal },
): Promise<void> {
  let version: string | undefined;
  while (!signal.aborted) {
    try {
      if (version === undefined) {
        const list = await source.list(signal);
        version = list.resourceVersion;
        relisted(list.items);
      }
      for await (const event of source.watch(version, signal)) {
        version = event.type === "BOOKMARK"
          ? event.resourceVersion
          : event.object.metadata.resourceVersion;
        if (event.type === "DELETED") gone(event.object);
        else if (event.type !== "BOOKMARK") seen(event.object);
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 410) version = undefined;
    }
    if (!signal.aborted) await pause(RETRY_MS);
  }
}
