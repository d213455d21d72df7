/**
 * LimitRanges on a real API server.
 *
 * @module
 */
import type { LimitRange, LimitRangeItem } from "../../shared/api/limit_range.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import { parseCPU } from "../../shared/quantity.ts";
import type { KubeConnection } from "./connection.ts";
import { listOf, objectOf, present, textOf } from "./json_fields.ts";
import { kubeListWatch, type ListWatchSurroundings } from "./kube_list_watch.ts";
import { parseNamespacedIdentity } from "./object_identity.ts";

/** List-watch of the LimitRanges of all namespaces. */
export function limitRangeListWatch(
  connection: KubeConnection,
  options: ListWatchSurroundings = {},
): ListWatch<LimitRange> {
  return kubeListWatch(connection, {
    ...options,
    path: "/api/v1/limitranges",
    parse: parseLimitRange,
  });
}

/** What the range says of CPU. Throws a `TypeError` or `SyntaxError` that names what can't be read. */
export function parseLimitRange(raw: unknown): LimitRange {
  return {
    metadata: parseNamespacedIdentity(raw),
    items: listOf(objectOf(objectOf(raw).spec).limits).flatMap(parseItem),
  };
}

function parseItem(raw: unknown): LimitRangeItem[] {
  const { type, min, max, maxLimitRequestRatio } = objectOf(raw);
  if (type !== "Container" && type !== "Pod") return [];
  const bounds = {
    ...present("min", cpuOf(min)),
    ...present("max", cpuOf(max)),
    ...present("ratio", ratioOf(maxLimitRequestRatio)),
  };
  return Object.keys(bounds).length === 0 ? [] : [{ type, ...bounds }];
}

function cpuOf(list: unknown): number | undefined {
  const text = textOf(objectOf(list).cpu);
  return text === undefined ? undefined : parseCPU(text);
}

/** A ratio is a quantity without a unit: `4` or `2500m`. */
function ratioOf(list: unknown): number | undefined {
  const thousandths = cpuOf(list);
  return thousandths === undefined ? undefined : thousandths / 1000;
}
