/**
 * A local copy of one kind of objects, kept up to date by list and watch. Level-based: a subscriber
 * receives the key of a change and the object before it, and reads the present state.
 *
 * @module
 */
import type { ApiObject } from "../api/object.ts";
import { ApiError } from "../api/api_error.ts";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { Random } from "../random.ts";
import { type Backoff, createBackoff } from "./backoff.ts";
import { type Change, createObjectCache, type IndexBy, type ObjectCache } from "./object_cache.ts";
import { isAtLeast } from "./object_key.ts";

/** One message of a watch. */
export type WatchEvent<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string };

/** A list as of one resource version. */
export interface ObjectList<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
}

/** List-watch of one kind, already narrowed by selectors. */
export interface ListWatch<T extends ApiObject> {
  /** All objects now. Throws an `ApiError` when the server refuses or can't be reached. */
  list(signal: AbortSignal): Promise<ObjectList<T>>;
  /**
   * Changes after `resourceVersion`, until the server closes the stream or `signal` is aborted.
   * Throws an `ApiError` with status 410 when that version is too old: list again.
   */
  watch(resourceVersion: string, signal: AbortSignal): AsyncIterable<WatchEvent<T>>;
}

/** Parts and settings of an informer. */
export interface InformerOptions<T extends ApiObject> {
  readonly source: ListWatch<T>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The kind, for the log. */
  readonly name: string;
  /** Values under which `byIndex` finds an object, for instance its UID. @default none */
  readonly indexBy?: IndexBy<T>;
  /** Lists again this long after the last list, ms, whatever the watch sent. @default {Infinity} */
  readonly relistEveryMs?: number;
}

/** Receives changes. */
export type OnChange<T> = (...change: Change<T>) => void;

/** A local copy of one kind. */
export interface Informer<T extends ApiObject> {
  /** The object under `objectKey()`, as last seen. */
  get(key: string): T | undefined;
  /** The objects for which `indexBy` has this value. */
  byIndex(value: string): readonly T[];
  /** All objects as last seen, in no particular order. */
  all(): Iterable<T>;
  /**
   * True while the copy follows the server: from a list on, and false from the moment at which the
   * watch is known to be broken until the next list. Cached objects stay readable meanwhile.
   */
  readonly synced: boolean;
  /** Resolves with true when the copy is in sync, with false when `signal` is aborted first. */
  whenSynced(signal: AbortSignal): Promise<boolean>;
  /**
   * Calls `onChange` with the key of each object that may have changed, and with the object before, until
   * the returned function is called.
   */
  subscribe(onChange: OnChange<T>): () => void;
  /** Lists and watches until `signal` is aborted. Throws only what a subscriber throws. */
  run(signal: AbortSignal): Promise<void>;
}

/** Longest wait after an error, ms; 5 s where no connection to the server comes about. */
const LONGEST_WAIT_MS = 30_000;
/** A watch that ends sooner than this without an event is a failure, not a server's time limit. */
const SHORTEST_WATCH_MS = 1000;
/** After a watch of this length, ms, a break is the first failure again, whatever the watch sent. */
const HEALTHY_WATCH_MS = 10_000;
/** Lists that stay older than the copy for this long, ms, are used: etcd was restored from a backup. */
const LONGEST_LAG_MS = 60_000;
/** Wait before another list from a server that is behind, ms: Kubernetes' own Retry-After in this case. */
const BEHIND_RETRY_MS = 1000;

/** How a watch ended, and the next step. */
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

/** The copy, and how far it follows the server. */
interface InformerState<T extends ApiObject> {
  readonly options: InformerOptions<T>;
  readonly cache: ObjectCache<T>;
  readonly backoff: Backoff;
  readonly subscribers: Set<OnChange<T>>;
  /** Called when the copy is in sync. */
  readonly waiting: Set<() => void>;
  synced: boolean;
  /** The newest resource version seen, from which the next watch starts; empty before the first list. */
  version: string;
  isListDue: boolean;
  listedAtMs: number;
  /** Since when lists are older than `version`, ms. */
  behindSinceMs: number | undefined;
  /** Lists and watches that failed in a row. */
  failures: number;
}

/** An informer with an empty copy; it does nothing before `run`. */
export function createInformer<T extends ApiObject>(options: InformerOptions<T>): Informer<T> {
  const cache = createObjectCache<T>(options.indexBy);
  const backoff = createBackoff({ maxMs: LONGEST_WAIT_MS, random: options.random });
  const state: InformerState<T> = {
    options,
    cache,
    backoff,
    subscribers: new Set(),
    waiting: new Set(),
    synced: false,
    version: "",
    isListDue: true,
    listedAtMs: 0,
    behindSinceMs: undefined,
    failures: 0,
  };
  return {
    get: cache.get,
    byIndex: cache.byIndex,
    all: cache.all,
    get synced() {
      return state.synced;
    },
    whenSynced: (signal) => whenSynced(state, signal),
    subscribe(onChange) {
      state.subscribers.add(onChange);
      return () => void state.subscribers.delete(onChange);
    },
    async run(signal) {
      try {
        while (!signal.aborted) await listOrFollow(state, signal);
      } finally {
        state.synced = false;
        state.isListDue = true;
      }
    },
  };
}

function whenSynced<T extends ApiObject>(
  state: InformerState<T>,
  signal: AbortSignal,
): Promise<boolean> {
  const { waiting } = state;
  if (state.synced || signal.aborted) return Promise.resolve(state.synced);
  return new Promise((resolve) => {
    const end = (): void => {
      waiting.delete(end);
      signal.removeEventListener("abort", end);
      resolve(state.synced);
    };
    waiting.add(end);
    signal.addEventListener("abort", end, { once: true });
  });
}

/** One step: lists, or follows the watch until it ends. */
async function listOrFollow<T extends ApiObject>(
  state: InformerState<T>,
  signal: AbortSignal,
): Promise<void> {
  if (state.isListDue) {
    const listed = await list(state, signal);
    if ("error" in listed && !signal.aborted) await recover(state, listed.error, signal);
    return;
  }
  const end = await followUntilDue(state, state.version, signal);
  if (signal.aborted) return;
  if ("error" in end) await recover(state, end.error, signal);
  else if (end.next === "list") state.isListDue = true;
}

async function list<T extends ApiObject>(
  state: InformerState<T>,
  signal: AbortSignal,
): Promise<Attempt<unknown>> {
  const { options: { source, clock }, cache, waiting } = state;
  const startedMs = clock.monotonic();
  const result = await attempt(async () => refuseOlder(state, await source.list(signal)));
  if ("error" in result || signal.aborted) return result;
  const changed = cache.replaceAll(result.value.items);
  state.version = result.value.resourceVersion;
  state.isListDue = false;
  state.listedAtMs = startedMs;
  state.synced = true;
  for (const resolve of waiting) resolve();
  notify(state, changed);
  return result;
}

/**
 * Returns the list, or throws if it is older than the copy: the error of Kubernetes for a version that it
 * has not reached. A list without a version in the request must be the newest, so only a server that
 * breaks this rule is refused; client-go names its newest version in the request instead.
 */
function refuseOlder<T extends ApiObject>(
  state: InformerState<T>,
  listed: ObjectList<T>,
): ObjectList<T> {
  const { options: { clock, name }, version } = state;
  const nowMs = clock.monotonic();
  const isOlder = isAtLeast(listed.resourceVersion, version) === false;
  if (isOlder) state.behindSinceMs ??= nowMs;
  if (!isOlder || nowMs - (state.behindSinceMs ?? nowMs) >= LONGEST_LAG_MS) {
    state.behindSinceMs = undefined;
    return listed;
  }
  const behind = `version ${listed.resourceVersion} after ${version}`;
  throw new ApiError(504, "Timeout", `Cannot use the list of ${name}: ${behind}`, {
    retryAfterMs: BEHIND_RETRY_MS,
  });
}

/** Follows until the watch ends or the next periodic list is due. */
async function followUntilDue<T extends ApiObject>(
  state: InformerState<T>,
  from: string,
  signal: AbortSignal,
): Promise<WatchEnd> {
  const { clock, relistEveryMs = Infinity } = state.options;
  const stream = new AbortController();
  const abort = (): void => stream.abort();
  signal.addEventListener("abort", abort, { once: true });
  const dueInMs = relistEveryMs - (clock.monotonic() - state.listedAtMs);
  const due = dueInMs === Infinity
    ? Promise.resolve()
    : clock.sleep(Math.max(0, dueInMs), stream.signal).then(abort);
  try {
    return await follow(state, from, stream);
  } finally {
    signal.removeEventListener("abort", abort);
    await due;
  }
}

async function follow<T extends ApiObject>(
  state: InformerState<T>,
  from: string,
  stream: AbortController,
): Promise<WatchEnd> {
  const { source, clock, name } = state.options;
  const startedMs = clock.monotonic();
  const iterator = source.watch(from, stream.signal)[Symbol.asyncIterator]();
  let received = false;
  let failure: { readonly error: unknown } | undefined;
  try {
    for (;;) {
      const step = await attempt(() => iterator.next());
      if (stream.signal.aborted) return { next: "list" };
      if ("error" in step) failure = step;
      if ("error" in step || step.value.done) break;
      received = true;
      apply(state, step.value.value);
    }
  } finally {
    if (clock.monotonic() - startedMs >= HEALTHY_WATCH_MS) {
      state.failures = 0;
      state.backoff.reset(name);
    }
    stream.abort();
    await attempt(async () => await iterator.return?.());
  }
  const lastedMs = clock.monotonic() - startedMs;
  if (failure !== undefined) return failure;
  if (received || lastedMs >= SHORTEST_WATCH_MS) return { next: "resume" };
  return { error: new Error(`Cannot follow ${name}: the watch ended after ${lastedMs} ms`) };
}

function apply<T extends ApiObject>(state: InformerState<T>, event: WatchEvent<T>): void {
  const { cache } = state;
  if (event.type === "BOOKMARK") {
    state.version = event.resourceVersion;
    return;
  }
  state.version = event.object.metadata.resourceVersion;
  notify(state, [event.type === "DELETED" ? cache.remove(event.object) : cache.put(event.object)]);
}

/** Waits after a failure; then the next step lists. */
async function recover<T extends ApiObject>(
  state: InformerState<T>,
  error: unknown,
  signal: AbortSignal,
): Promise<void> {
  const { options: { clock, log, name }, backoff } = state;
  state.synced = false;
  state.isListDue = true;
  const failures = ++state.failures;
  const waitMs = backoff.next(name, error);
  const expired = error instanceof ApiError && error.status === 410;
  if (expired && failures === 1) return;
  log.warn("List or watch failed", { kind: name, error: String(error), failures, waitMs });
  await clock.sleep(waitMs, signal);
}

function notify<T extends ApiObject>(
  { subscribers }: InformerState<T>,
  changes: Iterable<Change<T>>,
): void {
  for (const change of changes) {
    for (const onChange of subscribers) onChange(...change);
  }
}
