/**
 * Sends limits, each under the field manager that says whose value it is.
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import { netChange } from "../../../shared/resize/cut_raises.ts";
import { marketManager } from "../../../shared/resize/original_limits.ts";
import { type LimitChange, resizePatch } from "../../../shared/resize/patch.ts";
import type { PodResizer } from "../ports.ts";

/** The two hands that set limits. */
export interface LimitHands {
  /** Writes the market's limits, under a name that carries the user's own. */
  readonly resizer: PodResizer;
  /** Writes limits that are the user's own value, whoever wants them. */
  readonly restorer: PodResizer;
}

/** What is to be sent. */
export interface LimitsToSend {
  /** As cached: the server refuses the patch when it has a newer one. */
  readonly pod: Pod;
  /** One at least. */
  readonly changes: readonly LimitChange[];
  /** The user's own limits, millicores by container name. */
  readonly own: ReadonlyMap<string, number>;
}

/** What the server said. */
export interface SentLimits {
  /** Those that it took. */
  readonly changes: readonly LimitChange[];
  /** The pod's resourceVersion after them; absent when it took none. */
  readonly version?: string;
  /** Its refusal; absent when it took any: what is left over is seen at the next look. */
  readonly refusal?: ApiError;
}

/**
 * Sends one patch, or two where the market wants the user's own value for some containers and another
 * one for others: a limit that is the user's own must never be on record as the market's, for a later
 * restore finds nothing to change in it. Throws what is no answer of the server.
 */
export async function sendLimits(
  { pod, changes, own }: LimitsToSend,
  { resizer, restorer }: LimitHands,
): Promise<SentLimits> {
  const isOwn = ({ name, limitCPU }: LimitChange): boolean => own.get(name) === limitCPU;
  const parcels = [
    { hand: restorer, changes: changes.filter(isOwn), options: {} },
    {
      hand: resizer,
      changes: changes.filter((change) => !isOwn(change)),
      options: { manager: marketManager(pod, own) },
    },
  ].filter((parcel) => parcel.changes.length > 0);
  // What sets CPU free goes first: between the two patches the pod takes no more than before or after.
  parcels.sort((a, b) => netOf(pod, a.changes) - netOf(pod, b.changes));
  const { namespace, name, uid } = pod.metadata;
  const sent: LimitChange[] = [];
  let { resourceVersion } = pod.metadata;
  for (const parcel of parcels) {
    const patch = resizePatch(uid, parcel.changes, { resourceVersion });
    try {
      resourceVersion = await parcel.hand.resize(namespace, name, patch, parcel.options);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (sent.length === 0) return { changes: [], refusal: error };
      break;
    }
    sent.push(...parcel.changes);
  }
  return { changes: sent, version: resourceVersion };
}

/** By how much the changes move the pod's total, millicores. */
export function netOf(pod: Pod, changes: readonly LimitChange[]): number {
  return netChange(pod, new Map(changes.map((change) => [change.name, change])));
}
