/**
 * Sends the changes of a pod, whatever source they are of: no other code of the controller patches
 * `pods/resize`.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import {
  type LimitChange,
  patchParts,
  type PodChanges,
  resizePatch,
  type ResourceChange,
} from "../../shared/resize/patch.ts";
import type { PodResizer } from "./ports.ts";

/** What the server answered. */
export interface SentChanges<Change extends ResourceChange> {
  /** Those that it took. */
  readonly changes: readonly Change[];
  /** The pod's resourceVersion after them; absent when it took none. */
  readonly version?: string;
  /** Its refusal, which ends it: what is left over is seen with the next reconcile. */
  readonly refusal?: ApiError;
}

/**
 * Sends one patch, or two where values have two owners. The server refuses a part that is pinned when it
 * has a newer version of the pod. Throws what is no answer of the server.
 */
export async function sendChanges<Change extends ResourceChange>(
  asked: PodChanges<Change>,
  { resizer }: { readonly resizer: PodResizer },
): Promise<SentChanges<Change | LimitChange>> {
  const { namespace, name, uid } = asked.pod.metadata;
  const changes: (Change | LimitChange)[] = [];
  let { resourceVersion } = asked.pod.metadata;
  let version: string | undefined;
  for (const { manager, pinned, isLift, ...part } of patchParts(asked)) {
    const patch = resizePatch(uid, part.changes, pinned ? { resourceVersion } : {});
    try {
      version = resourceVersion = await resizer.resize(namespace, name, patch, { manager });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { changes, refusal: error, ...(version === undefined ? {} : { version }) };
    }
    if (isLift !== true) changes.push(...part.changes);
  }
  return { changes, ...(version === undefined ? {} : { version }) };
}
