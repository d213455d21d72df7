/**
 * List and watch of one kind on a real API server.
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { ListWatch, WatchEvent } from "../../../shared/control/informer.ts";
import type { ApiObject } from "../../../shared/api/object.ts";
import { type Log, silentLog } from "../../../shared/log.ts";
import type { Random } from "../../../shared/random.ts";
import { type KubeConnection, type ResourcePath, resourcePath } from "./connection.ts";
import { listOf, objectOf, present, textOf } from "./json_fields.ts";
import { statusError } from "./response_errors.ts";

/** A kind: its collection, and the parser of its objects. */
export interface Kind<T extends ApiObject> extends Pick<ResourcePath, "groupVersion" | "resource"> {
  /**
   * Parses one object. An object for which it throws is left out, with a warning; one with a field
   * `unreadable`, a sentence, is kept, with a warning.
   */
  readonly parse: (raw: unknown) => T;
}

/** Which objects of the kind, and how to watch them. */
export interface ListWatchOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  /** For instance `spec.nodeName=node-1`. */
  readonly fieldSelector?: string;
  /** Receives warnings about objects that can't be read. */
  readonly log?: Log;
  /** Draws the lengths of watches, 5 to 10 min. Without it the server does, 30 to 60 min. */
  readonly random?: Random;
}

/** Opens a list-watch of one kind, by default of all its objects. */
export type OpenListWatch<T extends ApiObject> = (
  connection: KubeConnection,
  options?: ListWatchOptions,
) => ListWatch<T>;

/** Objects per page of a list: some MB of JSON at most, whatever the cluster's size. */
const PAGE = 500;

const SHORTEST_WATCH_SECONDS = 300;

interface Page<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  readonly next: string | undefined;
}

/** The list-watch of a kind. */
export function listWatchOf<T extends ApiObject>(
  { groupVersion, resource, parse }: Kind<T>,
): OpenListWatch<T> {
  return (connection, options = {}) => {
    const { namespace, labelSelector, fieldSelector, random, log = silentLog } = options;
    const path = resourcePath({ groupVersion, resource, ...present("namespace", namespace) });
    const selectors = {
      ...present("labelSelector", labelSelector),
      ...present("fieldSelector", fieldSelector),
    };
    const read = (raw: unknown): T | undefined => parseOrWarn(raw, { path, parse, log });

    async function readPage(query: Record<string, string>, signal: AbortSignal): Promise<Page<T>> {
      const body = await connection.request({ path, query: { ...selectors, ...query }, signal });
      const { metadata, items } = objectOf(body);
      const { resourceVersion, continue: next } = objectOf(metadata);
      const version = textOf(resourceVersion);
      if (version === undefined) {
        throw new ApiError(0, "BadAnswer", `GET ${path}: the list has no resourceVersion`);
      }
      const parsed = listOf(items).map(read).filter((item) => item !== undefined);
      return { items: parsed, resourceVersion: version, next: textOf(next) };
    }

    async function readPages(signal: AbortSignal): Promise<Page<T>> {
      const limit = String(PAGE);
      let page = await readPage({ limit }, signal);
      const items = [...page.items];
      while (page.next !== undefined) {
        page = await readPage({ limit, continue: page.next }, signal);
        items.push(...page.items);
      }
      return { ...page, items };
    }

    return {
      async list(signal) {
        const { items, resourceVersion } = await readPages(signal).catch((error) => {
          // The snapshot expired before the last page was read: lists again without pages.
          if (error instanceof ApiError && error.status === 410) return readPage({}, signal);
          throw error;
        });
        return { items, resourceVersion };
      },
      async *watch(resourceVersion, signal) {
        const query = {
          ...selectors,
          watch: "true",
          allowWatchBookmarks: "true",
          resourceVersion,
          ...(random === undefined ? {} : {
            timeoutSeconds: String(Math.floor(SHORTEST_WATCH_SECONDS * (1 + random.next()))),
          }),
        };
        for await (const line of connection.lines({ path, query, signal })) {
          const event = eventOf(line, { path, read });
          if (event !== undefined) yield event;
          if (signal.aborted) return;
        }
      },
    };
  };
}

function parseOrWarn<T extends ApiObject>(
  raw: unknown,
  { path, parse, log }: {
    readonly path: string;
    readonly parse: (raw: unknown) => T;
    readonly log: Log;
  },
): T | undefined {
  try {
    const object: T & { readonly unreadable?: string } = parse(raw);
    if (object.unreadable !== undefined) {
      const { namespace, name } = object.metadata;
      const error = object.unreadable;
      log.warn("An object of the API can't be read in full", { path, namespace, name, error });
    }
    return object;
  } catch (error) {
    const { namespace, name } = objectOf(objectOf(raw).metadata);
    log.warn("An object of the API can't be read and is left out", {
      path,
      namespace: textOf(namespace),
      name: textOf(name),
      error: String(error),
    });
    return undefined;
  }
}

/** The event of a line; undefined for an unknown type. */
function eventOf<T extends ApiObject>(
  line: unknown,
  { path, read }: { readonly path: string; readonly read: (raw: unknown) => T | undefined },
): WatchEvent<T> | undefined {
  const { type, object } = objectOf(line);
  if (type === "ERROR") throw statusError(object);
  const version = textOf(objectOf(objectOf(object).metadata).resourceVersion);
  if (version === undefined) return undefined;
  if (type === "BOOKMARK") return { type, resourceVersion: version };
  if (type !== "ADDED" && type !== "MODIFIED" && type !== "DELETED") return undefined;
  const parsed = read(object);
  if (parsed !== undefined) return { type, object: parsed };
  // Only a new list can show which object is gone.
  if (type === "DELETED") throw new ApiError(410, "Expired", `${path}: a deletion is unreadable`);
  return { type: "BOOKMARK", resourceVersion: version };
}

/** Interval at which a server that does not serve the kind is asked again, ms. */
const RETRY_MS = 60_000;

/**
 * A kind that was served is gone after lists got only 404 for this long, ms: while API servers restart, one
 * of them may not know a kind yet.
 */
const GONE_AFTER_MS = 5000;

/** The version of a list that is empty because the kind is not served. */
const NOT_SERVED = "";

/**
 * As `source`, but empty while the server does not serve the kind (404), with a retry every minute. The
 * deletion of a CRD ends the watch, and lists are empty from {@linkcode GONE_AFTER_MS} later on.
 */
export function optionalKind<T extends ApiObject>(
  source: ListWatch<T>,
  clock: Clock,
): ListWatch<T> {
  /** When the kind counts as gone: -Infinity while it is not served, Infinity while it is. */
  let goneAtMs = -Infinity;
  return {
    async list(signal) {
      try {
        const listed = await source.list(signal);
        goneAtMs = Infinity;
        return listed;
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 404) {
          if (goneAtMs > -Infinity) goneAtMs = Infinity;
          throw error;
        }
        goneAtMs = Math.min(goneAtMs, clock.monotonic() + GONE_AFTER_MS);
        if (clock.monotonic() < goneAtMs) throw error;
        goneAtMs = -Infinity;
        return { items: [], resourceVersion: NOT_SERVED };
      }
    },
    async *watch(resourceVersion, signal) {
      if (resourceVersion !== NOT_SERVED) return yield* source.watch(resourceVersion, signal);
      await clock.sleep(RETRY_MS, signal);
      if (!signal.aborted) throw new ApiError(410, "Expired", "the kind may be served by now");
    },
  };
}
