/**
 * ResourceQuotas on a real API server.
 *
 * @module
 */
import type { QuotaBound, QuotaScope, ResourceQuota } from "../../shared/api/resource_quota.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import type { KubeConnection } from "./connection.ts";
import { type JSONObject, listOf, memberOf, objectOf, present, textOf } from "./json_fields.ts";
import { kubeListWatch, type ListWatchSurroundings } from "./kube_list_watch.ts";
import { parseNamespacedIdentity } from "./object_identity.ts";
import { readOrTell } from "./partial_object.ts";
import { cpuBoundOf } from "./quantity_fields.ts";

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

/** The trimmed quota, or why it can't be read. Throws a `TypeError` without identity. */
export function parseResourceQuota(raw: unknown): ResourceQuota {
  const metadata = parseNamespacedIdentity(raw);
  const blank = { metadata, usedLimitsCPU: 0, scopes: [] };
  return readOrTell<ResourceQuota>(() => ({ metadata, ...parseBounds(objectOf(raw)) }), blank);
}

/** A scope that can't be read leaves the quota bound for more pods than it is meant for: no harm. */
function parseBounds(quota: JSONObject): Omit<ResourceQuota, "metadata"> {
  const spec = memberOf(quota, "spec");
  const { scopes, scopeSelector } = spec;
  const status = memberOf(quota, "status");
  const { used } = status;
  const hard = memberOf(status.hard === undefined ? spec : status, "hard");
  return {
    ...present("hardLimitsCPU", cpuBoundOf(hard, "limits.cpu")),
    usedLimitsCPU: cpuBoundOf(used, "limits.cpu") ?? 0,
    ...present("requestsCPU", requestsOf(hard, used)),
    scopes: [
      ...listOf(scopes).map((scopeName) => ({ scopeName, operator: "Exists" })),
      ...listOf(objectOf(scopeSelector).matchExpressions).map(objectOf),
    ].flatMap(parseScope),
  };
}

function parseScope({ scopeName, operator, values }: JSONObject): readonly QuotaScope[] {
  const name = textOf(scopeName);
  if (name === undefined) return [];
  return [{
    name,
    operator: textOf(operator) ?? "",
    values: listOf(values).flatMap((one) => textOf(one) ?? []),
  }];
}

/** The server counts both names of a request on their own, and keeps to both. */
function requestsOf(hard: JSONObject, used: unknown): QuotaBound | undefined {
  const bounds = ["requests.cpu", "cpu"].flatMap((name): QuotaBound[] => {
    const most = cpuBoundOf(hard, name);
    return most === undefined ? [] : [{ hard: most, used: cpuBoundOf(used, name) ?? 0 }];
  });
  return bounds.sort((a, b) => (a.hard - a.used) - (b.hard - b.used))[0];
}
