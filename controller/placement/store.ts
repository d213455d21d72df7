/**
 * The state of workloads that outlives the process: one ConfigMap for each of their namespaces, in the
 * installation's namespace.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { Clock } from "../../shared/clock.ts";
import { createBackoff } from "../../shared/control/backoff.ts";
import type { Log } from "../../shared/log.ts";
import {
  MEMORY_CONFIG_MAP_PREFIX,
  memoryConfigMap,
  memoryKey,
  memoryText,
  type PlacementMemory,
  readMemory,
} from "../../shared/placement/placement_memory.ts";
import type { CheckpointStore } from "../../shared/control/persisted_map.ts";
import type { PlacementTarget } from "./ports.ts";

/** The state of all workloads. */
export interface PlacementState {
  /**
   * Reads the state of earlier processes, and retries until it can be read. Without the right to read it
   * the state stays empty. Resolves with false if `signal` was aborted first.
   */
  load(signal: AbortSignal): Promise<boolean>;
  /** The memory of the workload at a time, ms since 1970. */
  memoryOf(workload: PlacementTarget, nowMs: number): PlacementMemory;
  /** Sets the memory of the workload; `save` makes it outlive the process. */
  remember(workload: PlacementTarget, memory: PlacementMemory): void;
  /** Resolves when all that is set in the namespace is written. Throws an `ApiError`. */
  save(namespace: string, signal: AbortSignal): Promise<void>;
  /**
   * Deletes workloads that do not exist any more, and writes what is not written yet. Failed writes are
   * logged, and retried the next time.
   */
  retain(
    isThere: (namespace: string, key: string) => boolean,
    signal: AbortSignal,
  ): Promise<void>;
}

/** What the state depends on. */
export interface PlacementStateParts {
  readonly store: CheckpointStore;
  readonly clock: Clock;
  readonly log: Log;
}

const LONGEST_WAIT_MS = 30_000;

interface NamespaceState {
  readonly entries: Map<string, string>;
  /** The content of the ConfigMap, as JSON; undefined if it is not known. */
  stored: string | undefined;
  /** The write in flight, or the last one. */
  running?: Promise<void>;
  /** The write that begins after that, with all that is set then. */
  next?: Promise<void> | undefined;
}

const EMPTY = JSON.stringify({});

/** An empty state. */
export function createPlacementState(
  { store, clock, log }: PlacementStateParts,
): PlacementState {
  const { namespaces, stateOf, read, save } = createNamespaceStates(store);
  return {
    async load(signal) {
      const backoff = createBackoff({ maxMs: LONGEST_WAIT_MS });
      while (!signal.aborted) {
        try {
          await read(signal);
          return true;
        } catch (error) {
          if (signal.aborted) break;
          const isForbidden = error instanceof ApiError && error.status === 403;
          log.warn("Failed to read placement state", {
            error: String(error),
            becomes: isForbidden ? "nothing is known" : "read again",
          });
          if (isForbidden) return true;
          await clock.sleep(backoff.next("load", error), signal);
        }
      }
      return false;
    },
    memoryOf({ kind, namespace, name, uid }, nowMs) {
      const text = namespaces.get(namespace)?.entries.get(memoryKey(kind, name));
      return readMemory(text, { uid, nowMs });
    },
    remember({ kind, namespace, name, uid }, memory) {
      const text = memoryText(memory, uid);
      const key = memoryKey(kind, name);
      if (text !== undefined) stateOf(namespace).entries.set(key, text);
      else namespaces.get(namespace)?.entries.delete(key);
    },
    save,
    async retain(isThere, signal) {
      for (const [namespace, { entries }] of [...namespaces]) {
        for (const key of [...entries.keys()]) if (!isThere(namespace, key)) entries.delete(key);
        try {
          await save(namespace, signal);
        } catch (error) {
          if (signal.aborted) return;
          log.warn("Failed to write placement state", { namespace, error: String(error) });
        }
      }
    },
  };
}

/** Reads and writes the ConfigMaps. */
const createNamespaceStates = (store: CheckpointStore) => {
  const namespaces = new Map<string, NamespaceState>();

  function stateOf(namespace: string): NamespaceState {
    const state = namespaces.get(namespace) ?? { entries: new Map(), stored: EMPTY };
    namespaces.set(namespace, state);
    return state;
  }

  async function read(signal: AbortSignal): Promise<void> {
    for (const { name, data } of await store.list(signal)) {
      if (!name.startsWith(MEMORY_CONFIG_MAP_PREFIX)) continue;
      const state = stateOf(name.slice(MEMORY_CONFIG_MAP_PREFIX.length));
      for (const [key, text] of Object.entries(data)) state.entries.set(key, text);
      // A ConfigMap without entries must be deleted.
      state.stored = state.entries.size === 0 ? undefined : JSON.stringify(dataOf(state.entries));
    }
  }

  async function write(namespace: string, signal: AbortSignal): Promise<void> {
    const state = stateOf(namespace);
    const data = dataOf(state.entries);
    const text = JSON.stringify(data);
    if (state.stored === text) return;
    const name = memoryConfigMap(namespace);
    // Unknown until the server has answered.
    state.stored = undefined;
    if (text === EMPTY) await store.remove(name, signal);
    else await store.apply({ name, data }, signal);
    state.stored = text;
  }

  /** Writes one after the other: an older write that is late must not overwrite a newer one. */
  function save(namespace: string, signal: AbortSignal): Promise<void> {
    const state = stateOf(namespace);
    state.next ??= (async () => {
      // The caller of that write receives its failure.
      await state.running?.catch(() => {});
      state.next = undefined;
      state.running = write(namespace, signal);
      await state.running;
    })();
    return state.next;
  }

  return { namespaces, stateOf, read, save };
};

/** Sorted, so that equal entries have equal JSON. */
function dataOf(entries: ReadonlyMap<string, string>): Readonly<Record<string, string>> {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}
