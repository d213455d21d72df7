/**
 * Samples the usage of pods from metrics-server, which has no history of its own.
 *
 * @module
 */
import type { KubePodMetricsReader } from "../../../../adapters/kube/kinds/pod_metrics.ts";
import type { Clock } from "../../../../shared/clock.ts";
import {
  type CheckpointStore,
  createPersistedMap,
  type PersistedMap,
} from "../../../../shared/control/persisted_map.ts";
import { durationKind, numberKind } from "../../../../shared/config/kinds.ts";
import { setting } from "../../../../shared/config/setting.ts";
import type { Log } from "../../../../shared/log.ts";
import { MOST_SLOTS } from "../../../../shared/rightsizing/usage_ring.ts";
import type { UsageAnswer, UsageProblem, UsageQuery, UsageSource } from "../../ports.ts";
import type { PodOwners } from "./sampled_pods.ts";
import { readHistory, storedHistory, UsageHistory, type WorkloadHistory } from "./usage_history.ts";

/** The settings of this source alone. */
export const SAMPLER_SETTINGS = {
  samplerInterval: setting("rightsizing.samplerInterval", {
    kind: durationKind({ minMs: 5000, maxMs: 600_000 }),
    default: "30s",
    description:
      "Interval between two reads of metrics-server, for policies that take usage from it",
    live: true,
  }),
  samplerSize: setting("rightsizing.samplerSize", {
    kind: numberKind({ min: 2, max: MOST_SLOTS, whole: true }),
    default: "16",
    description:
      "Number of parts into which a container's usage history from metrics-server is divided. A " +
      "part is dropped as a whole when its first sample leaves the window: with 16 parts, the " +
      "history covers at least 15/16 of the window. More parts cover more, and need more memory",
  }),
};

/** Dependencies of the sampler. */
export interface UsageSamplerParts {
  readonly metrics: KubePodMetricsReader;
  readonly owners: PodOwners;
  readonly store: CheckpointStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Between two readings; may change. */
  readonly intervalMs: () => number;
  /** Parts of a window, see `RingShape`. */
  readonly slots: number;
}

/** Between two writes of the history, ms. */
const CHECKPOINT_MS = 180_000;
/** After this many failed readings in a row the history is too old. */
const MOST_MISSED = 4;

const NOT_READ: UsageProblem = {
  problem: "unavailable",
  message: "the sampler has not read metrics-server yet",
};

/** The sampler; it runs once. */
export class UsageSampler implements UsageSource {
  readonly #parts: UsageSamplerParts;
  readonly #persisted: PersistedMap<WorkloadHistory>;
  readonly #history: UsageHistory;
  /** Since when each workload, by UID, is queried. */
  readonly #queriedSinceMs = new Map<string, number>();
  #problem: UsageProblem | undefined = NOT_READ;
  /** Readings that failed in a row. */
  #missed = 0;

  constructor(parts: UsageSamplerParts) {
    const { store, clock, log, slots } = parts;
    this.#parts = parts;
    this.#persisted = createPersistedMap<WorkloadHistory>({
      ...{ store, clock, log },
      prefix: "mbcas-usage-",
      holds: "usage history",
      encode: storedHistory,
      decode: (stored) => readHistory(stored, { slots, nowMs: clock.wall() }),
    });
    this.#history = new UsageHistory(this.#persisted, slots);
  }

  usage(query: UsageQuery): Promise<UsageAnswer> {
    if (this.#problem !== undefined) return Promise.resolve(this.#problem);
    const nowMs = this.#parts.clock.wall();
    const { uid } = query.workload;
    const watchedSinceMs = this.#queriedSinceMs.get(uid) ?? nowMs;
    this.#queriedSinceMs.set(uid, watchedSinceMs);
    return Promise.resolve({ usage: this.#history.usage(query, nowMs), watchedSinceMs });
  }

  /**
   * Reads the persisted history, then samples while a policy needs it, until `signal` is aborted, and
   * persists once more.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { owners, clock, intervalMs } = this.#parts;
    await this.#persisted.load(signal, {
      failed: (message) => {
        const why = `its history can't be read: ${message}`;
        this.#problem = { problem: "unavailable", message: why };
      },
    });
    let savedAt = clock.monotonic();
    while (!signal.aborted) {
      const begunAt = clock.monotonic();
      if (owners.isWanted()) await this.#sample(signal);
      else {
        // Nothing is sampled, which does not count as a failure; the next policy gets the history.
        this.#problem = undefined;
        this.#missed = 0;
        this.#queriedSinceMs.clear();
      }
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
    const [nowMs, ownerOf] = [clock.wall(), owners.createLookup()];
    for (const reading of answer.pods) {
      const owner = ownerOf({ namespace: reading.namespace, name: reading.pod });
      if (owner !== undefined) this.#history.add(reading, { owner, nowMs });
    }
  }

  #deleteGone(): void {
    const uids = this.#parts.owners.workloadUIDs();
    if (uids === undefined) return;
    this.#history.keepOnly(uids);
    for (const uid of this.#queriedSinceMs.keys()) {
      if (!uids.has(uid)) this.#queriedSinceMs.delete(uid);
    }
  }
}
