/**
 * Placement in one replica of the controller: its informers and webhooks, and, while it leads, the decisions
 * about new pods and the loop that moves running ones.
 *
 * @module
 */
import type { Mutator } from "../../shared/admission/run_mutators.ts";
import type { AuditLog } from "../../shared/audit_log.ts";
import type { Clock } from "../../shared/clock.ts";
import { createBackoff } from "../../shared/control/backoff.ts";
import type { Log } from "../../shared/log.ts";
import type { PlacementSettings } from "../../shared/placement/settings.ts";
import { type ShortagePhase, shortagePhase } from "../../shared/placement/shortage.ts";
import type { Random } from "../../shared/random.ts";
import type { Caches } from "../caches.ts";
import { type AdmissionDecider, createAdmissionDecider } from "./admission.ts";
import { createPlacementInformers, createWebhookView, type PlacementInformers } from "./caches.ts";
import { createEvictionLog } from "./eviction_memory.ts";
import { runPlacementLoop } from "./loop.ts";
import { createPlacementMutator, createPlacementWarner } from "./mutators.ts";
import type { PlacementAPI, PlacementObserver } from "./ports.ts";
import { createStatusPublisher } from "./publisher.ts";
import { createPlacementState, type PlacementState } from "./store.ts";

/** The dependencies of placement. */
export interface PlacementParts {
  readonly api: PlacementAPI;
  /** Run by the controller. */
  readonly caches: Caches;
  readonly settings: () => PlacementSettings;
  /** False without a webhook: new pods are created unchanged, and moved afterwards. */
  readonly webhook: boolean;
  /** @default {none} */
  readonly observer?: PlacementObserver;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly audit?: AuditLog;
}

/** Placement in one replica of the controller. */
export interface Placement {
  /** The controller runs them. */
  readonly informers: PlacementInformers;
  /** Mutators of workloads and of new pods; none without the webhook. */
  readonly mutators: readonly Mutator[];
  /** Decides about new pods and moves running ones until the signal is aborted. */
  lead(term: AbortSignal): Promise<void>;
}

const LONGEST_WAIT_MS = 300_000;

/** Placement in a replica that does not lead yet. */
export function createPlacement(
  { api, caches: shared, settings, webhook, observer = {}, ...parts }: PlacementParts,
): Placement {
  const { clock, log, audit } = parts;
  const informers = createPlacementInformers(api.sources, parts);
  const caches = { ...shared, ...informers };
  const evictions = createEvictionLog({ clock, settings });
  const view = createWebhookView(caches, { settings, evicted: evictions });
  let state: PlacementState | undefined;
  let decider: AdmissionDecider | undefined;
  if (!webhook) {
    log.warn(
      "Placement runs without the webhook: new pods are created unchanged, and moved later",
      { setting: "webhook.enabled" },
    );
  }

  const shortageOf = (uid: string): ShortagePhase => {
    const nowMs = clock.wall();
    return shortagePhase(state?.memoryOf(uid, nowMs).shortage, nowMs);
  };

  /** Starts admission, unless the webhook is off; resolves once it decides. */
  async function startAdmission(term: AbortSignal): Promise<void> {
    if (!webhook || decider !== undefined || term.aborted) return;
    const started = createAdmissionDecider({ view, settings, shortageOf, clock });
    decider = started;
    term.addEventListener("abort", () => {
      started.close();
      decider = undefined;
    }, { once: true });
    await started.whenSettled(term);
  }

  const decide: AdmissionDecider["decide"] = async (request, signal) =>
    await decider?.decide(request, signal) ?? { unplaced: "NoLeader" };

  return {
    informers,
    mutators: !webhook ? [] : [
      createPlacementWarner({ view, settings }),
      createPlacementMutator({ decider: { decide }, settings, observer, clock, log }),
    ],
    async lead(term) {
      const backoff = createBackoff({ minMs: 10_000, maxMs: LONGEST_WAIT_MS });
      // A failure must end neither the market nor rightsizing.
      while (!term.aborted) {
        try {
          const loaded = createPlacementState({ store: api.store, clock, log });
          if (!await loaded.load(term)) return;
          // Admission must know of shortages, and no pod is moved before admission decides: its replacement
          // would be created for the same class.
          state = loaded;
          await startAdmission(term);
          const publisher = createStatusPublisher({ statuses: api.statuses, clock, log });
          const loopParts = {
            ...{ ...api, caches, settings, clock, log, audit, evictions, observer, publisher },
            state: loaded,
          };
          await runPlacementLoop(loopParts, term);
        } catch (error) {
          const waitMs = backoff.next("", error);
          log.error("Placement failed, and restarts", { error: String(error), waitMs });
          await clock.sleep(waitMs, term);
        }
      }
    },
  };
}
