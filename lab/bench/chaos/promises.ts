/**
 * Promises that hold whatever is killed: those of `tests/faults/cluster_load.ts`, as far as pods, the
 * API server's record of resizes and the Lease show them.
 *
 * @module
 */
import type { Pod, QOSClass } from "../../../shared/api/pod.ts";
import { objectKey } from "../../../shared/control/object_key.ts";
import { qosClassOfPod } from "../../../shared/resize/inputs/qos.ts";
import { isMarketManager, originalsIn } from "../../../shared/resize/original_limits.ts";
import { BURST_FACTOR } from "../../../tests/faults/cluster/cluster_load.ts";
import type { ResizeAnswer } from "../audit_log.ts";
import type { Target } from "./plan.ts";

/** A broken promise. */
export interface BrokenPromise {
  readonly promise: string;
  readonly message: string;
}

/** A pod's limits, QoS class and membership from before the product saw it. */
export interface Baseline {
  /** The user's limits, millicores by container name. */
  readonly limits: ReadonlyMap<string, number>;
  readonly qosClass: QOSClass;
  /** False for a pod that never takes part in the market. */
  readonly managed: boolean;
}

/** A version of a pod, and the one before it where that was seen. */
export interface PodChange {
  readonly pod: Pod;
  readonly previous?: Pod | undefined;
  readonly baseline: Baseline;
  /** Its namespace is opted out for so long that no limit may be raised there any more. */
  readonly optedOut: boolean;
}

/** The promises that this version breaks. */
export function limitFaults({ pod, previous, baseline, optedOut }: PodChange): BrokenPromise[] {
  const key = objectKey(pod.metadata);
  const found: BrokenPromise[] = [];
  const violate = (promise: string, message: string): void =>
    void found.push({ promise, message: `${key}: ${message}` });
  if (pod.qosClass !== baseline.qosClass || qosClassOfPod(pod) !== baseline.qosClass) {
    violate("QoS", `${pod.qosClass} (by its resources ${qosClassOfPod(pod)})`);
  }
  for (const [index, { name, limits, requests, limitManagers }] of pod.containers.entries()) {
    const { cpu: limitCPU = Infinity } = limits;
    const { cpu: requestCPU = 0 } = requests;
    const own = baseline.limits.get(name) ?? Infinity;
    if (limitCPU < requestCPU) violate("LimitBelowRequest", `${limitCPU}m < ${requestCPU}m`);
    if (limitCPU === own) continue;
    if (!baseline.managed) violate("Unmanaged", `${limitCPU}m instead of ${own}m`);
    if (limitCPU > own * BURST_FACTOR) violate("Ceiling", `${limitCPU}m of ${own}m`);
    const before = previous?.containers[index]?.limits.cpu ?? limitCPU;
    const isOfMarket = limitManagers?.some(isMarketManager) === true;
    if (optedOut && isOfMarket && limitCPU !== before) {
      violate("OptedOut", `${before}m -> ${limitCPU}m`);
    }
  }
  return found;
}

/** Containers without the user's limit, of which the pod itself does not have the original one. */
export function notCarried({ containers }: Pick<Pod, "containers">, baseline: Baseline): string[] {
  const carried = originalsIn({ containers });
  return containers.flatMap(({ name, limits: { cpu: limitCPU } }) => {
    const own = baseline.limits.get(name);
    return limitCPU === own || carried.get(name) === own ? [] : [name];
  });
}

/** A time in which one pod held the Lease. */
export interface Term {
  readonly pod: string;
  /** When it took the Lease by its own clock, ms since 1970. */
  readonly sinceMs: number;
}

/** A request of the old leader may still arrive this long after another one took over, ms. */
const LEADER_LAG_MS = 500;

/** Resizes that succeeded for a pod of the controller while another one held the Lease. */
export function otherWriters(
  answers: readonly ResizeAnswer[],
  terms: readonly Term[],
): BrokenPromise[] {
  return answers.flatMap(({ at, code, writer, namespace, pod }): BrokenPromise[] => {
    if (code >= 300 || writer === "") return [];
    const atMs = Date.parse(at);
    const term = terms.findLast(({ sinceMs }) => sinceMs <= atMs);
    if (term === undefined || term.pod === writer || atMs - term.sinceMs < LEADER_LAG_MS) return [];
    const message = `${writer} resized ${namespace}/${pod} at ${at} while ${term.pod} leads`;
    return [{ promise: "OneLeader", message }];
  });
}

/** The end of a container of the product. */
export interface ProgramEnd {
  readonly pod: string;
  /** ms since 1970, known to the second. */
  readonly atMs: number;
  readonly reason: string;
  readonly exitCode: number;
}

/** A kill that was done. */
export interface DoneKill {
  readonly target: Target;
  readonly pod?: string;
  readonly killedMs: number;
}

const END_LAG_MS = 2500;
/** A leader that can't renew its Lease ends itself after 10 s; its server may be away longer, ms. */
const AFTERMATH_MS = 60_000;

/** The ends that no kill of the program itself caused. */
export function endsWithoutKill(
  ends: readonly ProgramEnd[],
  kills: readonly DoneKill[],
): readonly ProgramEnd[] {
  return ends.filter((end) =>
    !kills.some(({ pod, killedMs }) =>
      pod === end.pod && Math.abs(killedMs - end.atMs) < END_LAG_MS && end.exitCode === 137
    )
  );
}

/**
 * Ends without a cause. A controller may lose the Lease while the API server or etcd is away; an agent
 * has no reason to end.
 */
export function endFaults(
  ends: readonly ProgramEnd[],
  kills: readonly DoneKill[],
): BrokenPromise[] {
  const hasLostLease = ({ pod, atMs, exitCode }: ProgramEnd): boolean =>
    pod.startsWith("mbcas-controller") && exitCode === 1 &&
    kills.some(({ target, killedMs }) =>
      (target === "kube-apiserver" || target === "etcd") && atMs > killedMs &&
      atMs - killedMs < AFTERMATH_MS
    );
  return endsWithoutKill(ends, kills).filter((end) => !hasLostLease(end))
    .map(({ pod, atMs, reason, exitCode }) => {
      const at = new Date(atMs).toISOString();
      return { promise: "Restart", message: `${pod} ended at ${at}: ${reason}, code ${exitCode}` };
    });
}
