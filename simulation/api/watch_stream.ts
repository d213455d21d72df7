/**
 * A watch of the simulated server: what was written after a version, narrowed by a selector.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { Clock } from "../../shared/clock.ts";
import type { WatchEvent } from "../../shared/control/list_watch.ts";
import type { ApiObject } from "../../shared/api/object.ts";
import type { Streams } from "./api_access.ts";
import type { EventLog, LogEntry } from "./event_log.ts";
import type { RequestGate } from "./request_gate.ts";
import type { KindName } from "./stored_kind.ts";

/** What a watch reads. */
export interface WatchSource<T extends ApiObject> {
  readonly kind: KindName;
  readonly log: EventLog<T>;
  readonly gate: RequestGate;
  readonly clock: Clock;
  /** The selector. */
  matches(object: T): boolean;
  /** Version of the last write of whatever kind, for bookmarks. */
  version(): number;
  readonly streams: Streams;
}

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

/**
 * The events after `resourceVersion`, each a one-way delay after its write, in order. Ends when
 * `signal` is aborted or the server closes its streams; throws an `ApiError` with status 410 when
 * the history is gone, and with status 0 when the server stops.
 */
export async function* watchStream<T extends ApiObject>(
  source: WatchSource<T>,
  resourceVersion: string,
  { signal }: { readonly signal: AbortSignal },
): AsyncGenerator<WatchEvent<T>, void> {
  const { clock, gate, log, streams } = source;
  const alarm = createAlarm(clock);
  // Writes of other kinds are many, so they do not wake the stream.
  let concerned = (): boolean => false;
  const dismiss = streams.onNews(() => {
    if (concerned()) alarm.wake();
  });
  signal.addEventListener("abort", alarm.wake, { once: true });
  try {
    const from = Number(resourceVersion);
    let position = await gate.send({ verb: "watch", kind: source.kind }, () => log.after(from));
    const epoch = gate.epoch;
    const closings = streams.closings();
    let quietSinceMs = clock.monotonic();
    let arrivesMs: number | undefined;
    concerned = () =>
      gate.epoch !== epoch || streams.closings() !== closings ||
      (arrivesMs === undefined && log.at(position) !== undefined);
    while (!signal.aborted && streams.closings() === closings) {
      if (gate.epoch !== epoch) throw new ApiError(0, "Broken", "watch broken: connection lost");
      const entry = log.at(position);
      if (entry !== undefined) arrivesMs ??= entry.atMs + gate.oneWayMs(source.kind);
      const dueMs = arrivesMs ?? quietSinceMs + streams.bookmarkMs;
      const waitMs = dueMs - clock.monotonic();
      if (waitMs > SAME_TIME_MS) {
        await alarm.wait(waitMs);
        continue;
      }
      quietSinceMs = clock.monotonic();
      if (entry === undefined) {
        yield { type: "BOOKMARK", resourceVersion: String(source.version()) };
        continue;
      }
      position++;
      arrivesMs = undefined;
      const event = narrowed(entry, source.matches);
      if (event !== undefined) yield event;
    }
  } finally {
    dismiss();
    signal.removeEventListener("abort", alarm.wake);
  }
}
