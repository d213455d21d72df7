/**
 * Namespaces on a real API server, with the objects that bound their pods: LimitRanges and
 * ResourceQuotas.
 *
 * @module
 */
import type {
  LimitRange,
  LimitRangeBounds,
  LimitRangeItem,
  Namespace,
  QuotaBound,
  QuotaScope,
  ResourceQuota,
} from "../../../shared/api/namespace.ts";
import { defined } from "../../../shared/defined.ts";
import { present } from "../client/json_fields.ts";
import { listWatchOf, type OpenListWatch } from "../client/list_watch.ts";
import {
  cpuBoundOf,
  memoryBoundOf,
  parseIdentity,
  parseNamespacedIdentity,
  readOrReport,
} from "./object_fields.ts";
import type { RawObject, Texts } from "./raw_objects.ts";

/** List-watch of namespaces. */
export const namespaceListWatch: OpenListWatch<Namespace> = listWatchOf({
  groupVersion: "v1",
  resource: "namespaces",
  parse: parseNamespace,
});

/** Projects a namespace. */
export function parseNamespace(raw: unknown): Namespace {
  const { metadata: { labels = {}, annotations = {} } } = raw as RawObject<unknown>;
  return { metadata: { ...parseIdentity(raw), labels, annotations } };
}

/** List-watch of LimitRanges. */
export const limitRangeListWatch: OpenListWatch<LimitRange> = listWatchOf({
  groupVersion: "v1",
  resource: "limitranges",
  parse: parseLimitRange,
});

interface RawLimitRangeItem {
  readonly type: string;
  readonly min?: Texts;
  readonly max?: Texts;
  readonly maxLimitRequestRatio?: Texts;
  readonly default?: Texts;
  readonly defaultRequest?: Texts;
}

/** Projects a LimitRange; `unreadable` for a negative quantity, which the server does not reject. */
export function parseLimitRange(raw: unknown): LimitRange {
  const metadata = parseNamespacedIdentity(raw);
  const { spec } = raw as RawObject<{ readonly limits: readonly RawLimitRangeItem[] | null }>;
  const read = (): LimitRange => ({ metadata, items: (spec.limits ?? []).flatMap(parseItem) });
  return readOrReport(read, { metadata, items: [] });
}

function parseItem(item: RawLimitRangeItem): LimitRangeItem[] {
  const { type, min, max, maxLimitRequestRatio } = item;
  if (type !== "Container" && type !== "Pod") return [];
  const memory: LimitRangeBounds = {
    ...present("min", memoryBoundOf(min)),
    ...present("max", memoryBoundOf(max)),
    ...present("ratio", ratioOf(maxLimitRequestRatio, "memory")),
  };
  const bounds = {
    ...present("min", cpuBoundOf(min)),
    ...present("max", cpuBoundOf(max)),
    ...present("ratio", ratioOf(maxLimitRequestRatio, "cpu")),
    ...(Object.keys(memory).length === 0 ? {} : { memory }),
    // The server applies defaults of containers only, and derives them from `max` and `min`, too.
    ...(type === "Container" ? present("defaults", defaultsOf(item)) : {}),
  };
  return Object.keys(bounds).length === 0 ? [] : [{ type, ...bounds }];
}

function defaultsOf(item: RawLimitRangeItem): LimitRangeItem["defaults"] {
  const entries = (prefix: string, list: Texts = {}): [string, string][] =>
    Object.entries(list).map(([name, value]) => [`${prefix}.${name}`, value]);
  const all = [...entries("limits", item.default), ...entries("requests", item.defaultRequest)];
  return all.length === 0 ? undefined : Object.fromEntries(all);
}

/** A ratio is a quantity without a unit: `4` or `2500m`. */
function ratioOf(list: Texts | undefined, name: "cpu" | "memory"): number | undefined {
  const thousandths = cpuBoundOf(list, name);
  return thousandths === undefined ? undefined : thousandths / 1000;
}

/** List-watch of quotas. */
export const resourceQuotaListWatch: OpenListWatch<ResourceQuota> = listWatchOf({
  groupVersion: "v1",
  resource: "resourcequotas",
  parse: parseResourceQuota,
});

type RawQuota = RawObject<{
  hard?: Texts;
  scopes?: string[];
  scopeSelector?: {
    matchExpressions?: { scopeName: string; operator: string; values?: string[] }[];
  };
}, { hard?: Texts; used?: Texts }>;

/** Projects a quota: the bounds that the server enforces; before its first status, those of the spec. */
export function parseResourceQuota(raw: unknown): ResourceQuota {
  const { spec, status = {} } = raw as RawQuota;
  const hard = status.hard ?? spec.hard;
  const { used } = status;
  const tightest = (amountOf: AmountOf, ...names: readonly string[]): QuotaBound | undefined =>
    // The server counts both names of a request separately, and enforces both.
    names.flatMap((name): QuotaBound[] => {
      const bound = amountOf(hard, name);
      return bound === undefined ? [] : [{ hard: bound, used: amountOf(used, name) ?? 0 }];
    }).sort((a, b) => (a.hard - a.used) - (b.hard - b.used))[0];
  return {
    metadata: parseNamespacedIdentity(raw),
    bounds: defined({
      "requests.cpu": tightest(cpuBoundOf, "requests.cpu", "cpu"),
      "limits.cpu": tightest(cpuBoundOf, "limits.cpu"),
      "requests.memory": tightest(memoryBoundOf, "requests.memory", "memory"),
      "limits.memory": tightest(memoryBoundOf, "limits.memory"),
    }),
    scopes: [
      ...(spec.scopes ?? []).map((name): QuotaScope => ({ name, operator: "Exists", values: [] })),
      ...(spec.scopeSelector?.matchExpressions ?? []).map(
        ({ scopeName: name, operator, values = [] }): QuotaScope => ({ name, operator, values }),
      ),
    ],
  };
}

type AmountOf = (list: Texts | undefined, name: string) => number | undefined;
