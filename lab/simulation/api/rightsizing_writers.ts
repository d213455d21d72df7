/**
 * Rightsizing's writes of statuses, reports and workloads, on the simulated API. No controller makes new
 * pods for a new template.
 *
 * @module
 */
import type {
  NewReport,
  PolicyStatusWriter,
  ReportStore,
  WorkloadWriter,
} from "../../../shared/rightsizing/ports.ts";
import type { ApiAccess } from "./request_gate.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import { OPTIPOD_GROUP_VERSION } from "../../../shared/api/optimization_policy.ts";
import type { RecommendationReport } from "../../../shared/api/recommendation_report.ts";
import { objectKey } from "../../../shared/control/object_key.ts";
import { isDeepStrictEqual } from "node:util";
import { NO_RESOURCES, type PodContainer, withResources } from "../../../shared/api/pod.ts";
import type { MadePods, TemplateOwners, Workload } from "../../../shared/api/workload.ts";
import {
  pairOf,
  pairsOf,
  RESOURCE_NAMES,
  type WantedResources,
} from "../../../shared/resize/inputs/resources.ts";
import { RIGHTSIZING_MANAGER } from "../../../shared/resize/original_limits.ts";
import type { RightsizedWorkload } from "../../../shared/rightsizing/guards/rightsizing_facts.ts";

/** The port's implementation. */
export function createPolicyStatusWriter({ store, gate }: ApiAccess): PolicyStatusWriter {
  const table = store.tables.OptimizationPolicy;
  return {
    async writeStatus({ metadata }, status) {
      const stored = await gate.send(
        { verb: "updateStatus", kind: "OptimizationPolicy" },
        () => table.replaceStatus({ metadata, faults: [], status }),
      );
      return stored.metadata.resourceVersion;
    },
  };
}

/** The port's implementation. */
export function createReportStore({ store, gate }: ApiAccess): ReportStore {
  const table = store.tables.RecommendationReport;
  const kind = "RecommendationReport";
  return {
    list(namespace) {
      return gate.send(
        { verb: "list", kind },
        () => table.all().filter(({ metadata }) => metadata.namespace === namespace),
      );
    },
    apply(report) {
      const verb = report.resourceVersion === undefined ? "create" : "patch";
      return gate.send({ verb, kind }, () => {
        const stored = table.get(objectKey(report));
        const wanted = objectOf(report, stored);
        return report.resourceVersion === undefined || stored === undefined
          ? table.create(wanted)
          : table.replace(wanted);
      });
    },
    async remove({ metadata }) {
      const key = objectKey(metadata);
      await gate.send({ verb: "delete", kind }, () => {
        const stored = table.get(key);
        const isOther = stored?.metadata.resourceVersion !== metadata.resourceVersion;
        if (stored !== undefined && isOther) {
          throw new ApiError(409, "Conflict", `${kind} "${key}": the precondition failed`);
        }
        return table.remove(key, metadata.uid);
      });
    },
  };
}

/** As it is to be stored. */
function objectOf(
  { namespace, name, resourceVersion, workloads }: NewReport,
  stored: RecommendationReport | undefined,
): RecommendationReport {
  return {
    apiVersion: OPTIPOD_GROUP_VERSION,
    kind: "RecommendationReport",
    metadata: {
      namespace,
      name,
      uid: stored?.metadata.uid ?? "",
      resourceVersion: resourceVersion ?? "",
      labels: { "app.kubernetes.io/managed-by": "mbcas-controller" },
    },
    workloads: [...workloads],
  };
}

type Named = Pick<RightsizedWorkload, "kind" | "metadata">;

/** The port's implementation. */
export function createWorkloadWriter({ store, gate, clock }: ApiAccess): WorkloadWriter {
  const modify = (
    { kind, metadata }: Named,
    change: (stored: Workload) => Workload,
  ): Promise<Workload> =>
    gate.send(
      { verb: "patch", kind },
      () => store.tables[kind].modify(objectKey(metadata), change),
    );
  return {
    async recreate(workload, wanted) {
      await modify(workload, (stored) => {
        const { kind, metadata: { name, uid } } = workload;
        if (stored.metadata.uid !== uid || stored.makes === undefined) {
          throw new ApiError(404, "NotFound", `${kind} "${name}" with UID ${uid} not found`);
        }
        if (!isDeepStrictEqual(stored.makes.template, workload.template)) {
          throw new ApiError(409, "Conflict", `${kind} "${name}": its template has changed`);
        }
        const makes = withValues(stored.makes, { workload, wanted });
        const owners = withOwner(stored.makes.owners ?? {}, { wanted, atMs: clock.wall() });
        return { ...stored, makes: { ...makes, owners } };
      });
    },
    async annotate(workload, { metadata: { annotations: changes } }) {
      await modify(workload, (stored) => {
        const { uid } = workload.metadata;
        if (stored.metadata.uid !== uid) {
          throw invalid(workload, `metadata.uid: Invalid value: "${uid}": field is immutable`);
        }
        const annotations = { ...stored.metadata.annotations };
        for (const [name, text] of Object.entries(changes)) {
          if (text === null) delete annotations[name];
          else annotations[name] = text;
        }
        return { ...stored, metadata: { ...stored.metadata, annotations } };
      });
    },
  };
}

function invalid({ kind, metadata: { name } }: Named, problem: string): ApiError {
  return new ApiError(422, "Invalid", `${kind} "${name}" is invalid: ${problem}`);
}

/** The owners after rightsizing has written the values. */
function withOwner(
  owners: TemplateOwners,
  { wanted, atMs }: { readonly wanted: WantedResources; readonly atMs: number },
): TemplateOwners {
  const owner = { manager: RIGHTSIZING_MANAGER, atMs };
  const next = { ...owners };
  for (const { container, resource, pair: { request, limit } } of pairsOf(wanted)) {
    next[container] = {
      ...next[container],
      ...(request !== undefined && { [`requests.${resource}`]: owner }),
      ...(limit !== undefined && { [`limits.${resource}`]: owner }),
    };
  }
  return next;
}

/** All containers together or none. Throws 422 for a request above its limit. */
function withValues(
  makes: MadePods,
  { workload, wanted }: { readonly workload: Named; readonly wanted: WantedResources },
): MadePods {
  const containers = makes.template.containers.map((container): PodContainer => {
    if (container.sidecar) return container;
    const after = withResources(container, wanted.get(container.name) ?? NO_RESOURCES);
    for (const resource of RESOURCE_NAMES) {
      const { request = 0, limit = Infinity } = pairOf(after, resource);
      if (request <= limit) continue;
      throw invalid(
        workload,
        `container "${after.name}": requests: Invalid value: must be less than or equal to ` +
          `${resource} limit`,
      );
    }
    return after;
  });
  return { ...makes, template: { ...makes.template, containers } };
}
