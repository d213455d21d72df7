/**
 * A map that outlives the process: compressed JSON in a few ConfigMaps, its shards.
 *
 * The hash of a key names its shard. Where a shard outgrows a ConfigMap, the number of shards doubles, and
 * half of the entries of each move to a new one. New shards are written first: a crash in between leaves
 * entries twice and loses none.
 *
 * Only the process that leads may save: shards are written without a check of their version.
 *
 * @module
 */
import { ApiError } from "../api/api_error.ts";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import { createBackoff } from "./backoff.ts";
import { within } from "./time_limit.ts";

/** The data of a ConfigMap. */
export interface Checkpoint {
  readonly name: string;
  readonly data: Readonly<Record<string, string>>;
}

/** ConfigMaps that only this program writes. All methods throw an `ApiError`. */
export interface CheckpointStore {
  /** Reads all of them. */
  list(signal: AbortSignal): Promise<readonly Checkpoint[]>;
  /** Writes one over any earlier one. */
  apply(checkpoint: Checkpoint, signal: AbortSignal): Promise<void>;
  /** Deletes one, if it exists. */
  remove(name: string, signal: AbortSignal): Promise<void>;
}

/** Parts and settings of a map. */
export interface PersistedMapOptions<T> {
  readonly store: CheckpointStore;
  /** Names of the shards are this and a number. */
  readonly prefix: string;
  /** Content of the map, for logs: `usage history`. */
  readonly holds: string;
  /** Returns the value as JSON. */
  readonly encode: (value: T) => unknown;
  /** Inverts `encode`. Throws a `SyntaxError` for anything else. */
  readonly decode: (stored: unknown) => T;
  readonly clock: Clock;
  readonly log: Log;
  /** Most bytes of a shard. @default {900_000} */
  readonly maxBytes?: number;
}

/** How {@linkcode PersistedMap.load} treats failures. */
export interface LoadOptions {
  /** Called with each failure before the next attempt. */
  readonly failed?: (message: string) => void;
  /** Whether to begin empty after a 403, rather than to try again. @default {false} */
  readonly emptyIfForbidden?: boolean;
}

/** The map. A change is written by the next save. */
export interface PersistedMap<T> {
  get(key: string): T | undefined;
  entries(): Iterable<[string, T]>;
  /** Sets a value; needed for a value that was changed in place, too, to save it. */
  set(key: string, value: T): void;
  delete(key: string): void;
  /**
   * Replaces all entries by those in the ConfigMaps; retries until these can be read. Damaged entries and
   * shards are logged and left out. Resolves with false if `signal` is aborted first.
   */
  load(signal: AbortSignal, options?: LoadOptions): Promise<boolean>;
  /**
   * Resolves when all changes so far are written, one shard after the other. Throws the error of a write;
   * the next save writes what is left.
   */
  save(signal: AbortSignal): Promise<void>;
  /** Saves; of failures in a row the first one is logged. */
  saveOrLog(signal: AbortSignal): Promise<void>;
  /** Calls `saveOrLog` every {@linkcode SAVE_MS} until `signal` is aborted. */
  saveRegularly(signal: AbortSignal): Promise<void>;
  /** Saves for the last time, within {@linkcode END_MS}. */
  saveAtEnd(): Promise<void>;
}

/**
 * A ConfigMap's values hold 2^20 bytes together (MaxSecretSize in k8s.io/kubernetes/pkg/apis/core, which
 * its validation uses).
 */
const MAX_BYTES = 900_000;
const MAX_SHARDS = 1024;
/** The ConfigMap's key. */
const ENTRIES = "entries";
/** Longest wait between two attempts to read, ms. */
const LONGEST_WAIT_MS = 60_000;
/** Between two regular saves, ms. */
const SAVE_MS = 180_000;
/** Time for the last save, ms. */
const END_MS = 5000;
/** Characters that are compressed between two pauses, about 5 ms. */
const CHUNK = 200_000;
/** Last characters of a gzip text in base64, with CRC-32 and length of the content. */
const TRAILER = 16;
/** Stands for the trailer of a shard while its stored text is not known: the next save writes it. */
const UNKNOWN = "unknown";

/** The entries, and the state of the shards by number. */
interface MapState<T> {
  readonly options: PersistedMapOptions<T>;
  readonly values: Map<string, T>;
  /** Trailers of the texts in the ConfigMaps: they show whether a text differs. */
  readonly stored: Map<number, string>;
  readonly changed: Set<number>;
  /** Number of shards: a power of two. */
  shards: number;
}

/** An empty map. */
export function createPersistedMap<T>(options: PersistedMapOptions<T>): PersistedMap<T> {
  const { store, holds, clock, log } = options;
  const values = new Map<string, T>();
  const [stored, changed] = [new Map<number, string>(), new Set<number>()];
  const state: MapState<T> = { options, values, stored, changed, shards: 1 };
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let saveFails = false;

  function save(signal: AbortSignal): Promise<void> {
    next ??= (async () => {
      await running?.catch(() => undefined);
      next = undefined;
      running = writeChanged(state, signal);
      await running;
    })();
    return next;
  }

  async function saveOrLog(signal: AbortSignal): Promise<void> {
    try {
      await save(signal);
      saveFails = false;
    } catch (error) {
      if (!saveFails && !signal.aborted) {
        log.warn("Failed to persist state", { holds, error: messageOf(error) });
      }
      saveFails = true;
    }
  }

  return {
    get: (key) => values.get(key),
    entries: () => values.entries(),
    set(key, value) {
      values.set(key, value);
      changed.add(shardOf(state, key));
    },
    delete(key) {
      if (values.delete(key)) changed.add(shardOf(state, key));
    },
    async load(signal, { failed, emptyIfForbidden = false } = {}) {
      for (const each of [values, stored, changed]) each.clear();
      const backoff = createBackoff({ maxMs: LONGEST_WAIT_MS });
      while (!signal.aborted) {
        try {
          await readShards(state, await store.list(signal));
          return true;
        } catch (error) {
          if (signal.aborted) break;
          const isEmpty = emptyIfForbidden && error instanceof ApiError && error.status === 403;
          const becomes = isEmpty ? "begins empty" : "tries again";
          log.warn("Failed to read persisted state", { holds, error: messageOf(error), becomes });
          failed?.(messageOf(error));
          if (isEmpty) return true;
          await clock.sleep(backoff.next("load", error), signal);
        }
      }
      return false;
    },
    save,
    saveOrLog,
    async saveRegularly(signal) {
      while (!signal.aborted) {
        await clock.sleep(SAVE_MS, signal);
        if (!signal.aborted) await saveOrLog(signal);
      }
    },
    saveAtEnd() {
      const onTimeout = () => log.warn("Shutdown timed out before state was persisted", { holds });
      return within(saveOrLog, { clock, ms: END_MS, onTimeout });
    },
  };
}

async function readShards<T>(
  state: MapState<T>,
  checkpoints: readonly Checkpoint[],
): Promise<void> {
  const { options: { prefix, holds, log }, stored, changed } = state;
  const found = checkpoints.flatMap(({ name, data }) => {
    const index = name.startsWith(prefix) ? name.slice(prefix.length) : "";
    return /^\d{1,4}$/.test(index) ? [{ name, index: Number(index), data }] : [];
  }).toSorted((a, b) => b.index - a.index);
  const [last] = found;
  state.shards = 1;
  while (last !== undefined && state.shards <= last.index) state.shards *= 2;
  for (const { name, index, data } of found) {
    stored.set(index, UNKNOWN);
    try {
      const text = data[ENTRIES] ?? "";
      const entries = await decodeEntries(text);
      stored.set(index, text.slice(-TRAILER));
      for (const [key, value] of entries) takeEntry(state, key, { value, index, name });
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      const fields = { holds, name, error: error.message };
      log.warn("Cannot read persisted shard: it counts as empty", fields);
      changed.add(index);
    }
  }
}

/** Takes a stored entry. One in another shard than its key's is left from a crash while shards doubled. */
function takeEntry<T>(
  state: MapState<T>,
  key: string,
  { value, index, name }: {
    readonly value: unknown;
    readonly index: number;
    readonly name: string;
  },
): void {
  const { options: { decode, holds, log }, values, changed } = state;
  const shard = shardOf(state, key);
  if (shard !== index) {
    changed.add(index);
    if (values.has(key)) return;
    changed.add(shard);
  }
  try {
    values.set(key, decode(value));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    changed.add(index);
    const fields = { holds, name, key, error: error.message };
    log.warn("Cannot read persisted entry: it is left out", fields);
  }
}

async function writeChanged<T>(state: MapState<T>, signal: AbortSignal): Promise<void> {
  const { options: { store, prefix }, stored, changed } = state;
  for (const index of [...changed].toSorted((a, b) => b - a)) {
    changed.delete(index);
    const text = await textOf(state, index);
    if (text === undefined) {
      state.shards *= 2;
      for (let shard = 0; shard < state.shards; shard++) changed.add(shard);
      return await writeChanged(state, signal);
    }
    const trailer = text.slice(-TRAILER);
    if (trailer === (stored.get(index) ?? "")) continue;
    try {
      signal.throwIfAborted();
      // Until the server answers, the ConfigMap may have either text.
      stored.set(index, UNKNOWN);
      const name = `${prefix}${index}`;
      if (text === "") await store.remove(name, signal);
      else await store.apply({ name, data: { [ENTRIES]: text } }, signal);
      stored.set(index, trailer);
    } catch (error) {
      // Throws before lower shards are written: they keep the entries that move to this one.
      changed.add(index);
      throw error;
    }
  }
}

/** The shard's text; empty where it has no entries, undefined where it is too large. */
async function textOf<T>(state: MapState<T>, index: number): Promise<string | undefined> {
  const { options: { encode, clock, maxBytes = MAX_BYTES }, values, shards } = state;
  const entries = [...values].filter(([key]) => shardOf(state, key) === index);
  if (entries.length === 0) return "";
  entries.sort(([a], [b]) => a < b ? -1 : 1);
  const text = await encodeEntries(entries, { encode, pause: () => clock.sleep(0) });
  const isDivisible = entries.length > 1 && shards < MAX_SHARDS;
  return isDivisible && text.length > maxBytes ? undefined : text;
}

function shardOf({ shards }: Pick<MapState<unknown>, "shards">, key: string): number {
  return hashOf(key) % shards;
}

/**
 * The entries as one JSON object, compressed by gzip, in base64. `pause` is awaited after each chunk, to let
 * other work run, which may change later values.
 */
export async function encodeEntries<T>(
  entries: Iterable<readonly [string, T]>,
  { encode, pause }: {
    readonly encode: (value: T) => unknown;
    readonly pause?: () => Promise<void>;
  },
): Promise<string> {
  async function* parts(): AsyncGenerator<string> {
    let separator = "{";
    let characters = 0;
    for (const [key, value] of entries) {
      const json = `${separator}${JSON.stringify(key)}:${JSON.stringify(encode(value))}`;
      yield json;
      separator = ",";
      characters += json.length;
      if (characters < CHUNK) continue;
      characters = 0;
      await pause?.();
    }
    yield separator === "{" ? "{}" : "}";
  }
  const text = ReadableStream.from(parts()).pipeThrough(new TextEncoderStream());
  const compressed = new Response(text.pipeThrough(new CompressionStream("gzip")));
  return (await compressed.bytes()).toBase64();
}

/** Inverts {@linkcode encodeEntries}. Throws a `SyntaxError` for any other text. */
export async function decodeEntries(text: string): Promise<readonly [string, unknown][]> {
  try {
    const compressed = new Blob([Uint8Array.fromBase64(text)]).stream();
    const plain = new Response(compressed.pipeThrough(new DecompressionStream("gzip")));
    const entries: unknown = await plain.json();
    if (typeof entries === "object" && entries !== null) return Object.entries(entries);
  } catch (error) {
    // Streams throw a `TypeError` for what is not gzip.
    if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error;
    throw new SyntaxError(`Cannot read entries: ${error.message}`);
  }
  throw new SyntaxError("Cannot read entries: they are not a JSON object");
}

/** FNV-1a over the characters (Fowler, Noll, Vo). */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
