/**
 * Publishes the statuses of workloads for people: one ConfigMap for each of their namespaces, in the
 * installation's namespace.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
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
  /** Deletes the statuses of workloads that do not exist any more. */
  retain(isThere: (namespace: string, key: string) => boolean): void;
  /** Writes what has changed every two seconds, until the signal is aborted. Failures are logged. */
  run(signal: AbortSignal): Promise<void>;
}

/** The dependencies of the publisher. */
export interface StatusPublisherParts {
  readonly store: CheckpointStore;
  readonly clock: Clock;
  readonly log: Log;
}

/** Between two writes, ms. */
const INTERVAL_MS = 2000;
/** A ConfigMap holds 2^20 bytes, and names and messages are hardly ever more than ASCII. */
const MOST_CHARACTERS = 900_000;

/** The statuses by namespace, as JSON by key, and what is known of their ConfigMaps. */
interface PublisherState {
  readonly store: CheckpointStore;
  readonly namespaces: Map<string, Map<string, string>>;
  readonly changed: Set<string>;
  /** Namespaces that have a ConfigMap, or may have one. */
  readonly stored: Set<string>;
  isLoaded: boolean;
}

/** A publisher that has published nothing yet. */
export function createStatusPublisher(
  { store, clock, log }: StatusPublisherParts,
): StatusPublisher {
  const [namespaces, changed] = [new Map<string, Map<string, string>>(), new Set<string>()];
  const state = { store, namespaces, changed, stored: new Set<string>(), isLoaded: false };
  return {
    publish(workload, status) {
      const { namespace } = workload;
      const entries = entriesOf(state, namespace);
      const [key, text] = [statusKey(workload), JSON.stringify(status)];
      if (entries.get(key) === text) return;
      entries.set(key, text);
      changed.add(namespace);
    },
    retain(isThere) {
      for (const [namespace, entries] of namespaces) {
        for (const key of [...entries.keys()]) {
          if (!isThere(namespace, key) && entries.delete(key)) changed.add(namespace);
        }
      }
    },
    async run(signal) {
      let fails = false;
      while (!signal.aborted) {
        await clock.sleep(INTERVAL_MS, signal);
        if (signal.aborted) return;
        try {
          if (!state.isLoaded) await load(state, signal);
          await writeChanged(state, signal);
          fails = false;
        } catch (error) {
          if (!fails && !signal.aborted) {
            log.warn("Failed to publish placement", { error: String(error) });
          }
          fails = true;
        }
      }
    },
  };
}

function entriesOf({ namespaces }: PublisherState, namespace: string): Map<string, string> {
  const entries = namespaces.get(namespace) ?? new Map<string, string>();
  namespaces.set(namespace, entries);
  return entries;
}

/** Reads the statuses of the former leader, which stay until they are replaced. */
async function load(state: PublisherState, signal: AbortSignal): Promise<void> {
  for (const { name, data } of await state.store.list(signal)) {
    if (!name.startsWith(STATUS_CONFIG_MAP_PREFIX)) continue;
    const namespace = name.slice(STATUS_CONFIG_MAP_PREFIX.length);
    state.stored.add(namespace);
    const entries = entriesOf(state, namespace);
    for (const [key, text] of Object.entries(data)) {
      if (!entries.has(key)) entries.set(key, text);
    }
  }
  state.isLoaded = true;
}

async function writeChanged(state: PublisherState, signal: AbortSignal): Promise<void> {
  const { store, namespaces, changed, stored } = state;
  for (const namespace of [...changed]) {
    const data = publishedData(namespaces.get(namespace) ?? []);
    const name = STATUS_CONFIG_MAP_PREFIX + namespace;
    changed.delete(namespace);
    try {
      if (data !== undefined) {
        stored.add(namespace);
        await store.apply({ name, data }, signal);
      } else if (stored.has(namespace)) {
        await store.remove(name, signal);
        stored.delete(namespace);
      }
    } catch (error) {
      changed.add(namespace);
      throw error;
    }
  }
}

/** The content of a ConfigMap, sorted; undefined if placement concerns none of the workloads. */
function publishedData(
  entries: Iterable<readonly [string, string]>,
): Readonly<Record<string, string>> | undefined {
  const all = [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (!all.some(([, text]) => concernsPlacement(readStatus(text)))) return undefined;
  const characters = all.reduce((sum, [key, text]) => sum + key.length + text.length, 0);
  // Thousands of pods in one namespace: the counts are left.
  return Object.fromEntries(
    characters <= MOST_CHARACTERS
      ? all
      : all.map(([key, text]) => [key, JSON.stringify({ ...readStatus(text), pods: [] })]),
  );
}
