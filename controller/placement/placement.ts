/**
 * Placement in one replica of the controller: its copies, and, while it leads, the decisions about new
 * pods and the loop that moves those that run.
 *
 * @module
 */
import type { Mutator } from "../../shared/admission/mutator.ts";
import type { Clock } from "../../shared/clock.ts";
import { createBackoff } from "../../shared/control/backoff.ts";
import type { Log } from "../../shared/log.ts";
import type { PlacementConfig } from "../../shared/placement/settings/placement_config.ts";
import { shortagePhase } from "../../shared/placement/shortage.ts";
import type { Random } from "../../shared/random.ts";
import type { Caches } from "../allocation/caches.ts";
import type { PlacementAPI } from "./connect_placement.ts";
import { createCopiedFacts } from "./copied_facts.ts";
import { createEvictedPods } from "./evicted_pods.ts";
import { createPlacementBook, type PlacementBook } from "./placement_book.ts";
import { createPlacementCopies, type PlacementCopies } from "./placement_copies.ts";
import { runPlacementLoop } from "./placement_loop.ts";
import { createPlacementMutator } from "./placement_mutator.ts";
import type { PlacementObserver } from "./placement_observer.ts";
import { createPlacementWarner } from "./placement_warner.ts";
import { createPodCounter, type PodCounter } from "./pod_counter.ts";
import type { ShortageOf } from "./webhook_ports.ts";

/** What it runs with. */
export interface PlacementParts {
  readonly api: PlacementAPI;
  /** The controller runs them. */
  readonly caches: Caches;
  readonly config: PlacementConfig;
  /** Whether the webhook serves: without it pods are created as they are sent, and moved afterwards. */
  readonly webhook: boolean;
  /** @default {none} */
  readonly observer?: PlacementObserver;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Placement of a replica. */
export interface Placement {
  /** For the controller to run. */
  readonly copies: PlacementCopies;
  /** Of workloads and of new pods; none without the webhook. */
  readonly mutators: readonly Mutator[];
  /** Counts and moves pods until the signal is aborted. */
  lead(term: AbortSignal): Promise<void>;
}

const LONGEST_WAIT_MS = 300_000;

/** A replica that does not lead yet. */
// deno-lint-ignore house/function-length
export function createPlacement(
  { api, caches: shared, config, webhook, observer = {}, ...parts }: PlacementParts,
): Placement {
  const { clock, log } = parts;
  const copies = createPlacementCopies(api.sources, parts);
  const caches = { ...shared, ...copies };
  const evicted = createEvictedPods();
  const rules = (): PlacementConfig => config;
  const facts = createCopiedFacts(caches, { rules, evicted });
  let book: PlacementBook | undefined;
  let counter: PodCounter | undefined;
  if (!webhook) {
    log.warn(
      "Placement without the webhook: new pods are made as they are sent, and moved one by one",
      { setting: "webhook.enabled" },
    );
  }

  const shortageOf: ShortageOf = ({ kind, namespace, name, uid }) => {
    const nowMs = clock.wall();
    const memory = book?.memoryOf({ kind, metadata: { namespace, name, uid } }, nowMs);
    return shortagePhase(memory?.shortage, nowMs);
  };

  /** Resolves once new pods are counted, if they ever are. */
  async function count(term: AbortSignal): Promise<void> {
    if (!webhook || counter !== undefined || term.aborted) return;
    const own = createPodCounter({ facts, rules, shortageOf, clock });
    counter = own;
    term.addEventListener("abort", () => {
      own.close();
      counter = undefined;
    }, { once: true });
    await own.whenSettled(term);
  }

  return {
    copies,
    mutators: webhook
      ? [
        createPlacementWarner({ facts, scope: () => config.scope }),
        createPlacementMutator({
          counter: {
            decide: async (request, signal) =>
              await counter?.decide(request, signal) ?? { unplaced: "NoLeader" },
          },
          facts,
          rules,
          observer,
          clock,
          log,
        }),
      ]
      : [],
    async lead(term) {
      const backoff = createBackoff({ minMs: 10_000, maxMs: LONGEST_WAIT_MS });
      // A failure must end neither the market nor rightsizing.
      while (!term.aborted) {
        try {
          const loaded = createPlacementBook({ store: api.store, clock, log });
          if (!await loaded.load(term)) return;
          // Whoever counts must know what is short, and nothing is moved before pods are counted: a pod
          // that is not placed would come back where it was.
          book = loaded;
          await count(term);
          await runPlacementLoop({
            ...api,
            caches,
            config,
            clock,
            log,
            evicted,
            observer,
            book: loaded,
          }, term);
        } catch (error) {
          const waitMs = backoff.next("", error);
          log.error("Placement failed, and begins anew", { error: String(error), waitMs });
          await clock.sleep(waitMs, term);
        }
      }
    },
  };
}
