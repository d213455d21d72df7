/**
 * A local copy of one kind of objects, kept up to date by list and watch. Level-based: a subscriber
 * hears that something about a key changed and reads the present state; nobody learns what happened.
 *
 * @module
 */
import { ApiError } from "../api/api_error.ts";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { Random } from "../random.ts";
import { createBackoff } from "./backoff.ts";
import { createObjectCache, type IndexBy } from "./object_cache.ts";
import type { ListWatch, WatchEvent } from "./list_watch.ts";
import type { ApiObject } from "../api/object.ts";

/** What an informer needs. */
export interface InformerOptions<T extends ApiObject> {
  readonly source: ListWatch<T>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The kind, for the log. */
  readonly name: string;
  /** Other ways to find objects, for instance by UID; undefined keeps an object out of it. */
  readonly indexBy?: IndexBy<T>;
  /**
   * Shortest wait after an error, ms.
   *
   * @default {1000}
   */
  readonly minBackoffMs?: number;
  /**
   * Longest wait after an error, ms; 5 s where no connection to the server comes about.
   *
   * @default {30000}
   */
  readonly maxBackoffMs?: number;
  /**
   * Lists again this long after the last list, ms, whatever the watch said.
   *
   * @default {Infinity}
   */
  readonly relistEveryMs?: number;
}

/** A local copy of one kind. */
export interface Informer<T extends ApiObject> {
  /** The object under `objectKey()`, as last seen. */
  get(key: string): T | undefined;
  /** The objects whose index has this value, or this one among others. */
  byIndex(value: string): readonly T[];
  /** All objects as last seen, in no particular order. */
  all(): Iterable<T>;
  /**
   * True while the copy follows the server: from a list on, and false from the moment at which the
   * watch is known to be broken until the next list. What is cached meanwhile stays readable.
   */
  readonly synced: boolean;
  /** Resolves with true when the copy is in sync, with false when `signal` is aborted first. */
  whenSynced(signal: AbortSignal): Promise<boolean>;
  /** Calls `onChange` with each key that may have changed, until the returned function is called. */
  subscribe(onChange: (key: string) => void): () => void;
  /** Lists and watches until `signal` is aborted. Throws only what a subscriber throws. */
  run(signal: AbortSignal): Promise<void>;
}

/** A watch that ends sooner than this without an event is a failure, not a server's time limit. */
const SHORTEST_WATCH_MS = 1000;
/** After a watch of this length, ms, a break is the first failure again: kinds without events, too. */
const HEALTHY_WATCH_MS = 10_000;

/** How a watch ended: to be resumed, to be followed by a list at once, or with an error. */
type WatchEnd = { readonly next: "resume" | "list" } | { readonly error: unknown };

type Attempt<V> = { readonly value: V } | { readonly error: unknown };

/** Keeps the source's errors apart from those of subscribers, which must surface. */
async function attempt<V>(action: () => Promise<V>): Promise<Attempt<V>> {
  try {
    return { value: await action() };
  } catch (error) {
    return { error };
  }
}

/** An informer with an empty copy; it does nothing before `run`. */
// deno-lint-ignore house/function-length
export function createInformer<T extends ApiObject>(options: InformerOptions<T>): Informer<T> {
  const { source, clock, random, log, name, relistEveryMs = Infinity } = options;
  const { minBackoffMs: minMs = 1000, maxBackoffMs: maxMs = 30_000 } = options;
  const cache = createObjectCache<T>(options.indexBy);
  const subscribers = new Set<(key: string) => void>();
  const waiting = new Set<() => void>();
  let synced = false;
  let version: string | undefined;
  let listedAtMs = 0;
  const backoff = createBackoff({ minMs, maxMs, random });
  let failures = 0;

  function forgetFailures(): void {
    failures = 0;
    backoff.reset(name);
  }

  function notify(keys: Iterable<string>): void {
    for (const key of keys) {
      for (const onChange of subscribers) onChange(key);
    }
  }

  async function list(signal: AbortSignal): Promise<Attempt<void>> {
    const startedMs = clock.monotonic();
    const result = await attempt(() => source.list(signal));
    if ("error" in result || signal.aborted) return result as Attempt<void>;
    const changed = cache.replaceAll(result.value.items);
    version = result.value.resourceVersion;
    listedAtMs = startedMs;
    synced = true;
    for (const resolve of waiting) resolve();
    notify(changed);
    return { value: undefined };
  }

  function apply(event: WatchEvent<T>): void {
    forgetFailures();
    if (event.type === "BOOKMARK") {
      version = event.resourceVersion;
      return;
    }
    version = event.object.metadata.resourceVersion;
    notify([event.type === "DELETED" ? cache.remove(event.object) : cache.put(event.object)]);
  }

  async function follow(from: string, stream: AbortController): Promise<WatchEnd> {
    const startedMs = clock.monotonic();
    const iterator = source.watch(from, stream.signal)[Symbol.asyncIterator]();
    let heard = false;
    let failure: { readonly error: unknown } | undefined;
    try {
      for (;;) {
        const step = await attempt(() => iterator.next());
        if (stream.signal.aborted) return { next: "list" };
        if ("error" in step) failure = step;
        if ("error" in step || step.value.done) break;
        heard = true;
        apply(step.value.value);
      }
    } finally {
      stream.abort();
      await attempt(async () => await iterator.return?.());
    }
    const lastedMs = clock.monotonic() - startedMs;
    if (lastedMs >= HEALTHY_WATCH_MS) forgetFailures();
    if (failure !== undefined) return failure;
    if (heard || lastedMs >= SHORTEST_WATCH_MS) return { next: "resume" };
    return { error: new Error(`Cannot follow ${name}: the watch ended after ${lastedMs} ms`) };
  }

  /** Follows until the watch ends or the next periodic list is due. */
  async function followUntilDue(from: string, signal: AbortSignal): Promise<WatchEnd> {
    const stream = new AbortController();
    const abort = (): void => stream.abort();
    signal.addEventListener("abort", abort, { once: true });
    const dueInMs = relistEveryMs - (clock.monotonic() - listedAtMs);
    const due = dueInMs === Infinity
      ? Promise.resolve()
      : clock.sleep(Math.max(0, dueInMs), stream.signal).then(abort);
    try {
      return await follow(from, stream);
    } finally {
      signal.removeEventListener("abort", abort);
      await due;
    }
  }

  async function recover(error: unknown, signal: AbortSignal): Promise<void> {
    synced = false;
    version = undefined;
    failures++;
    const waitMs = backoff.next(name, error);
    const expired = error instanceof ApiError && error.status === 410;
    if (expired && failures === 1) return;
    log.warn("List or watch failed", { kind: name, error: String(error), failures, waitMs });
    await clock.sleep(waitMs, signal);
  }

  async function step(signal: AbortSignal): Promise<void> {
    if (version === undefined) {
      const listed = await list(signal);
      if ("error" in listed && !signal.aborted) await recover(listed.error, signal);
      return;
    }
    const end = await followUntilDue(version, signal);
    if (signal.aborted) return;
    if ("error" in end) await recover(end.error, signal);
    else if (end.next === "list") version = undefined;
  }

  return {
    get: cache.get,
    byIndex: cache.byIndex,
    all: cache.all,
    get synced() {
      return synced;
    },
    whenSynced(signal) {
      if (synced || signal.aborted) return Promise.resolve(synced);
      return new Promise((resolve) => {
        const settle = (): void => {
          waiting.delete(settle);
          signal.removeEventListener("abort", settle);
          resolve(synced);
        };
        waiting.add(settle);
        signal.addEventListener("abort", settle, { once: true });
      });
    },
    subscribe(onChange) {
      subscribers.add(onChange);
      return () => void subscribers.delete(onChange);
    },
    async run(signal) {
      try {
        while (!signal.aborted) await step(signal);
      } finally {
        synced = false;
        version = undefined;
      }
    },
  };
}
