/**
 * The last answer to each query, for as long as it counts. Nothing in it must survive a restart.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
import { type DemandReading, hasMoved, type NoDemand } from "./metric_fact.ts";

/** What is known of a query. */
export type KnownDemand =
  | { readonly state: "value"; readonly cores: number; readonly leftMs: number }
  /** No value since the query was first seen, not long ago: a published one may still count. */
  | { readonly state: "young"; readonly leftMs: number; readonly problem: NoDemand | undefined }
  | { readonly state: "none"; readonly problem: NoDemand | undefined };

/** The memory, by query. */
export interface MetricMemory {
  known(key: string): KnownDemand;
  /** Notes that the query is being sent. */
  asking(key: string): void;
  /** When the query was last sent, monotonic ms; undefined when it never was. */
  askedAt(key: string): number | undefined;
  /** Notes an answer; true when pods of the query must be reconciled. */
  note(key: string, reading: DemandReading): boolean;
  /** Deletes all other queries. */
  keepOnly(keys: { has(key: string): boolean }): void;
}

interface Entry {
  readonly sinceMs: number;
  askedAt?: number;
  value?: { readonly cores: number; readonly bornAt: number };
  problem?: NoDemand | undefined;
  /** The published value: cores, or the message of a problem. */
  published?: number | string;
}

/** An empty memory; values live for `lifeMs`. */
export function createMetricMemory(
  { clock, lifeMs }: { readonly clock: Pick<Clock, "monotonic">; readonly lifeMs: () => number },
): MetricMemory {
  const entries = new Map<string, Entry>();

  function entryOf(key: string): Entry {
    const entry = entries.get(key) ?? { sinceMs: clock.monotonic() };
    entries.set(key, entry);
    return entry;
  }

  function known(key: string): KnownDemand {
    const { sinceMs, value, problem } = entryOf(key);
    const leftMs = (value?.bornAt ?? sinceMs) + lifeMs() - clock.monotonic();
    if (leftMs <= 0) return { state: "none", problem };
    if (value === undefined) return { state: "young", leftMs, problem };
    return { state: "value", cores: value.cores, leftMs };
  }

  return {
    known,
    asking: (key) => void (entryOf(key).askedAt = clock.monotonic()),
    askedAt: (key) => entries.get(key)?.askedAt,
    note(key, reading) {
      const entry = entryOf(key);
      if (reading.kind === "value") {
        entry.value = { cores: reading.cores, bornAt: clock.monotonic() - reading.ageMs };
        entry.problem = undefined;
      } else entry.problem = reading;
      const now = known(key);
      const before = entry.published;
      if (now.state === "value") {
        const { cores } = now;
        if (typeof before === "number" && !hasMoved(1000 * before, 1000 * cores)) return false;
        entry.published = cores;
        return true;
      }
      const message = now.problem?.message ?? "";
      entry.published = message;
      return before !== message;
    },
    keepOnly(keys) {
      for (const key of entries.keys()) if (!keys.has(key)) entries.delete(key);
    },
  };
}
