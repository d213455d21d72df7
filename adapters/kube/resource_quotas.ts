/**
 * ResourceQuotas on a real API server.
 *
 * @module
 */
import type { ResourceQuota } from "../../shared/api/resource_quota.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import { parseCPU } from "../../shared/quantity.ts";
import type { KubeConnection } from "./connection.ts";
import { listOf, objectOf, present, textOf } from "./json_fields.ts";
import { kubeListWatch, type ListWatchSurroundings } from "./kube_list_watch.ts";
import { parseNamespacedIdentity } from "./object_identity.ts";

/** List-watch of the quotas of all namespaces. */
export function resourceQuotaListWatch(
  connection: KubeConnection,
  options: ListWatchSurroundings = {},
): ListWatch<ResourceQuota> {
  return kubeListWatch(connection, {
    ...options,
    path: "/api/v1/resourcequotas",
    parse: parseResourceQuota,
  });
}

/** The trimmed quota. Throws a `TypeError` or `SyntaxError` that names what can't be read. */
export function parseResourceQuota(raw: unknown): ResourceQuota {
  const { spec, status } = objectOf(raw);
  const { hard: wanted, scopes, scopeSelector } = objectOf(spec);
  const { hard, used } = objectOf(status);
  const limit = textOf(objectOf(hard ?? wanted)["limits.cpu"]);
  return {
    metadata: parseNamespacedIdentity(raw),
    ...present("hardLimitsCPU", limit === undefined ? undefined : parseCPU(limit)),
    usedLimitsCPU: parseCPU(textOf(objectOf(used)["limits.cpu"]) ?? "0"),
    scopes: [
      ...listOf(scopes),
      ...listOf(objectOf(scopeSelector).matchExpressions).map((one) => objectOf(one).scopeName),
    ].flatMap((name) => textOf(name) ?? []),
  };
}
