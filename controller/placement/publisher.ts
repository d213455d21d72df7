/**
 * Publishes the statuses of workloads for people: one ConfigMap for each of their namespaces, in the
 * installation's namespace.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
import { type Backoff, createBackoff } from "../../shared/control/backoff.ts";
import type { CheckpointStore } from "../../shared/control/persisted_map.ts";
import type { Log } from "../../shared/log.ts";
import {
  concernsPlacement,
  type PlacementStatus,
  readStatus,
  STATUS_CONFIG_MAP_PREFIX,
  statusKey,
} from "../../shared/placement/status.ts";
import type { PlacementSubject } from "./ports.ts";

/** Publishes statuses. */
export interface StatusPublisher {
  /** Sets the status of a workload; it is written with the next write. */
  publish(workload: PlacementSubject, status: PlacementStatus): void;
  /** Deletes the status of a workload. */
  remove(workload: PlacementSubject): void;
  /** Deletes the statuses of workloads that do not exist any more. */
  retain(isThere: (namespace: string, key: string) => boolean): void;
  /**
   * Writes what has changed every two seconds, large ConfigMaps less often, until the signal is aborted.
   * Failures are logged, and retried ever later.
   */
  run(signal: AbortSignal): Promise<void>;
}

/** The dependencies of the publisher. */
export interface StatusPublisherParts {
  readonly statuses: CheckpointStore;
  readonly clock: Clock;
  readonly log: Log;
}

/** Between two writes, ms. */
const INTERVAL_MS = 2000;
/** The longest time between two writes of a ConfigMap, and between two tries, ms. */
const LONGEST_MS = 60_000;
/** After a write of more bytes, as many more intervals pass before the next one of that ConfigMap. */
const BYTES_PER_INTERVAL = 50_000;
/** A ConfigMap holds 2^20 bytes. */
const MOST_BYTES = 900_000;
/** The key of the backoff for reading; no namespace has this name. */
const LOAD = "";

/** A status as JSON, and whether placement concerns its workload. */
interface PublishedText {
  readonly text: string;
  readonly concerned: boolean;
}

/** The statuses by namespace, as JSON by key, and what is known of their ConfigMaps. */
interface PublisherState extends StatusPublisherParts {
  readonly namespaces: Map<string, Map<string, PublishedText>>;
  readonly changed: Set<string>;
  /** Namespaces that have a ConfigMap, or may have one. */
  readonly stored: Set<string>;
  /** When a namespace may be written again, ms of the monotonic clock. */
  readonly dueMs: Map<string, number>;
  /** Namespaces with a failure since their last write. */
  readonly failing: Set<string>;
  readonly backoff: Backoff;
  isLoaded: boolean;
}

/** A publisher that has published nothing yet. */
export function createStatusPublisher(parts: StatusPublisherParts): StatusPublisher {
  const [namespaces, changed] = [new Map<string, Map<string, PublishedText>>(), new Set<string>()];
  const state: PublisherState = {
    ...{ ...parts, namespaces, changed, stored: new Set(), dueMs: new Map(), failing: new Set() },
    backoff: createBackoff({ minMs: INTERVAL_MS, maxMs: LONGEST_MS }),
    isLoaded: false,
  };
  return {
    publish(workload, status) {
      const { namespace } = workload;
      const entries = entriesOf(state, namespace);
      const [key, text] = [statusKey(workload), JSON.stringify(status)];
      if (entries.get(key)?.text === text) return;
      entries.set(key, { text, concerned: concernsPlacement(status) });
      changed.add(namespace);
    },
    remove(workload) {
      const { namespace } = workload;
      if (namespaces.get(namespace)?.delete(statusKey(workload))) changed.add(namespace);
    },
    retain(isThere) {
      for (const [namespace, entries] of namespaces) {
        for (const key of [...entries.keys()]) {
          if (!isThere(namespace, key) && entries.delete(key)) changed.add(namespace);
        }
      }
    },
    async run(signal) {
      while (!signal.aborted) {
        await parts.clock.sleep(INTERVAL_MS, signal);
        if (!state.isLoaded) await whenDue(state, LOAD, signal, () => load(state, signal));
        if (state.isLoaded) await writeChanged(state, signal);
      }
    },
  };
}

/** Acts unless it is too early. The result of the action is its size in bytes. */
async function whenDue(
  { clock, log, dueMs, failing, backoff }: PublisherState,
  key: string,
  signal: AbortSignal,
  act: () => Promise<number>,
): Promise<void> {
  if (signal.aborted || clock.monotonic() < (dueMs.get(key) ?? 0)) return;
  try {
    const waitMs = INTERVAL_MS * await act() / BYTES_PER_INTERVAL;
    dueMs.set(key, clock.monotonic() + Math.min(LONGEST_MS, waitMs));
    backoff.reset(key);
    failing.delete(key);
  } catch (error) {
    if (signal.aborted) return;
    if (failing.size === 0) log.warn("Failed to publish placement", { error: String(error) });
    failing.add(key);
    dueMs.set(key, clock.monotonic() + backoff.next(key, error));
  }
}

function entriesOf({ namespaces }: PublisherState, namespace: string): Map<string, PublishedText> {
  const entries = namespaces.get(namespace) ?? new Map<string, PublishedText>();
  namespaces.set(namespace, entries);
  return entries;
}

/** Reads the statuses of the former leader, which stay until they are replaced. */
async function load(state: PublisherState, signal: AbortSignal): Promise<number> {
  for (const { name, data } of await state.statuses.list(signal)) {
    if (!name.startsWith(STATUS_CONFIG_MAP_PREFIX)) continue;
    const namespace = name.slice(STATUS_CONFIG_MAP_PREFIX.length);
    state.stored.add(namespace);
    const entries = entriesOf(state, namespace);
    for (const [key, text] of Object.entries(data)) {
      if (entries.has(key)) continue;
      entries.set(key, { text, concerned: concernsPlacement(readStatus(text)) });
    }
  }
  state.isLoaded = true;
  return 0;
}

async function writeChanged(state: PublisherState, signal: AbortSignal): Promise<void> {
  for (const namespace of [...state.changed]) {
    await whenDue(state, namespace, signal, () => write(state, namespace, signal));
  }
}

async function write(
  { statuses, namespaces, changed, stored }: PublisherState,
  namespace: string,
  signal: AbortSignal,
): Promise<number> {
  const entries = publishedEntries(namespaces.get(namespace) ?? []);
  const name = STATUS_CONFIG_MAP_PREFIX + namespace;
  changed.delete(namespace);
  try {
    if (entries.length > 0) {
      stored.add(namespace);
      await statuses.apply({ name, data: Object.fromEntries(entries) }, signal);
    } else if (stored.has(namespace)) {
      await statuses.remove(name, signal);
      stored.delete(namespace);
    }
  } catch (error) {
    changed.add(namespace);
    throw error;
  }
  return bytesOf(entries);
}

type Entries = readonly (readonly [key: string, text: string])[];

/** The content of a ConfigMap, sorted; empty if placement concerns none of the workloads. */
function publishedEntries(entries: Iterable<readonly [string, PublishedText]>): Entries {
  const sorted = [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const textsOf = (list: typeof sorted): Entries => list.map(([key, { text }]) => [key, text]);
  const all = textsOf(sorted);
  const concerned = textsOf(sorted.filter(([, one]) => one.concerned));
  if (concerned.length === 0 || bytesOf(all) <= MOST_BYTES) {
    return concerned.length === 0 ? [] : all;
  }
  // Thousands of pods in one namespace: the counts are left.
  const counts = withoutDetail(all, { pods: [] });
  if (bytesOf(counts) <= MOST_BYTES) return counts;
  const placed = withoutDetail(concerned, { pods: [] });
  return bytesOf(placed) <= MOST_BYTES
    ? placed
    : withoutDetail(concerned, { pods: [], revisions: [] });
}

function withoutDetail(
  entries: Entries,
  none: Partial<Pick<PlacementStatus, "pods" | "revisions">>,
): Entries {
  return entries.map(([key, text]) => [key, JSON.stringify({ ...readStatus(text), ...none })]);
}

function bytesOf(entries: Entries): number {
  const encoder = new TextEncoder();
  return entries.reduce((sum, pair) => sum + encoder.encode(pair.join("")).length, 0);
}
