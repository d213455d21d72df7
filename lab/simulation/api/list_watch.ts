/**
 * Lists and watches of the simulated API, with the delays and breaks that a test asks for.
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { ListWatch, WatchEvent } from "../../../shared/control/informer.ts";
import type { ApiObject } from "../../../shared/api/object.ts";
import type { ApiAccess } from "./request_gate.ts";
import type { LogEntry } from "./event_sink.ts";
import type { KindName, StoredKinds } from "./kinds.ts";
import type { ObjectTable } from "./object_store.ts";

/** Times nearer than a microsecond are the same: `now + wait` may fall short by a rounding. */
const SAME_TIME_MS = 1e-3;

/** An object that begins to match appears, one that no longer does goes. */
function narrowed<T extends ApiObject>(
  { before, after, object }: LogEntry<T>,
  matches: (object: T) => boolean,
): WatchEvent<T> | undefined {
  const was = before !== undefined && matches(before);
  const is = after !== undefined && matches(after);
  if (is) return { type: was ? "MODIFIED" : "ADDED", object };
  return was ? { type: "DELETED", object } : undefined;
}

/** Waits that a call of `wake` cuts short. */
function createAlarm(clock: Clock): { wake(): void; wait(ms: number): Promise<void> } {
  let controller = new AbortController();
  return {
    wake: () => controller.abort(),
    wait(ms) {
      controller = new AbortController();
      return clock.sleep(ms, controller.signal);
    },
  };
}

/** The objects of a list-watch. */
export interface Selector {
  /** Only objects of this node; kinds without a node are not narrowed. */
  readonly nodeName?: string;
}

/** A quiet watch gets a bookmark after this, ms. */
const BOOKMARK_MS = 60_000;

/** List and watch of `kind`. */
export function createListWatch<K extends KindName>(
  { store, gate, clock, streams }: ApiAccess,
  kind: K,
  { nodeName }: Selector = {},
): ListWatch<StoredKinds[K]> {
  const table = store.tables[kind] as unknown as ObjectTable<StoredKinds[K]>;
  const { log } = table;
  const matches = (object: StoredKinds[K]): boolean =>
    nodeName === undefined || (table.nodeName(object) ?? nodeName) === nodeName;
  return {
    list() {
      return gate.send({ verb: "list", kind }, () => ({
        items: table.all().filter(matches),
        resourceVersion: String(store.version()),
      }));
    },
    /**
     * The events after `resourceVersion`, each a one-way delay after its write, in order. Ends when
     * `signal` is aborted or the server closes its streams; throws an `ApiError` with status 410 when
     * the history is gone, and with status 0 when the server stops.
     */
    async *watch(resourceVersion, signal) {
      const alarm = createAlarm(clock);
      // Writes of other kinds are many, so they do not wake the stream.
      let concerned = (): boolean => false;
      const dismiss = streams.onEvent(() => {
        if (concerned()) alarm.wake();
      });
      signal.addEventListener("abort", alarm.wake, { once: true });
      try {
        const from = Number(resourceVersion);
        let position = await gate.send({ verb: "watch", kind }, () => log.after(from));
        const epoch = gate.epoch;
        const closings = streams.closings();
        let quietSinceMs = clock.monotonic();
        let arrivesMs: number | undefined;
        concerned = () =>
          gate.epoch !== epoch || streams.closings() !== closings ||
          (arrivesMs === undefined && log.at(position) !== undefined);
        while (!signal.aborted && streams.closings() === closings) {
          if (gate.epoch !== epoch) {
            throw new ApiError(0, "Broken", "watch broken: connection lost");
          }
          const entry = log.at(position);
          if (entry !== undefined) arrivesMs ??= entry.atMs + gate.oneWayMs(kind);
          const waitMs = (arrivesMs ?? quietSinceMs + BOOKMARK_MS) - clock.monotonic();
          if (waitMs > SAME_TIME_MS) {
            await alarm.wait(waitMs);
            continue;
          }
          quietSinceMs = clock.monotonic();
          if (entry === undefined) {
            yield { type: "BOOKMARK", resourceVersion: String(store.version()) };
            continue;
          }
          position++;
          arrivesMs = undefined;
          const event = narrowed(entry, matches);
          if (event !== undefined) yield event;
        }
      } finally {
        dismiss();
        signal.removeEventListener("abort", alarm.wake);
      }
    },
  };
}
