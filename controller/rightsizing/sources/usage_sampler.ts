/**
 * Samples the usage of pods from metrics-server, which has no history of its own.
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
import { RIGHTSIZING_MANAGER } from "../../../shared/resize/original_limits.ts";
import type { UsageAnswer, UsageProblem, UsageQuestion, UsageSource } from "../ports.ts";
import type { PodMetrics, PodOwners } from "./pod_owners.ts";
import {
  createUsageHistory,
  type HistoryOptions,
  readHistory,
  storedHistory,
  type UsageHistory,
  type WorkloadHistory,
} from "./usage_history.ts";

/** Dependencies of the sampler. */
export interface UsageSamplerParts extends HistoryOptions {
  readonly metrics: PodMetrics;
  readonly owners: PodOwners;
  readonly store: CheckpointStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Between two readings; may change. */
  readonly intervalMs: () => number;
}

/** Between two times that the history is persisted, ms. */
const CHECKPOINT_MS = 180_000;
/** After this many failed readings in a row the history is too old. */
const MOST_MISSED = 4;

const NOT_READ: UsageProblem = {
  problem: "unavailable",
  message: "the sampler has not read metrics-server yet",
};

/** The sampler. */
export class UsageSampler implements UsageSource {
  readonly #parts: UsageSamplerParts;
  readonly #persisted: PersistedMap<WorkloadHistory>;
  readonly #history: UsageHistory;
  /** Since when each workload, by UID, has been asked for: only usage that a policy needs is kept. */
  readonly #asked = new Map<string, { readonly namespace: string; readonly sinceMs: number }>();
  #problem: UsageProblem | undefined = NOT_READ;
  /** Readings that failed in a row. */
  #missed = 0;

  constructor(parts: UsageSamplerParts) {
    const { store, clock, log } = parts;
    this.#parts = parts;
    this.#persisted = createPersistedMap<WorkloadHistory>({
      ...{ store, clock, log },
      prefix: "mbcas-usage-",
      holds: "usage history",
      encode: storedHistory,
      decode: (stored) => readHistory(stored, { ...parts, nowMs: clock.wall() }),
    });
    this.#history = createUsageHistory(this.#persisted, parts);
  }

  usage(question: UsageQuestion): Promise<UsageAnswer> {
    if (this.#problem !== undefined) return Promise.resolve(this.#problem);
    const nowMs = this.#parts.clock.wall();
    const { namespace, workload: { uid } } = question;
    const { sinceMs: watchedSinceMs } = this.#asked.get(uid) ?? { sinceMs: nowMs };
    this.#asked.set(uid, { namespace, sinceMs: watchedSinceMs });
    return Promise.resolve({ usage: this.#history.usage(question, nowMs), watchedSinceMs });
  }

  /**
   * Reads the persisted history, then samples while a policy needs it, until `signal` is aborted, and
   * persists once more.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { owners, clock, intervalMs } = this.#parts;
    await this.#load(signal);
    let savedAt = clock.monotonic();
    while (!signal.aborted) {
      const begunAt = clock.monotonic();
      if (owners.isWanted()) await this.#sample(signal);
      else this.#forgetRun();
      this.#deleteGone();
      if (clock.monotonic() - savedAt >= CHECKPOINT_MS && !signal.aborted) {
        savedAt = clock.monotonic();
        await this.#persisted.saveOrLog(signal);
      }
      await clock.sleep(Math.max(0, begunAt + intervalMs() - clock.monotonic()), signal);
    }
    await this.#persisted.saveAtEnd();
    this.#problem = NOT_READ;
  }

  async #load(signal: AbortSignal): Promise<void> {
    this.#forgetRun();
    this.#problem = NOT_READ;
    await this.#persisted.load(signal, {
      failed: (message) => {
        const why = `its history can't be read: ${message}`;
        this.#problem = { problem: "unavailable", message: why };
      },
    });
    this.#history.begin();
  }

  async #sample(signal: AbortSignal): Promise<void> {
    const { metrics, owners, clock, log } = this.#parts;
    const answer = await metrics.read(signal);
    if (signal.aborted) return;
    if ("problem" in answer) {
      if (this.#missed++ === 0) log.warn("Usage can't be read", { ...answer });
      if (this.#problem !== undefined || this.#missed > MOST_MISSED) this.#problem = answer;
      return;
    }
    if (this.#missed > 0) log.info("Usage can be read again", { missed: this.#missed });
    if (answer.unreadable > 0) {
      log.debug("Usage can't be read of some", { pods: answer.unreadable });
    }
    this.#problem = undefined;
    this.#missed = 0;
    const nowMs = clock.wall();
    for (const reading of answer.pods) {
      const owner = owners.ownerOf({ namespace: reading.namespace, name: reading.pod });
      if (owner !== undefined) this.#history.add(reading, { owner, nowMs });
    }
  }

  /** Without a policy, nothing is sampled and nothing is wrong; the next policy has the history. */
  #forgetRun(): void {
    this.#problem = undefined;
    this.#missed = 0;
    this.#asked.clear();
  }

  #deleteGone(): void {
    const { exists } = this.#parts.owners;
    this.#history.deleteGone(exists);
    for (const [uid, { namespace }] of this.#asked) {
      if (!exists({ namespace, uid })) this.#asked.delete(uid);
    }
  }
}

/** What the sampler needs beside the API server. */
export interface UsageSamplerOptions
  extends Pick<UsageSamplerParts, "owners" | "clock" | "log" | "intervalMs" | "slots"> {
  /** Of the installation: the history is persisted there. */
  readonly namespace: string;
}

/** Label of the ConfigMaps with the history. */
export const USAGE_LABEL = "optipod.io/usage-history";

/**
 * A sampler with the rights of the connection: to list `pods.metrics.k8s.io` everywhere, and to list,
 * create, patch and delete ConfigMaps of the installation's namespace.
 */
export function connectUsageSampler(
  connection: KubeConnection,
  { namespace, ...parts }: UsageSamplerOptions,
): UsageSampler {
  const store = { namespace, label: USAGE_LABEL, manager: RIGHTSIZING_MANAGER };
  return new UsageSampler({
    ...parts,
    metrics: createPodMetrics(connection),
    store: createCheckpointStore(connection, store),
  });
}
