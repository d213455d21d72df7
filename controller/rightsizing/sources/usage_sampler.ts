/**
 * Reads what pods use, again and again, and keeps it: metrics-server itself has no memory.
 *
 * @module
 */
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import { createPodMetrics } from "../../../adapters/kube/kinds/pod_metrics.ts";
import { createCheckpointStore } from "../../../adapters/kube/writers/checkpoint_store.ts";
import type { Clock } from "../../../shared/clock.ts";
import {
  type CheckpointStore,
  createPersistedMap,
  type PersistedMap,
} from "../../../shared/control/persisted_map.ts";
import type { Log } from "../../../shared/log.ts";
import type { UsageProblem, UsageSource } from "../ports.ts";
import type { PodMetrics, PodOwners } from "./pod_owners.ts";
import {
  createUsageHistory,
  type HistoryOptions,
  readHistory,
  storedHistory,
  type WorkloadHistory,
} from "./usage_history.ts";

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
}

/** The sampler. */
export interface UsageSampler extends UsageSource {
  /**
   * Reads the history, then samples while a policy needs it, until `signal` is aborted, and writes once
   * more.
   */
  run(signal: AbortSignal): Promise<void>;
}

/** Readings that may fail in a row before the history is too old to answer from. */
const MOST_MISSED = 4;

/** A sampler that knows nothing yet. */
// deno-lint-ignore house/function-length
export function createUsageSampler(parts: UsageSamplerParts): UsageSampler {
  const { metrics, owners, clock, log, intervalMs } = parts;
  const { checkpointIntervalMs = 180_000 } = parts;
  const kept = historiesOf(parts);
  const history = createUsageHistory(kept, parts);
  /** When each workload, by UID, was first asked about: only what a policy wants is kept. */
  const asked = new Map<string, { readonly namespace: string; readonly sinceMs: number }>();
  let problem: UsageProblem | undefined = NOT_READ;
  let missed = 0;

  async function load(signal: AbortSignal): Promise<void> {
    asked.clear();
    problem = NOT_READ;
    missed = 0;
    await kept.load(signal, {
      failed(message) {
        problem = { problem: "unavailable", message: `its history can't be read: ${message}` };
      },
    });
    history.begin();
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

  /** Not sampling is no failure: the next question gets what was seen before. */
  function rest(): void {
    problem = undefined;
    missed = 0;
    asked.clear();
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
          await kept.saveOrLog(signal);
        }
        await clock.sleep(Math.max(0, begunAt + intervalMs() - clock.monotonic()), signal);
      }
      await kept.saveAtEnd();
      problem = NOT_READ;
    },
  };
}

/** Histories as they are kept in ConfigMaps. */
function historiesOf(parts: UsageSamplerParts): PersistedMap<WorkloadHistory> {
  const { store, clock, log } = parts;
  return createPersistedMap<WorkloadHistory>({
    ...{ store, clock, log },
    prefix: "mbcas-usage-",
    holds: "usage history",
    encode: storedHistory,
    decode: (stored) => readHistory(stored, { ...parts, nowMs: clock.wall() }),
  });
}

const NOT_READ: UsageProblem = {
  problem: "unavailable",
  message: "the sampler has not read metrics-server yet",
};

/** What the sampler needs beside the API. */
export interface UsageSamplerOptions
  extends Pick<UsageSamplerParts, "owners" | "clock" | "log" | "intervalMs" | "slots"> {
  /** Of the installation: its history is kept there. */
  readonly namespace: string;
}

/** Label of the ConfigMaps with the history. */
export const USAGE_LABEL = "optipod.io/usage-history";
/** Field manager of what rightsizing writes. */
const MANAGER = "optipod";

/**
 * A sampler with the rights of the connection: to list `pods.metrics.k8s.io` everywhere, and to list,
 * create, patch and delete ConfigMaps of the installation's namespace.
 */
export function connectUsageSampler(
  connection: KubeConnection,
  { namespace, ...parts }: UsageSamplerOptions,
): UsageSampler {
  const store = { namespace, label: USAGE_LABEL, manager: MANAGER };
  return createUsageSampler({
    ...parts,
    metrics: createPodMetrics(connection),
    store: createCheckpointStore(connection, store),
  });
}
