/**
 * LimitRanges on a real API server.
 *
 * @module
 */
import type { LimitRange, LimitRangeItem } from "../../shared/api/limit_range.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import type { KubeConnection } from "./connection.ts";
import { jsonText, listMemberOf, memberOf, objectOf, present } from "./json_fields.ts";
import { kubeListWatch, type ListWatchSurroundings } from "./kube_list_watch.ts";
import { parseNamespacedIdentity } from "./object_identity.ts";
import { readOrTell } from "./partial_object.ts";
import { cpuBoundOf } from "./quantity_fields.ts";

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

/** What the range says of CPU, or why that can't be read. Throws a `TypeError` without identity. */
export function parseLimitRange(raw: unknown): LimitRange {
  const metadata = parseNamespacedIdentity(raw);
  const read = (): LimitRange => ({
    metadata,
    items: listMemberOf(memberOf(objectOf(raw), "spec"), "limits").flatMap(parseItem),
  });
  return readOrTell(read, { metadata, items: [] });
}

function parseItem(raw: unknown): LimitRangeItem[] {
  const { type, min, max, maxLimitRequestRatio } = memberOf({ item: raw }, "item");
  if (typeof type !== "string") {
    throw new TypeError(`Cannot read an object of the API: type is ${jsonText(type)}`);
  }
  if (type !== "Container" && type !== "Pod") return [];
  const bounds = {
    ...present("min", cpuBoundOf(min)),
    ...present("max", cpuBoundOf(max)),
    ...present("ratio", ratioOf(maxLimitRequestRatio)),
  };
  return Object.keys(bounds).length === 0 ? [] : [{ type, ...bounds }];
}

/** A ratio is a quantity without a unit: `4` or `2500m`. */
function ratioOf(list: unknown): number | undefined {
  const thousandths = cpuBoundOf(list);
  return thousandths === undefined ? undefined : thousandths / 1000;
}
