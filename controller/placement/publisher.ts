/**
 * Publishes the statuses of workloads for people: one ConfigMap for each of their namespaces, in the
 * installation's namespace.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
import { createBackoff } from "../../shared/control/backoff.ts";
import type { CheckpointStore } from "../../shared/control/persisted_map.ts";
import type { Log } from "../../shared/log.ts";
import {
  concernsPlacement,
  type PlacementStatus,
  publishedTexts,
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
  /** Deletes the statuses of all other workloads. */
  retain(workloads: readonly PlacementSubject[]): void;
  /**
   * Writes changed ConfigMaps every two seconds, large ones less often, until the signal is aborted.
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
/** After a write, one interval for each of so many bytes passes before the next write of the ConfigMap. */
const BYTES_PER_INTERVAL = 50_000;
/** Most bytes of the texts in a ConfigMap, which holds 2^20 in all. */
const MOST_BYTES = 900_000;

/** A status as JSON, and whether placement concerns its workload. */
interface PublishedText {
  readonly text: string;
  readonly concerned: boolean;
}

/** The statuses of a namespace by key. */
interface NamespaceStatuses {
  readonly entries: Map<string, PublishedText>;
  changed: boolean;
  /** True if it has a ConfigMap, or may have one. */
  stored: boolean;
}

/** A publisher that has published nothing yet. */
export function createStatusPublisher(
  { statuses, clock, log }: StatusPublisherParts,
): StatusPublisher {
  const namespaces = new Map<string, NamespaceStatuses>();
  const whenDue = createDueRunner({ clock, log });
  let isLoaded = false;

  function statusesOf(namespace: string): NamespaceStatuses {
    const known = namespaces.get(namespace) ??
      { entries: new Map(), changed: false, stored: false };
    namespaces.set(namespace, known);
    return known;
  }

  /** Reads the statuses of the former leader, which stay until they are replaced. */
  async function load(signal: AbortSignal): Promise<number> {
    for (const [namespace, data] of publishedTexts(await statuses.list(signal))) {
      const known = statusesOf(namespace);
      known.stored = true;
      for (const [key, text] of Object.entries(data)) {
        if (known.entries.has(key)) continue;
        known.entries.set(key, { text, concerned: concernsPlacement(readStatus(text)) });
      }
    }
    isLoaded = true;
    return 0;
  }

  function remove(namespace: string, key: string): void {
    const known = namespaces.get(namespace);
    if (known?.entries.delete(key)) known.changed = true;
  }

  return {
    publish(workload, status) {
      const known = statusesOf(workload.namespace);
      const [key, text] = [statusKey(workload), JSON.stringify(status)];
      if (known.entries.get(key)?.text === text) return;
      known.entries.set(key, { text, concerned: concernsPlacement(status) });
      known.changed = true;
    },
    remove: (workload) => remove(workload.namespace, statusKey(workload)),
    retain(workloads) {
      const keys = new Set(workloads.map((one) => `${one.namespace}/${statusKey(one)}`));
      for (const [namespace, { entries }] of namespaces) {
        for (const key of [...entries.keys()]) {
          if (!keys.has(`${namespace}/${key}`)) remove(namespace, key);
        }
      }
    },
    async run(signal) {
      while (!signal.aborted) {
        await clock.sleep(INTERVAL_MS, signal);
        // No namespace has an empty name.
        if (!isLoaded) await whenDue("", { signal, act: () => load(signal) });
        if (!isLoaded) continue;
        for (const [namespace, known] of [...namespaces]) {
          const act = () => write(known, { namespace, statuses, signal });
          if (known.changed) await whenDue(namespace, { signal, act });
        }
      }
    },
  };
}

/** Returns a function that acts for a key unless it is too early. */
const createDueRunner = ({ clock, log }: Pick<StatusPublisherParts, "clock" | "log">) => {
  const dueMs = new Map<string, number>();
  const failing = new Set<string>();
  const backoff = createBackoff({ minMs: INTERVAL_MS, maxMs: LONGEST_MS });
  return async (key: string, { signal, act }: {
    readonly signal: AbortSignal;
    /** Returns how many bytes it has written. */
    readonly act: () => Promise<number>;
  }): Promise<void> => {
    if (signal.aborted || clock.monotonic() < (dueMs.get(key) ?? 0)) return;
    try {
      const waitMs = INTERVAL_MS * await act() / BYTES_PER_INTERVAL;
      dueMs.set(key, clock.monotonic() + Math.min(LONGEST_MS, waitMs));
      failing.delete(key);
      backoff.reset(key);
    } catch (error) {
      if (signal.aborted) return;
      if (failing.size === 0) log.warn("Failed to publish placement", { error: String(error) });
      dueMs.set(key, clock.monotonic() + backoff.next(key, error));
      failing.add(key);
    }
  };
};

async function write(
  known: NamespaceStatuses,
  { namespace, statuses, signal }: {
    readonly namespace: string;
    readonly statuses: CheckpointStore;
    readonly signal: AbortSignal;
  },
): Promise<number> {
  const entries = publishedEntries(known.entries);
  const name = STATUS_CONFIG_MAP_PREFIX + namespace;
  known.changed = false;
  try {
    if (entries.length > 0) {
      known.stored = true;
      await statuses.apply({ name, data: Object.fromEntries(entries) }, signal);
    } else if (known.stored) {
      await statuses.remove(name, signal);
      known.stored = false;
    }
  } catch (error) {
    known.changed = true;
    throw error;
  }
  return bytesOf(entries);
}

type Entries = readonly (readonly [key: string, text: string])[];

/**
 * The content of a ConfigMap, sorted; empty if placement concerns none of the workloads. To fit, it
 * leaves out the pods, then workloads that are not concerned, the revisions, and the last workloads.
 */
function publishedEntries(entries: Iterable<readonly [string, PublishedText]>): Entries {
  const sorted = [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const textsOf = (list: typeof sorted): Entries => list.map(([key, { text }]) => [key, text]);
  const concerned = textsOf(sorted.filter(([, one]) => one.concerned));
  if (concerned.length === 0) return [];
  const forms = [
    () => textsOf(sorted),
    () => withoutDetail(textsOf(sorted), { pods: [] }),
    () => withoutDetail(concerned, { pods: [] }),
    () => withoutDetail(concerned, { pods: [], revisions: [] }),
  ];
  let form: Entries = [];
  for (const make of forms) {
    form = make();
    if (bytesOf(form) <= MOST_BYTES) return form;
  }
  let bytes = 0;
  return form.filter((entry) => (bytes += bytesOf([entry])) <= MOST_BYTES);
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
