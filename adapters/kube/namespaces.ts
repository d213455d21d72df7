/**
 * Namespaces on a real API server.
 *
 * @module
 */
import type { Namespace } from "../../shared/api/namespace.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import type { KubeConnection } from "./connection.ts";
import { objectOf, textsOf } from "./json_fields.ts";
import { kubeListWatch, type ListWatchSurroundings } from "./kube_list_watch.ts";
import { parseIdentity } from "./object_identity.ts";

/** List-watch of all namespaces. */
export function namespaceListWatch(
  connection: KubeConnection,
  options: ListWatchSurroundings = {},
): ListWatch<Namespace> {
  return kubeListWatch(connection, {
    ...options,
    path: "/api/v1/namespaces",
    parse: parseNamespace,
  });
}

/** The trimmed namespace. Throws a `TypeError` without identity. */
export function parseNamespace(raw: unknown): Namespace {
  const { labels, annotations } = objectOf(objectOf(raw).metadata);
  return {
    metadata: {
      ...parseIdentity(raw),
      labels: textsOf(labels),
      annotations: textsOf(annotations),
    },
  };
}
