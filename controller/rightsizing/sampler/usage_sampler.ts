/**
 * Reads what pods use, again and again, and keeps it: metrics-server itself has no memory.
 *
 * @module
 */
import type { Clock } from "../../../shared/clock.ts";
import { createBackoff } from "../../../shared/control/backoff.ts";
import type { Log } from "../../../shared/log.ts";
import type { UsageProblem, UsageSource } from "../ports.ts";
import { readCheckpoint, writeCheckpoints } from "./checkpoint_parts.ts";
import type { CheckpointStore, PodMetrics, PodOwners } from "./ports.ts";
import { createUsageHistory, type HistoryOptions } from "./usage_history.ts";

/** What the sampler works with. */
export interface UsageSamplerParts extends HistoryOptions {
  readonly metrics: PodMetrics;
  readonly owners: PodOwners;
  readonly store: CheckpointStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Between two readings; may change. */
  readonly intervalMs: () => number;
  /** Between two times that the history is written. @default {180000} */
  readonly checkpointIntervalMs?: number;
  /** For writing it at the end. @default {5000} */
  readonly finalMs?: number;
}

/** The sampler. */
export interface UsageSampler extends UsageSource {
  /**
   * Reads the history, then samples while somebody wants it, until `signal` is aborted, and writes once
   * more.
   */
  run(signal: AbortSignal): Promise<void>;
}

/** Of the ConfigMaps. */
const PREFIX = "mbcas-usage-";
/** Readings that may fail in a row before the history is too old to answer from. */
const MOST_MISSED = 4;
/** The history is read again after this at the latest, ms. */
const LONGEST_WAIT_MS = 60_000;

/** A sampler that knows nothing yet. */
// deno-lint-ignore house/function-length
export function createUsageSampler(parts: UsageSamplerParts): UsageSampler {
  const { metrics, owners, store, clock, log, intervalMs } = parts;
  const { checkpointIntervalMs = 180_000, finalMs = 5000 } = parts;
  const history = createUsageHistory(parts);
  /** Names of the checkpoints that there are. */
  const stored = new Map<string, Set<string>>();
  /** When each workload, by UID, was first asked about: only what a policy wants is kept. */
  const asked = new Map<string, { readonly namespace: string; readonly sinceMs: number }>();
  let problem: UsageProblem | undefined = NOT_READ;
  let missed = 0;
  let savesFail = false;

  async function load(signal: AbortSignal): Promise<void> {
    history.clear();
    asked.clear();
    stored.clear();
    problem = NOT_READ;
    missed = 0;
    const backoff = createBackoff({ maxMs: LONGEST_WAIT_MS });
    while (!signal.aborted) {
      try {
        for (const checkpoint of await store.list(signal)) take(checkpoint);
        return;
      } catch (error) {
        if (signal.aborted) return;
        const why = error instanceof Error ? error.message : String(error);
        log.warn("The history of usage can't be read, nothing is sampled yet", { error: why });
        problem = { problem: "unavailable", message: `its history can't be read: ${why}` };
        await clock.sleep(backoff.next("load", error), signal);
      }
    }
  }

  function take(checkpoint: Parameters<typeof readCheckpoint>[0]): void {
    const { name } = checkpoint;
    const read = readCheckpoint(checkpoint, { ...parts, nowMs: clock.wall() });
    if ("fault" in read) {
      log.warn("A checkpoint of usage is damaged", { name, fault: read.fault });
      return;
    }
    const { namespace, newestMs, workloads, faults } = read;
    for (const fault of faults) log.warn("A checkpoint of usage is damaged", { name, fault });
    const kept = history.namespaces.get(namespace) ??
      { workloads: new Map(), newestMs: 0, changed: false };
    for (const [uid, { workload, containers }] of workloads) {
      const known = kept.workloads.get(uid) ?? { workload, containers: new Map() };
      // A workload's containers may stand in several parts.
      for (const [container, rings] of containers) known.containers.set(container, rings);
      kept.workloads.set(uid, known);
    }
    kept.newestMs = Math.max(kept.newestMs, newestMs);
    history.namespaces.set(namespace, kept);
    namesOf(namespace).add(name);
  }

  function namesOf(namespace: string): Set<string> {
    const names = stored.get(namespace) ?? new Set();
    stored.set(namespace, names);
    return names;
  }

  async function sample(signal: AbortSignal): Promise<void> {
    const answer = await metrics.read(signal);
    if (signal.aborted) return;
    if ("problem" in answer) {
      if (missed++ === 0) log.warn("Usage can't be read", { ...answer });
      if (problem !== undefined || missed > MOST_MISSED) problem = answer;
      return;
    }
    if (missed > 0) log.info("Usage can be read again", { missed });
    if (answer.unreadable > 0) {
      log.debug("Usage can't be read of some", { pods: answer.unreadable });
    }
    problem = undefined;
    missed = 0;
    const nowMs = clock.wall();
    for (const reading of answer.pods) {
      const owner = owners.ownerOf({ namespace: reading.namespace, name: reading.pod });
      if (owner !== undefined) history.add(reading, { owner, nowMs });
    }
  }

  /** Nothing has failed: who begins to ask is told what was seen before, and how few that is. */
  function rest(): void {
    problem = undefined;
    missed = 0;
    asked.clear();
  }

  /** Writes what has changed; a namespace that can't be written stays for the next time. */
  async function save(signal: AbortSignal): Promise<void> {
    const failures: string[] = [];
    for (const [namespace, kept] of history.namespaces) {
      if (!kept.changed || signal.aborted) continue;
      kept.changed = false;
      try {
        await saveOne(namespace, signal);
        if (kept.workloads.size === 0) {
          history.forgetNamespace(namespace);
          stored.delete(namespace);
        }
      } catch (error) {
        kept.changed = true;
        failures.push(error instanceof Error ? error.message : String(error));
      }
    }
    const [first] = failures;
    if (first !== undefined && !savesFail) {
      log.warn("The history of usage can't be written", {
        namespaces: failures.length,
        error: first,
      });
    }
    savesFail = first !== undefined;
  }

  async function saveOne(namespace: string, signal: AbortSignal): Promise<void> {
    const kept = history.namespaces.get(namespace);
    if (kept === undefined) return;
    const checkpoints = writeCheckpoints(kept, { namespace, prefix: PREFIX });
    const names = namesOf(namespace);
    const wanted = new Set(checkpoints.map(({ name }) => name));
    for (const checkpoint of checkpoints) {
      await store.apply(checkpoint, signal);
      names.add(checkpoint.name);
    }
    for (const name of names) {
      if (wanted.has(name)) continue;
      await store.remove(name, signal);
      names.delete(name);
    }
  }

  async function saveAtEnd(): Promise<void> {
    const [over, done] = [new AbortController(), new AbortController()];
    const late = clock.sleep(finalMs, done.signal).then(() => over.abort());
    await save(over.signal);
    done.abort();
    await late;
  }

  return {
    usage(question) {
      if (problem !== undefined) return Promise.resolve(problem);
      const nowMs = clock.wall();
      const { namespace, workload: { uid } } = question;
      const { sinceMs: watchedSinceMs } = asked.get(uid) ?? { sinceMs: nowMs };
      asked.set(uid, { namespace, sinceMs: watchedSinceMs });
      return Promise.resolve({ usage: history.usage(question, nowMs), watchedSinceMs });
    },
    async run(signal) {
      await load(signal);
      let savedAt = clock.monotonic();
      while (!signal.aborted) {
        const begunAt = clock.monotonic();
        if (owners.isWanted()) await sample(signal);
        else rest();
        history.forgetGone(owners.exists);
        for (const [uid, { namespace }] of asked) {
          if (!owners.exists({ namespace, uid })) asked.delete(uid);
        }
        if (clock.monotonic() - savedAt >= checkpointIntervalMs && !signal.aborted) {
          savedAt = clock.monotonic();
          await save(signal);
        }
        await clock.sleep(Math.max(0, begunAt + intervalMs() - clock.monotonic()), signal);
      }
      await saveAtEnd();
      problem = NOT_READ;
    },
  };
}

const NOT_READ: UsageProblem = {
  problem: "unavailable",
  message: "the sampler has not read metrics-server yet",
};
