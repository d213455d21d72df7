/**
 * List and watch of one kind on the simulated API.
 *
 * @module
 */
import type { ListWatch } from "../../shared/control/list_watch.ts";
import type { ApiAccess } from "./api_access.ts";
import type { KindName, StoredKinds } from "./stored_kind.ts";
import { watchStream } from "./watch_stream.ts";
import type { ObjectTable } from "./object_table.ts";

/** What a list-watch is narrowed to. */
export interface Selector {
  /** Only objects of this node; kinds without a node are not narrowed. */
  readonly nodeName?: string;
}

/** List and watch of `kind`. */
export function createListWatch<K extends KindName>(
  access: ApiAccess,
  kind: K,
  selectorOptions: Selector = {},
): ListWatch<StoredKinds[K]> {
  const { store, gate, clock, streams } = access;
  const table: ObjectTable<StoredKinds[K]> = store.tables[kind];
  const { nodeName } = selectorOptions;
  const matches = (object: StoredKinds[K]): boolean =>
    nodeName === undefined || (table.nodeName(object) ?? nodeName) === nodeName;
  return {
    list() {
      return gate.send({ verb: "list", kind }, () => ({
        items: table.all().filter(matches),
        resourceVersion: String(store.version()),
      }));
    },
    watch(resourceVersion, signal) {
      const source = {
        kind,
        log: table.log,
        gate,
        clock,
        matches,
        version: () => store.version(),
        streams,
      };
      return watchStream(source, resourceVersion, { signal });
    },
  };
}
