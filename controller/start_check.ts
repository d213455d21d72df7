/**
 * Checks that the cluster serves what the controller needs, at the start and later.
 *
 * @module
 */
import { ApiError } from "../shared/api/api_error.ts";
import type { Node } from "../shared/api/node.ts";
import type { ApiFindings } from "../adapters/kube/client/api_checks.ts";
import type { Clock } from "../shared/clock.ts";
import { createBackoff } from "../shared/control/backoff.ts";
import type { Informer } from "../shared/control/informer.ts";
import type { Log } from "../shared/log.ts";
import type { Random } from "../shared/random.ts";
import { isOldKubelet } from "../shared/resize/checks/platform.ts";

/** Finds out what the server serves. Throws an `ApiError` when it does not answer. */
export type AskCluster = () => Promise<ApiFindings>;

/** Ports of the check. */
export interface StartCheckParts {
  readonly ask: AskCluster;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Receives the reason why the controller is not ready; undefined once it may begin. */
  readonly waitsFor: (reason: string | undefined) => void;
}

/** The server's features for in-place resizing. */
export type ResizeFindings = Pick<ApiFindings, "servesPodResize" | "lowersMemoryLimits">;

/** The end of the check: the server's features, or `stopped` while it waited. */
export type StartVerdict = ResizeFindings | "stopped";

/** Shortest and longest wait between two attempts, ms. */
const WAIT = { minMs: 1000, maxMs: 15_000 } as const;

const NO_DEFINITION =
  "the CustomResourceDefinition podallocations.allocation.mbcas.io is missing: apply manifests/crds";

/** Waits until the server answers and has a CustomResourceDefinition of this version or a newer one. */
export async function startCheck(
  { ask, clock, random, log, waitsFor }: StartCheckParts,
  signal: AbortSignal,
): Promise<StartVerdict> {
  const backoff = createBackoff({ ...WAIT, random });
  while (!signal.aborted) {
    let reason = NO_DEFINITION;
    let failure: unknown;
    try {
      const findings = await ask();
      const { servesAllocations, unknownFields } = findings;
      if (servesAllocations && unknownFields.length > 0) reason = oldDefinition(unknownFields);
      else if (servesAllocations) {
        waitsFor(undefined);
        const { serverVersion: server, servesPodResize, lowersMemoryLimits } = findings;
        log.info("The cluster has what is needed", { server, servesPodResize });
        return { servesPodResize, lowersMemoryLimits };
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      failure = error;
      reason = `the API server does not answer the start check: ${error.message}`;
    }
    const waitMs = backoff.next("", failure);
    waitsFor(reason);
    log.warn("Waiting", { reason, waitMs: Math.round(waitMs) });
    await clock.sleep(waitMs, signal);
  }
  return "stopped";
}

/** Most missing fields that the message names. */
const MOST_FIELDS = 5;

function oldDefinition(fields: readonly string[]): string {
  const named = fields.slice(0, MOST_FIELDS).join(", ");
  const more = fields.length > MOST_FIELDS ? ` and ${fields.length - MOST_FIELDS} more` : "";
  return `the CustomResourceDefinition podallocations.allocation.mbcas.io is older than this ` +
    `controller and lacks ${named}${more}: apply manifests/crds of its version`;
}

/** Whether the API server serves `pods/resize`: an upgrade may change that. */
export interface ServedResize {
  readonly served: boolean;
  /** True where memory limits can be lowered in place. */
  readonly lowersMemoryLimits: boolean;
  /** Calls `onChange` when `served` has changed, until the returned function is called. */
  subscribe(onChange: () => void): () => void;
  /** Asks the server every five minutes, until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

/** How often the server is asked again, ms. */
const ASK_AGAIN_MS = 300_000;

/** Follows whether `pods/resize` is served; without it, parts that need it are off. */
export function createServedResize(
  { ask, clock, log }: Pick<StartCheckParts, "ask" | "clock" | "log">,
  first: ResizeFindings,
): ServedResize {
  const subscribers = new Set<() => void>();
  let found = first;

  function report(): void {
    if (found.servesPodResize) log.info("The API server serves pods/resize");
    else {
      log.error(
        "The API server does not serve pods/resize: no limit is changed in place; it needs " +
          "Kubernetes 1.33 or newer with the feature gate InPlacePodVerticalScaling on",
      );
    }
  }

  if (!found.servesPodResize) report();
  return {
    get served() {
      return found.servesPodResize;
    },
    get lowersMemoryLimits() {
      return found.lowersMemoryLimits;
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
          const before = found;
          found = await ask();
          if (found.servesPodResize === before.servesPodResize) continue;
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

/**
 * Logs each node with a kubelet that can't resize pods in place once, until the returned function is
 * called. Its pods are out of the market's scope.
 */
export function reportOldKubelets(
  nodes: Pick<Informer<Node>, "get" | "subscribe">,
  log: Log,
): () => void {
  return nodes.subscribe((key, before) => {
    const { kubeletVersion, metadata } = nodes.get(key) ?? {};
    if (metadata === undefined || !isOldKubelet(kubeletVersion)) return;
    if (before?.kubeletVersion === kubeletVersion) return;
    log.warn("The node's kubelet can't resize pods in place: it needs 1.33 or newer", {
      node: metadata.name,
      kubelet: kubeletVersion,
    });
  });
}
