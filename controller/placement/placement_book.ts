/**
 * What placement remembers of workloads, in one ConfigMap for each of their namespaces: it outlives the
 * process, and stands in the product's own namespace.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { Workload } from "../../shared/api/workload.ts";
import type { Clock } from "../../shared/clock.ts";
import { createBackoff } from "../../shared/control/backoff.ts";
import type { Log } from "../../shared/log.ts";
import type { PlacedKind } from "../../shared/placement/placement_gate.ts";
import {
  MEMORY_PAGE_PREFIX,
  memoryKey,
  memoryPage,
  memoryText,
  type PlacementMemory,
  readMemory,
} from "../../shared/placement/placement_memory.ts";
import type { CheckpointStore } from "../rightsizing/sampler/ports.ts";

/** Whose memory it is. */
export interface RememberedWorkload {
  readonly kind: PlacedKind;
  readonly metadata: Pick<Workload["metadata"], "namespace" | "name" | "uid">;
}

/** The memory. */
export interface PlacementBook {
  /**
   * Reads what an earlier process has written, or waits until that can be read; where the account may
   * not read it, nothing is known. Resolves with false when `signal` was aborted first.
   */
  load(signal: AbortSignal): Promise<boolean>;
  /** What is known of the workload at a time, ms since 1970. */
  memoryOf(workload: RememberedWorkload, nowMs: number): PlacementMemory;
  /** From now on it is known; `save` makes it outlive the process. */
  remember(workload: RememberedWorkload, memory: PlacementMemory): void;
  /** Resolves when all that is known of the namespace is written. Throws an `ApiError`. */
  save(namespace: string, signal: AbortSignal): Promise<void>;
  /**
   * Forgets workloads that are not there any more, and writes all that is not written yet. What can't be
   * written is logged, and tried the next time.
   */
  keepOnly(
    isThere: (namespace: string, key: string) => boolean,
    signal: AbortSignal,
  ): Promise<void>;
}

/** What the book works with. */
export interface PlacementBookParts {
  readonly store: CheckpointStore;
  readonly clock: Clock;
  readonly log: Log;
}

const LONGEST_WAIT_MS = 30_000;

interface Page {
  readonly entries: Map<string, string>;
  /** What stands in the ConfigMap, as JSON; undefined where that is not known. */
  stored: string | undefined;
  /** The write under way, or the last one. */
  running?: Promise<void>;
  /** The write that begins when that one has ended, with all that is known then. */
  next?: Promise<void> | undefined;
}

const NOTHING = JSON.stringify({});

/** An empty book. */
// deno-lint-ignore house/function-length
export function createPlacementBook({ store, clock, log }: PlacementBookParts): PlacementBook {
  const pages = new Map<string, Page>();

  function pageOf(namespace: string): Page {
    const page = pages.get(namespace) ?? { entries: new Map(), stored: NOTHING };
    pages.set(namespace, page);
    return page;
  }

  async function write(namespace: string, signal: AbortSignal): Promise<void> {
    const page = pageOf(namespace);
    const data = dataOf(page.entries);
    const text = JSON.stringify(data);
    if (page.stored === text) return;
    const name = memoryPage(namespace);
    // Until there is an answer either may stand there.
    page.stored = undefined;
    if (text === NOTHING) await store.remove(name, signal);
    else await store.apply({ name, data }, signal);
    page.stored = text;
  }

  /** One write at a time: an older one that is late must not stand over a newer one. */
  function save(namespace: string, signal: AbortSignal): Promise<void> {
    const page = pageOf(namespace);
    page.next ??= (async () => {
      // Its own caller hears of its failure.
      await page.running?.catch(() => {});
      page.next = undefined;
      page.running = write(namespace, signal);
      await page.running;
    })();
    return page.next;
  }

  return {
    async load(signal) {
      const backoff = createBackoff({ maxMs: LONGEST_WAIT_MS });
      while (!signal.aborted) {
        try {
          for (const { name, data } of await store.list(signal)) {
            if (!name.startsWith(MEMORY_PAGE_PREFIX)) continue;
            const page = pageOf(name.slice(MEMORY_PAGE_PREFIX.length));
            for (const [key, text] of Object.entries(data)) page.entries.set(key, text);
            // One without an entry is to go.
            page.stored = page.entries.size === 0
              ? undefined
              : JSON.stringify(dataOf(page.entries));
          }
          return true;
        } catch (error) {
          if (signal.aborted) break;
          const mayNot = error instanceof ApiError && error.status === 403;
          log.warn("What placement remembers can't be read", {
            error: String(error),
            becomes: mayNot ? "nothing is known" : "read again",
          });
          if (mayNot) return true;
          await clock.sleep(backoff.next("load", error), signal);
        }
      }
      return false;
    },
    memoryOf({ kind, metadata: { namespace, name, uid } }, nowMs) {
      return readMemory(pages.get(namespace)?.entries.get(memoryKey(kind, name)), { uid, nowMs });
    },
    remember({ kind, metadata: { namespace, name, uid } }, memory) {
      const text = memoryText(memory, uid);
      const key = memoryKey(kind, name);
      if (text !== undefined) pageOf(namespace).entries.set(key, text);
      else pages.get(namespace)?.entries.delete(key);
    },
    save,
    async keepOnly(isThere, signal) {
      for (const [namespace, { entries }] of [...pages]) {
        const gone = [...entries.keys()].filter((key) => !isThere(namespace, key));
        for (const key of gone) entries.delete(key);
        try {
          // Also what could not be written before; nothing is sent where all stands there.
          await save(namespace, signal);
        } catch (error) {
          if (signal.aborted) return;
          log.warn("What placement remembers can't be written", {
            namespace,
            error: String(error),
          });
        }
      }
    },
  };
}

/** In one order, whatever order they became known in. */
function dataOf(entries: ReadonlyMap<string, string>): Readonly<Record<string, string>> {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}
