/**
 * What was answered to each question, as long as it counts.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
import type { DemandReading, NoDemand } from "./demand_reading.ts";
import { hasMoved } from "./metric_fact.ts";

/** What is known now. */
export type Standing =
  | { readonly state: "value"; readonly cores: number; readonly leftMs: number }
  /** No value since this process asks, which is not long yet: one from before may still count. */
  | { readonly state: "young"; readonly leftMs: number; readonly problem: NoDemand | undefined }
  | { readonly state: "none"; readonly problem: NoDemand | undefined };

/** The memory, by a key for each question. Nothing in it must survive a restart. */
export interface MetricMemory {
  standing(key: string): Standing;
  /** Notes that it is being asked. */
  asking(key: string): void;
  /** When it was asked last, monotonic ms; undefined when it never was. */
  askedAt(key: string): number | undefined;
  /** Notes an answer; true when the pods that it is about must be reconciled. */
  note(key: string, reading: DemandReading): boolean;
  /** Forgets all other questions. */
  keepOnly(keys: { has(key: string): boolean }): void;
}

interface Entry {
  readonly since: number;
  askedAt?: number;
  value?: { readonly cores: number; readonly bornAt: number };
  problem?: NoDemand | undefined;
  /** The published value: cores, or the message of a problem. */
  published?: number | string;
}

/** An empty memory; values live for `lifeMs`. */
export function createMetricMemory(
  { clock, lifeMs }: { readonly clock: Clock; readonly lifeMs: () => number },
): MetricMemory {
  const entries = new Map<string, Entry>();

  function entryOf(key: string): Entry {
    let entry = entries.get(key);
    if (entry === undefined) {
      entry = { since: clock.monotonic() };
      entries.set(key, entry);
    }
    return entry;
  }

  function standing(key: string): Standing {
    const { since, value, problem } = entryOf(key);
    const now = clock.monotonic();
    const leftMs = (value?.bornAt ?? since) + lifeMs() - now;
    if (leftMs <= 0) return { state: "none", problem };
    if (value === undefined) return { state: "young", leftMs, problem };
    return { state: "value", cores: value.cores, leftMs };
  }

  return {
    standing,
    asking: (key) => void (entryOf(key).askedAt = clock.monotonic()),
    askedAt: (key) => entries.get(key)?.askedAt,
    note(key, reading) {
      const entry = entryOf(key);
      const now = clock.monotonic();
      if (reading.kind === "value") {
        entry.value = { cores: reading.cores, bornAt: now - reading.ageMs };
        entry.problem = undefined;
      } else entry.problem = reading;
      const known = standing(key);
      const before = entry.published;
      if (known.state === "value") {
        const { cores } = known;
        if (typeof before === "number" && !hasMoved(1000 * before, 1000 * cores)) return false;
        entry.published = cores;
        return true;
      }
      const message = known.problem?.message ?? "";
      entry.published = message;
      return before !== message;
    },
    keepOnly(keys) {
      for (const key of entries.keys()) if (!keys.has(key)) entries.delete(key);
    },
  };
}
