/**
 * A server in memory: lists objects by pages as JSON, and sends the changes of Deployments to their
 * watch.
 *
 * @module
 */
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import { type ClusterSize, rawObjects } from "./cluster_objects.ts";

/** The server. */
export interface ServedObjects {
  readonly connection: KubeConnection;
  /** Sends the Deployment as changed. */
  send(deployment: unknown): void;
}

/** Serves a cluster of this size. */
export function serveObjects(size: ClusterSize): ServedObjects {
  const lists = new Map<string, Iterator<unknown>>();
  const waiting: unknown[] = [];
  let wake = (): void => {};

  function page(kind: string, limit: number, isFirst: boolean): unknown {
    const known = isFirst ? undefined : lists.get(kind);
    const objects = known ?? rawObjects(kind, size)[Symbol.iterator]();
    lists.set(kind, objects);
    const items: unknown[] = [];
    while (items.length < limit) {
      const { value, done } = objects.next();
      if (done === true) return list(items, {});
      items.push(value);
    }
    return list(items, { continue: kind });
  }

  return {
    connection: {
      request: ({ path, query = {} }) => {
        const answer = page(kindOf(path), Number(query.limit), query.continue === undefined);
        // As it comes from the wire: no text is shared with what this server knows.
        return Promise.resolve(JSON.parse(JSON.stringify(answer)));
      },
      async *lines({ path, signal }) {
        const isFed = kindOf(path) === "deployments";
        while (signal?.aborted !== true) {
          const object = isFed ? waiting.shift() : undefined;
          if (object !== undefined) yield { type: "MODIFIED", object };
          else await aborted(signal, isFed ? (again) => wake = again : () => {});
        }
      },
    },
    send(deployment) {
      waiting.push(JSON.parse(JSON.stringify(deployment)));
      wake();
    },
  };
}

function list(items: readonly unknown[], more: object): unknown {
  return { metadata: { resourceVersion: "1", ...more }, items };
}

function kindOf(path: string): string {
  return path.split("/").at(-1) ?? "";
}

/** Until the signal is aborted, or the returned function is called. */
function aborted(
  signal: AbortSignal | undefined,
  give: (again: () => void) => void,
): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      signal?.removeEventListener("abort", end);
      resolve();
    };
    signal?.addEventListener("abort", end);
    give(end);
  });
}
