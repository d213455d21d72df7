/**
 * Pods that are sampled, and their workloads: a policy measures those by metrics-server.
 *
 * @module
 */
import {
  controls,
  type ReplicaSetLookup,
  workloadsOf,
} from "../../../shared/resize/workloads_of.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { Workload } from "../../../shared/api/workload.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { Informer } from "../../../shared/control/informer.ts";
import {
  ownContainers,
  type RightsizedWorkload,
  rightsizedWorkload,
} from "../../../shared/rightsizing/guards/rightsizing_facts.ts";
import { workloadKey } from "../../../shared/rightsizing/policy_match.ts";
import type { PolicySpec } from "../../../shared/rightsizing/policy_spec.ts";
import type { UsageProblem, WorkloadIdentity } from "../ports.ts";

/** What one pod used at a time. */
export interface PodUsage {
  readonly namespace: string;
  readonly pod: string;
  /** Ms since 1970, by its node's clock. */
  readonly timeMs: number;
  /** Millicores and bytes. */
  readonly containers: readonly {
    readonly name: string;
    readonly cpu: number;
    readonly memory: number;
  }[];
}

/** Reads what all pods use now. */
export interface PodMetrics {
  /** Never rejects; `signal` ends the wait. */
  read(
    signal: AbortSignal,
  ): Promise<
    { readonly pods: readonly PodUsage[]; readonly unreadable: number } | UsageProblem
  >;
}

/** The workload of a pod, and what is kept of its usage. */
export interface PodOwner {
  readonly workload: WorkloadIdentity;
  /** Init containers left out. */
  readonly containers: readonly string[];
  /** How long what it uses counts: whole milliseconds. */
  readonly windowMs: number;
}

/** What the caches know of pods and workloads. */
export interface PodOwners {
  /** Undefined where no policy needs usage of the pod. */
  ownerOf(pod: { readonly namespace: string; readonly name: string }): PodOwner | undefined;
  /** False where no policy needs usage of any pod. */
  isWanted(): boolean;
  /** False only where the workload is known to be gone. */
  exists(workload: { readonly namespace: string; readonly uid: string }): boolean;
}

/** Where pods, workloads and policies are read. */
export interface SampledPodsParts {
  readonly pods: Pick<Informer<Pod>, "get">;
  /** The workload of a kind under `namespace/name`. */
  readonly workload: (kind: string, key: string) => Workload | undefined;
  readonly replicaSet: ReplicaSetLookup;
  /** Whether a workload of this UID is there; undefined while that is not known. */
  readonly workloadUIDs: () => ReadonlySet<string> | undefined;
  /** All that can be read, the disabled ones too. */
  readonly policies: () => Iterable<Pick<PolicySpec, "mode" | "provider">>;
  /** The policy that counts for a workload. */
  readonly policyOf: (workload: RightsizedWorkload) => PolicySpec | undefined;
  readonly clock: Pick<Clock, "monotonic">;
}

/** All pods ask within one reading: its answers count for so long, ms. */
const FRESH_MS = 10_000;

/** Owners as the copies have them. */
export function createSampledPods(parts: SampledPodsParts): PodOwners {
  const { pods, workload, replicaSet, workloadUIDs, policies, policyOf, clock } = parts;
  const known = new Map<string, PodOwner | undefined>();
  let begunAt = -Infinity;

  function ownerOf(found: RightsizedWorkload): PodOwner | undefined {
    const key = workloadKey(found);
    if (clock.monotonic() - begunAt >= FRESH_MS) {
      // All of one reading go together, those of workloads that are gone too.
      known.clear();
      begunAt = clock.monotonic();
    }
    if (known.has(key)) return known.get(key);
    const policy = policyOf(found);
    const { kind, metadata: { name, uid } } = found;
    const owner = policy?.provider !== "metrics-server" ? undefined : {
      workload: { kind, name, uid },
      containers: ownContainers(found).map((one) => one.name),
      windowMs: policy.windowMs,
    };
    known.set(key, owner);
    return owner;
  }

  return {
    ownerOf({ namespace, name }) {
      const pod = pods.get(`${namespace}/${name}`);
      if (pod === undefined) return undefined;
      for (const ref of workloadsOf(pod)) {
        const found = workload(ref.kind, `${namespace}/${ref.name}`);
        const sized = found && rightsizedWorkload(found);
        if (sized !== undefined && controls(sized, pod, { replicaSet })) return ownerOf(sized);
      }
      return undefined;
    },
    isWanted: () =>
      [...policies()].some(({ mode, provider }) =>
        mode !== "Disabled" && provider === "metrics-server"
      ),
    exists: ({ uid }) => workloadUIDs()?.has(uid) ?? true,
  };
}
