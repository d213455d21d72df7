/**
 * OptimizationPolicies on a real API server.
 *
 * @module
 */
import { OPTIPOD_GROUP_VERSION } from "../../shared/api/optimization_policy.ts";
import type { PolicyStatus } from "../../shared/api/policy_status.ts";
import { storedPolicyStatus } from "../../shared/api/stored_policy_status.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import { faultText } from "../../shared/rightsizing/field_fault.ts";
import { type PolicyDefaults, readPolicySpec } from "../../shared/rightsizing/read_policy_spec.ts";
import type { StoredPolicy } from "../../shared/rightsizing/stored_policy.ts";
import type { KubeConnection } from "./connection.ts";
import { objectOf, textOf, wholeOf } from "./json_fields.ts";
import { kubeListWatch, type ListWatchSurroundings } from "./kube_list_watch.ts";
import { parseNamespacedIdentity } from "./object_identity.ts";
import { optipodCollection, optipodObject } from "./optipod_path.ts";

/** Which policies. */
export interface PolicySelection extends ListWatchSurroundings, PolicyDefaults {
  /** Only those of this namespace. */
  readonly namespace?: string;
}

/** List-watch of policies, by default of all. One whose spec can't be read is among them. */
export function optimizationPolicyListWatch(
  connection: KubeConnection,
  { namespace, provider, ...surroundings }: PolicySelection = {},
): ListWatch<StoredPolicy> {
  const defaults = provider === undefined ? {} : { provider };
  return kubeListWatch(connection, {
    ...surroundings,
    path: optipodCollection("optimizationpolicies", namespace),
    parse: (raw) => parseOptimizationPolicy(raw, defaults),
  });
}

/** The policy, or what is wrong with its spec. Throws a `TypeError` without identity. */
export function parseOptimizationPolicy(
  raw: unknown,
  defaults: PolicyDefaults = {},
): StoredPolicy {
  const { metadata, spec, status } = objectOf(raw);
  const reading = readPolicySpec(spec, defaults);
  return {
    metadata: {
      ...parseNamespacedIdentity(raw),
      generation: wholeOf(objectOf(metadata).generation) ?? 0,
    },
    ...reading,
    status: storedPolicyStatus(status),
    ...(reading.faults.length === 0 ? {} : {
      unreadable: `Cannot read OptimizationPolicy: ${reading.faults.map(faultText).join("; ")}`,
    }),
  };
}

/** Writes what became of policies; the controller's port `PolicyStatusWriter`. */
export interface KubePolicyStatusWriter {
  /**
   * Replaces the status, and resolves with the resourceVersion that has it. Throws an `ApiError`; 409
   * `Conflict` when `resourceVersion` is not the stored one, 404 when the policy is gone.
   */
  writeStatus(policy: Pick<StoredPolicy, "metadata">, status: PolicyStatus): Promise<string>;
}

/** A writer with the rights of the connection. */
export function createPolicyStatusWriter(connection: KubeConnection): KubePolicyStatusWriter {
  return {
    async writeStatus({ metadata }, status) {
      const { namespace, name, uid, resourceVersion } = metadata;
      const stored = await connection.request({
        method: "PUT",
        path: `${optipodObject("optimizationpolicies", metadata)}/status`,
        query: { fieldManager: "mbcas-controller" },
        // The server takes nothing but the status, and keeps the rest: also a spec that can't be read.
        body: {
          apiVersion: OPTIPOD_GROUP_VERSION,
          kind: "OptimizationPolicy",
          metadata: { namespace, name, uid, resourceVersion },
          status,
        },
      });
      return textOf(objectOf(objectOf(stored).metadata).resourceVersion) ?? "";
    },
  };
}
