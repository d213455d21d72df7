/**
 * Whether the API server serves `pods/resize`: what an upgrade of the control plane may change while the
 * controller runs.
 *
 * @module
 */
import { ApiError } from "../shared/api/api_error.ts";
import type { Clock } from "../shared/clock.ts";
import type { Log } from "../shared/log.ts";
import type { AskCluster } from "./start_check.ts";

/** What it is asked with. */
export interface ServedResizeParts {
  readonly ask: AskCluster;
  readonly clock: Clock;
  readonly log: Log;
}

/** The last answer. */
export interface ServedResize {
  /** True where pods can be resized. */
  readonly served: boolean;
  /** Calls `onChange` after each other answer; the returned function ends it. */
  subscribe(onChange: () => void): () => void;
  /** Asks again now and then, until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

/** How often the server is asked again, ms. */
const ASK_AGAIN_MS = 300_000;

/** What needs `pods/resize` is off where it is not served; all else goes on. */
export function createServedResize(
  { ask, clock, log }: ServedResizeParts,
  first: boolean,
): ServedResize {
  const subscribers = new Set<() => void>();
  let served = first;

  function report(): void {
    if (served) log.info("The API server serves pods/resize");
    else {
      log.error(
        "The API server does not serve pods/resize: no limit is changed in place; it needs " +
          "Kubernetes 1.33 or newer with the feature gate InPlacePodVerticalScaling on",
      );
    }
  }

  if (!served) report();
  return {
    get served() {
      return served;
    },
    subscribe(onChange) {
      subscribers.add(onChange);
      return () => void subscribers.delete(onChange);
    },
    async run(signal) {
      while (!signal.aborted) {
        await clock.sleep(ASK_AGAIN_MS, signal);
        if (signal.aborted) return;
        try {
          const { servesPodResize } = await ask([]);
          if (servesPodResize === served) continue;
          served = servesPodResize;
        } catch (error) {
          if (error instanceof ApiError) continue;
          throw error;
        }
        report();
        for (const onChange of subscribers) onChange();
      }
    },
  };
}
