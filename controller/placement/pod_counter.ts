/**
 * The one who counts: decides where pods go and reserves their places, one after the other.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
import { admitPod } from "../../shared/placement/admit_pod.ts";
import type {
  PlacementQuestion,
  PlacementVerdict,
} from "../../shared/placement/placement_question.ts";
import {
  expire,
  noReservations,
  type Reservation,
  type Reservations,
  sightSome,
} from "../../shared/placement/reservations.ts";
import { questionGate, untilKnown } from "./question_gate.ts";
import type {
  PlacementAnswers,
  PlacementRules,
  ShortageOf,
  WebhookFacts,
} from "./webhook_ports.ts";

/** What it counts with. */
export interface PodCounterParts {
  readonly facts: WebhookFacts;
  readonly rules: () => PlacementRules;
  readonly shortageOf: ShortageOf;
  readonly clock: Clock;
}

/** Times, ms. */
export interface PodCounterOptions {
  /**
   * How long a reservation counts whose pod nobody sees.
   *
   * @default {30000}
   */
  readonly reservedForMs?: number;
  /**
   * How long an owner is waited for that the copies don't know; less than whoever asks waits.
   *
   * @default {50}
   */
  readonly copyWithinMs?: number;
  /**
   * How long nothing is decided at the beginning: what a former leader has admitted is known only from
   * the pods, and these may be seen late.
   *
   * @default {2000}
   */
  readonly settleMs?: number;
}

/** Longer than pods are seen late, ms. */
const SETTLE_MS = 2000;

/** Counts for as long as a replica leads; the next one begins anew. */
export interface PodCounter extends PlacementAnswers {
  /** Places that are reserved, of all workloads. */
  readonly reserved: number;
  /** Resolves once it decides, or the signal is aborted. */
  whenSettled(signal: AbortSignal): Promise<void>;
  /** Hears of no more pods. */
  close(): void;
}

/** A counter that has reserved nothing. */
export function createPodCounter(
  { facts, rules, shortageOf, clock }: PodCounterParts,
  { reservedForMs = 30_000, copyWithinMs = 50, settleMs = SETTLE_MS }: PodCounterOptions = {},
): PodCounter {
  /** By UIDs of workloads; those without open reservations go when it is tidied. */
  const books = new Map<string, Reservations>();
  /** The question that each was the answer to, for as long as it is open. */
  const asked = new WeakMap<Reservation, string>();
  /** Questions that are to be forgotten before they were answered, and until when that counts. */
  const forgotten = new Map<string, number>();
  const settledAtMs = clock.monotonic() + settleMs;
  let tidyAtMs = settledAtMs;

  /** Workloads that nobody asks about any more end, too. */
  function tidy(nowMs: number): void {
    if (nowMs < tidyAtMs) return;
    tidyAtMs = nowMs + reservedForMs;
    for (const [uid, book] of books) {
      const left = expire(book, nowMs);
      // Whom nobody is reserved for is known as well when the next one asks.
      if (left.open.length === 0) books.delete(uid);
      else books.set(uid, left);
    }
    for (const [id, untilMs] of forgotten) if (untilMs <= nowMs) forgotten.delete(id);
  }

  const unsubscribe = facts.onPod((pod, uid) => {
    const book = books.get(uid);
    // Where nothing is reserved it is time enough to see it when the next one asks.
    if (book === undefined || book.open.length === 0) return;
    books.set(uid, sightSome(book, [pod]));
  });

  /** Without a pause from the look at the reservations to the new one: nobody else decides meanwhile. */
  function decide(question: PlacementQuestion): PlacementVerdict {
    const { scope, readOnly } = rules();
    const gate = questionGate(question, { facts, scope });
    if (gate.wish === undefined) return gate;
    const { workload, wish, only } = gate;
    const nowMs = clock.monotonic();
    tidy(nowMs);
    const pods = facts.podsOf(workload);
    const before = books.get(workload.uid) ?? noReservations(pods);
    const again = answeredBefore(question, expire(before, nowMs));
    if (again !== undefined) return verdictOf(again);
    const dryRun = question.dryRun || readOnly;
    const { reservations, ...answer } = admitPod(before, {
      workload,
      wish,
      pods,
      shortage: shortageOf(workload),
      pod: { ...awaited(question), revision: question.revision },
      ...(only === undefined ? {} : { only }),
      dryRun,
      nowMs,
    }, { reservedForMs });
    books.set(workload.uid, reservations);
    const one = reservations.open.at(-1);
    const isNew = one !== undefined && !before.open.includes(one);
    if (isNew) asked.set(one, question.id);
    return verdictOf(answer);
  }

  return {
    get reserved() {
      return [...books.values()].reduce((sum, { open }) => sum + open.length, 0);
    },
    async whenSettled(signal) {
      await clock.sleep(Math.max(0, settledAtMs - clock.monotonic()), signal);
    },
    async answer(question, signal) {
      if (clock.monotonic() < settledAtMs) return { unplaced: "LeaderUnsettled" };
      await untilKnown(question, facts, { clock, signal, withinMs: copyWithinMs });
      if (signal.aborted || forgotten.delete(question.id)) return { unplaced: "LeaderSilent" };
      return decide(question);
    },
    forget(id) {
      for (const [uid, book] of books) {
        const open = book.open.filter((one) => asked.get(one) !== id);
        if (open.length < book.open.length) return void books.set(uid, { ...book, open });
      }
      tidy(clock.monotonic());
      forgotten.set(id, clock.monotonic() + reservedForMs);
    },
    close: unsubscribe,
  };
}

/** The reservation that the pod was given already, where it says so itself. */
function answeredBefore(
  { told, pod, revision }: PlacementQuestion,
  { open }: Reservations,
): Reservation | undefined {
  if (told === undefined) return undefined;
  return open.find((one) =>
    one.revision === revision && one.class === told.class &&
    one.deletionCost === told.deletionCost && one.pod.name === pod.name &&
    one.pod.generateName === pod.generateName
  );
}

function awaited({ pod: { uid, name, generateName } }: PlacementQuestion): Reservation["pod"] {
  return {
    ...(uid === undefined ? {} : { uid }),
    ...(name === undefined ? {} : { name }),
    ...(generateName === undefined ? {} : { generateName }),
  };
}

function verdictOf(
  { class: chosen, deletionCost }: Pick<Reservation, "class" | "deletionCost">,
): PlacementVerdict {
  return { class: chosen, ...(deletionCost === undefined ? {} : { deletionCost }) };
}
