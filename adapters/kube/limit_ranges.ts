/**
 * LimitRanges on a real API server.
 *
 * @module
 */
import type { LimitRange, LimitRangeBounds, LimitRangeItem } from "../../shared/api/limit_range.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import { quotedText } from "../../shared/quoted_text.ts";
import type { KubeConnection } from "./connection.ts";
import {
  type JSONObject,
  jsonText,
  listMemberOf,
  memberOf,
  objectOf,
  present,
} from "./json_fields.ts";
import { kubeListWatch, type ListWatchSurroundings } from "./kube_list_watch.ts";
import { parseNamespacedIdentity } from "./object_identity.ts";
import { readOrTell } from "./partial_object.ts";
import { cpuBoundOf, memoryBoundOf } from "./quantity_fields.ts";

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

/**
 * What the range says, or why that can't be read. Memory is read apart: what is odd there holds nobody
 * whose CPU is meant. Throws a `TypeError` without identity.
 */
export function parseLimitRange(raw: unknown): LimitRange {
  const metadata = parseNamespacedIdentity(raw);
  const read = (memoryOf: ReadMemory): LimitRange => ({
    metadata,
    items: listMemberOf(memberOf(objectOf(raw), "spec"), "limits")
      .flatMap((item) => parseItem(item, memoryOf)),
  });
  const known = readOrTell(() => read(() => undefined), { metadata, items: [] });
  if (known.unreadable !== undefined) return known;
  const { unreadable, ...all } = readOrTell(() => read(memoryBounds), known);
  return unreadable === undefined ? all : { ...known, unreadableMemory: unreadable };
}

type ReadMemory = (item: JSONObject) => LimitRangeBounds | undefined;

function memoryBounds(
  { min, max, maxLimitRequestRatio }: JSONObject,
): LimitRangeBounds | undefined {
  const bounds = {
    ...present("min", memoryBoundOf(min)),
    ...present("max", memoryBoundOf(max)),
    ...present("ratio", ratioOf(maxLimitRequestRatio, "memory")),
  };
  return Object.keys(bounds).length === 0 ? undefined : bounds;
}

function parseItem(raw: unknown, memoryOf: ReadMemory): LimitRangeItem[] {
  const item = memberOf({ item: raw }, "item");
  const { type, min, max, maxLimitRequestRatio } = item;
  if (typeof type !== "string") {
    throw new TypeError(`Cannot read an object of the API: type is ${jsonText(type)}`);
  }
  if (type !== "Container" && type !== "Pod") return [];
  const bounds = {
    ...present("min", cpuBoundOf(min)),
    ...present("max", cpuBoundOf(max)),
    ...present("ratio", ratioOf(maxLimitRequestRatio, "cpu")),
    ...present("memory", memoryOf(item)),
    // The API keeps them for items of type Container, and makes them from `max` and `min` as well.
    ...(type === "Container" ? present("defaults", defaultsOf(item)) : {}),
  };
  return Object.keys(bounds).length === 0 ? [] : [{ type, ...bounds }];
}

function defaultsOf(item: JSONObject): LimitRangeItem["defaults"] {
  const texts = (prefix: string, member: string): [string, string][] =>
    Object.entries(memberOf(item, member)).map(([name, value]) => {
      if (typeof value !== "string" && typeof value !== "number") {
        throw new TypeError(
          `Cannot read ${member} of ${quotedText(name)}: it is ${jsonText(value)}`,
        );
      }
      return [`${prefix}.${name}`, String(value)];
    });
  const all = [...texts("limits", "default"), ...texts("requests", "defaultRequest")];
  return all.length === 0 ? undefined : Object.fromEntries(all);
}

/** A ratio is a quantity without a unit: `4` or `2500m`. */
function ratioOf(list: unknown, name: "cpu" | "memory"): number | undefined {
  const thousandths = cpuBoundOf(list, name);
  return thousandths === undefined ? undefined : thousandths / 1000;
}
