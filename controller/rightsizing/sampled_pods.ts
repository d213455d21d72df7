/**
 * Whose samples of usage are kept: those of pods whose workload a policy looks at by metrics-server.
 *
 * @module
 */
import type { Pod } from "../../shared/api/pod.ts";
import type { Workload } from "../../shared/api/workload.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Informer } from "../../shared/control/informer.ts";
import { controls, type ReplicaSetLookup, workloadsOf } from "../../shared/resize/workloads_of.ts";
import type { RightsizedWorkload } from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import { workloadKey } from "../../shared/rightsizing/policy_choice.ts";
import type { PolicySpec } from "../../shared/rightsizing/policy_spec.ts";
import { ownContainers, rightsizedWorkload } from "../../shared/rightsizing/rightsized_workload.ts";
import type { PodOwner, PodOwners } from "./sampler/ports.ts";

/** What tells it. */
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
