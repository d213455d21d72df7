/**
 * List and watch of one kind on a real API server.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { ApiObject, ListWatch, WatchEvent } from "../../shared/control/list_watch.ts";
import { type Log, silentLog } from "../../shared/log.ts";
import type { Random } from "../../shared/random.ts";
import { statusError } from "./answer_error.ts";
import type { KubeConnection } from "./connection.ts";
import { listOf, objectOf, textOf } from "./json_fields.ts";

/** Which objects, and how to read them. */
export interface KubeListWatchOptions<T extends ApiObject> extends ListWatchSurroundings {
  /** Of the collection, for instance `/api/v1/pods`. */
  readonly path: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /**
   * Narrows one object; what it throws leaves the object out, with a warning. An object may have
   * `unreadable`, a sentence, which is a warning, too.
   */
  readonly parse: (raw: unknown) => T;
}

/** What every list-watch may be given. */
export interface ListWatchSurroundings {
  /** Objects that can't be read are reported here. */
  readonly log?: Log;
  /**
   * Spreads the ends of watches: 5 to 10 min. Without it the server chooses, some 30 to 60 min.
   */
  readonly random?: Random;
}

/** Objects of one page of a list: some MB of JSON at most, whatever the cluster's size. */
const PAGE = 500;

const SHORTEST_WATCH_SECONDS = 300;

/** List-watch of the objects that the selectors match. */
export function kubeListWatch<T extends ApiObject>(
  connection: KubeConnection,
  options: KubeListWatchOptions<T>,
): ListWatch<T> {
  const { path, labelSelector, fieldSelector, parse, random, log = silentLog } = options;
  const selectors = {
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };

  function parseOrWarn(raw: unknown): T | undefined {
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

  async function readPage(query: Record<string, string>, signal: AbortSignal): Promise<Page<T>> {
    const body = await connection.request({ path, query: { ...selectors, ...query }, signal });
    const { metadata, items } = objectOf(body);
    const { resourceVersion, continue: next } = objectOf(metadata);
    const version = textOf(resourceVersion);
    if (version === undefined) {
      throw new ApiError(0, "BadAnswer", `GET ${path}: the list has no resourceVersion`);
    }
    const parsed = listOf(items).map(parseOrWarn).filter((item) => item !== undefined);
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

  function eventOf(line: unknown): WatchEvent<T> | undefined {
    const { type, object } = objectOf(line);
    if (type === "ERROR") throw statusError(object);
    const version = textOf(objectOf(objectOf(object).metadata).resourceVersion);
    if (version === undefined) return undefined;
    if (type === "BOOKMARK") return { type, resourceVersion: version };
    if (type !== "ADDED" && type !== "MODIFIED" && type !== "DELETED") return undefined;
    const parsed = parseOrWarn(object);
    if (parsed !== undefined) return { type, object: parsed };
    // Only a new list can tell that it is gone.
    if (type === "DELETED") throw new ApiError(410, "Expired", `${path}: a deletion is unreadable`);
    return { type: "BOOKMARK", resourceVersion: version };
  }

  return {
    async list(signal) {
      try {
        const { items, resourceVersion } = await readPages(signal);
        return { items, resourceVersion };
      } catch (error) {
        // The pages' snapshot has expired before the last one was read: once without pages.
        if (!(error instanceof ApiError) || error.status !== 410) throw error;
        const { items, resourceVersion } = await readPage({}, signal);
        return { items, resourceVersion };
      }
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
        const event = eventOf(line);
        if (event !== undefined) yield event;
        if (signal.aborted) return;
      }
    },
  };
}

interface Page<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  readonly next: string | undefined;
}
