/**
 * ResourceQuotas on a real API server.
 *
 * @module
 */
import type {
  MemoryBounds,
  QuotaBound,
  QuotaScope,
  ResourceQuota,
} from "../../shared/api/resource_quota.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import type { KubeConnection } from "./connection.ts";
import { type JSONObject, listOf, memberOf, objectOf, present, textOf } from "./json_fields.ts";
import { kubeListWatch, type ListWatchSurroundings } from "./kube_list_watch.ts";
import { parseNamespacedIdentity } from "./object_identity.ts";
import { readOrTell } from "./partial_object.ts";
import { cpuBoundOf, memoryBoundOf } from "./quantity_fields.ts";

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

/**
 * The trimmed quota, or why it can't be read. Memory is read apart: what is odd there holds nobody whose
 * CPU is meant. Throws a `TypeError` without identity.
 */
export function parseResourceQuota(raw: unknown): ResourceQuota {
  const metadata = parseNamespacedIdentity(raw);
  const blank: ResourceQuota = { metadata, usedLimitsCPU: 0, scopes: [] };
  const known = readOrTell(() => ({ ...blank, ...parseBounds(objectOf(raw)) }), blank);
  if (known.unreadable !== undefined) return known;
  const { unreadable, ...all } = readOrTell(
    () => ({ ...known, ...present("memory", memoryBounds(objectOf(raw))) }),
    known,
  );
  return unreadable === undefined ? all : { ...known, unreadableMemory: unreadable };
}

/** What the server enforces; before its first look, what was asked for. */
function boundsOf(quota: JSONObject): { readonly hard: JSONObject; readonly used: unknown } {
  const status = memberOf(quota, "status");
  const hard = memberOf(status.hard === undefined ? memberOf(quota, "spec") : status, "hard");
  return { hard, used: status.used };
}

/** A scope that can't be read leaves the quota bound for more pods than it is meant for: no harm. */
function parseBounds(quota: JSONObject): Omit<ResourceQuota, "metadata"> {
  const { scopes, scopeSelector } = memberOf(quota, "spec");
  const { hard, used } = boundsOf(quota);
  return {
    ...present("hardLimitsCPU", cpuBoundOf(hard, "limits.cpu")),
    usedLimitsCPU: cpuBoundOf(used, "limits.cpu") ?? 0,
    ...present(
      "requestsCPU",
      tightest({ hard, used }, { names: ["requests.cpu", "cpu"], amountOf: cpuBoundOf }),
    ),
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

function memoryBounds(quota: JSONObject): MemoryBounds | undefined {
  const given = boundsOf(quota);
  const of = (...names: readonly string[]) => tightest(given, { names, amountOf: memoryBoundOf });
  const bounds = {
    ...present("requests", of("requests.memory", "memory")),
    ...present("limits", of("limits.memory")),
  };
  return Object.keys(bounds).length === 0 ? undefined : bounds;
}

/** The server counts both names of a request on their own, and keeps to both. */
function tightest(
  { hard, used }: ReturnType<typeof boundsOf>,
  { names, amountOf }: {
    readonly names: readonly string[];
    readonly amountOf: (list: unknown, name: string) => number | undefined;
  },
): QuotaBound | undefined {
  const bounds = names.flatMap((name): QuotaBound[] => {
    const most = amountOf(hard, name);
    return most === undefined ? [] : [{ hard: most, used: amountOf(used, name) ?? 0 }];
  });
  return bounds.sort((a, b) => (a.hard - a.used) - (b.hard - b.used))[0];
}
