/**
 * The limits and intentions of users: what the product must bring back, whatever happens.
 *
 * @module
 */
import type { Pod } from "../../../shared/api/pod.ts";

/** Which limits users want, by pod UID; CPU in millicores. */
export interface UserLimits {
  /** A user created the pod, or wrote these limits. */
  wrote(pod: Pod): void;
  /** The limit that the user set last; undefined for an unknown pod. */
  limitOf(uid: string, container: string): number | undefined;
  /**
   * The only record of the original limits is lost by a fault: the product must bring back the
   * template's, or report that it does not know them.
   */
  lose(uid: string): void;
  isLost(uid: string): boolean;
  /** The pod itself has the original limits again. */
  find(uid: string): void;
  /** A fault has taken the original limits from the pod itself, as it is in this generation. */
  forget(pod: Pod): void;
  /** Whether its record alone has the original limits: the market has not patched it since. */
  isForgotten(pod: Pod): boolean;
}

/** No pods yet. */
export function createUserLimits(): UserLimits {
  const limits = new Map<string, number>();
  const lost = new Set<string>();
  const forgotten = new Set<string>();
  const generationOf = ({ metadata: { uid, generation } }: Pod): string => `${uid} ${generation}`;
  return {
    wrote({ metadata: { uid }, containers }) {
      lost.delete(uid);
      for (const { name, limits: { cpu: limitCPU } } of containers) {
        if (limitCPU !== undefined) limits.set(`${uid}/${name}`, limitCPU);
      }
    },
    limitOf: (uid, container) => limits.get(`${uid}/${container}`),
    lose: (uid) => void lost.add(uid),
    isLost: (uid) => lost.has(uid),
    find: (uid) => void lost.delete(uid),
    forget: (pod) => void forgotten.add(generationOf(pod)),
    isForgotten: (pod) => forgotten.has(generationOf(pod)),
  };
}
