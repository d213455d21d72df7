/**
 * Runs work in one of several processes at a time: the one that holds the Lease.
 *
 * A leader that can't renew stops its work within the renew deadline and the run ends with `lost`:
 * the process is expected to end too and to begin anew, so that nothing half done is carried over.
 *
 * @module
 */
import { ApiError } from "../api/api_error.ts";
import type { Lease } from "../api/lease.ts";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { Random } from "../random.ts";
import { type ElectionState, electionStep, observe } from "./election_step.ts";
import { within } from "./time_limit.ts";

/** One Lease. Each call throws an `ApiError` when the server refuses or can't be reached. */
export interface LeaseStore {
  /** The record; undefined when there is none. */
  read(): Promise<Lease | undefined>;
  /** Creates the record under the store's name; 409 when it exists. */
  create(lease: Lease): Promise<Lease>;
  /** Replaces the record; 409 when `resourceVersion` is not the stored one. */
  update(lease: Lease): Promise<Lease>;
}

/** Parts of an election. */
export interface LeaderElectionParts {
  readonly store: LeaseStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Unique among candidates and their restarts: a pod's name and a nonce. */
  readonly identity: string;
  /** The work of a leader: ends soon after its signal is aborted, and only then. Its error ends the run. */
  readonly lead: (signal: AbortSignal) => Promise<void>;
}

/** How long a record is valid without a renewal, ms: whole seconds. */
const LEASE_MS = 15_000;
/** A leader that has not renewed for this long stops, ms: less than the lease. */
const RENEW_DEADLINE_MS = 10_000;
/** Between two readings or renewals, ms. */
const RETRY_MS = 2000;

/** How an election ended: the signal was aborted, or the leadership could not be kept. */
export type ElectionEnd = "stopped" | "lost";

/** Waits are shorter than asked by up to this share, so that candidates don't keep in step. */
const SPREAD = 0.2;

/**
 * Takes part until `signal` is aborted; then the work ends and the Lease is released, so that another
 * candidate takes over within {@linkcode RETRY_MS}. After a crash that takes at most 17 s.
 */
export async function runLeaderElection(
  parts: LeaderElectionParts,
  signal: AbortSignal,
): Promise<ElectionEnd> {
  const { clock, log, identity } = parts;
  const candidate = createCandidate(parts);
  while (!signal.aborted) {
    const waitMs = await candidate.attempt();
    if (candidate.leftMs() <= 0) {
      await clock.sleep(waitMs, signal);
      continue;
    }
    log.info("Became the leader", { identity });
    const end = await leadWhileHeld({ ...parts, candidate, waitMs }, signal);
    if (end === "lost") log.error("Lost the leadership", { identity, holder: candidate.holder() });
    return end;
  }
  return "stopped";
}

interface LeadParts extends LeaderElectionParts {
  readonly candidate: Candidate;
  /** Time until the first renewal. */
  readonly waitMs: number;
}

/**
 * Works, and renews until the work has ended: because the signal was aborted, because it failed, or
 * because the leadership was lost. Then gives the Lease back.
 */
async function leadWhileHeld(
  { candidate, clock, lead, waitMs: firstWaitMs }: LeadParts,
  signal: AbortSignal,
): Promise<ElectionEnd> {
  const term = new AbortController();
  const ended = new AbortController();
  const stop = (): void => term.abort();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  let failure: { readonly error: unknown } | undefined;
  const work = lead(term.signal).catch((error: unknown) => void (failure = { error }))
    .finally(() => ended.abort());
  let waitMs = firstWaitMs;
  while (!ended.signal.aborted && candidate.leftMs() > 0) {
    await clock.sleep(Math.min(waitMs, candidate.leftMs()), ended.signal);
    if (!ended.signal.aborted && candidate.leftMs() > 0) waitMs = await candidate.attempt();
  }
  const lost = !ended.signal.aborted;
  stop();
  signal.removeEventListener("abort", stop);
  await work;
  await candidate.release();
  if (failure !== undefined) throw failure.error;
  return lost ? "lost" : "stopped";
}

interface Candidate {
  /** Reads and writes once; returns when to try again, ms. */
  attempt(): Promise<number>;
  /** How much longer this candidate leads without a renewal, ms; 0 or less when it does not lead. */
  leftMs(): number;
  holder(): string;
  /** Releases the Lease if this candidate holds it. A failure is only logged: the Lease runs out. */
  release(): Promise<void>;
}

function createCandidate(
  { store, clock, random, log, identity }: LeaderElectionParts,
): Candidate {
  let state: ElectionState = { lease: undefined, seenMs: clock.monotonic() };
  /** True when `state` is the answer to the last write: the next write needs no read. */
  let fresh = false;
  let renewedMs = -Infinity;

  function updateState(lease: Lease | undefined): void {
    state = observe(state, { lease, nowMs: clock.monotonic() });
  }

  const isHolder = (): boolean => state.lease?.holder === identity;

  function leftMs(): number {
    return isHolder() ? renewedMs + RENEW_DEADLINE_MS - clock.monotonic() : 0;
  }

  /** Throws an `ApiError` with status 0 after `ms`. */
  function withTimeout<T>(work: () => Promise<T>, ms: number): Promise<T> {
    const onTimeout = (): never => {
      throw new ApiError(0, "Timeout", `no answer within ${ms} ms`);
    };
    return within(work, { clock, ms, onTimeout });
  }

  async function readAndWrite(): Promise<number> {
    if (!fresh) updateState(await store.read());
    fresh = false;
    const sentMs = clock.monotonic();
    const moment = { identity, nowMs: sentMs, wallMs: clock.wall(), leaseMs: LEASE_MS };
    const action = electionStep(state, moment);
    if (action.do === "wait") return action.ms;
    updateState(await store[action.do](action.lease));
    fresh = isHolder();
    // The answer to an earlier attempt may come after that of a later one.
    renewedMs = Math.max(renewedMs, sentMs);
    return Infinity;
  }

  return {
    leftMs,
    holder: () => state.lease?.holder ?? "",
    async attempt() {
      const retryWait = RETRY_MS * (1 - SPREAD * random.next());
      const half = RENEW_DEADLINE_MS / 2;
      const limitMs = leftMs() > 0 ? Math.min(half, leftMs()) : half;
      try {
        return Math.min(retryWait, await withTimeout(readAndWrite, limitMs));
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        fresh = false;
        // A conflict means that another candidate was faster: read the Lease again soon.
        if (error.status === 409) return retryWait / 10;
        log.warn("No answer in the election", { error: error.message, status: error.status });
        return retryWait;
      }
    },
    async release() {
      if (!isHolder() || state.lease === undefined) return;
      const lease = { ...state.lease, holder: "", renewTimeMs: clock.wall() };
      try {
        updateState(await withTimeout(() => store.update(lease), RETRY_MS));
        log.info("Released the leadership", { identity });
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        log.warn("The leadership was not released: it runs out", { error: error.message });
      }
    },
  };
}
