/**
 * Names from the cluster for completion, which never complains: without a cluster there are none.
 *
 * @module
 */
import type { ReportedWorkload } from "../../../shared/api/recommendation_report.ts";
import { defined } from "../../../shared/defined.ts";
import type { Cluster, CoallocWorld, ConnectOptions } from "../ports.ts";
import { type WorkloadArgument, workloadTitle } from "../formats.ts";
import { readPlacement } from "../placement/placement_view.ts";
import type { CompletionNames } from "./complete.ts";

/** Names read with the cluster flags among the arguments. */
export function completionNames(
  { connect }: Pick<CoallocWorld, "connect">,
  args: readonly string[],
): CompletionNames {
  async function names(
    read: (cluster: Cluster) => Promise<readonly string[]>,
  ): Promise<readonly string[]> {
    try {
      return [...new Set(await read(await connect(connectOptions(args))))].sort();
    } catch {
      return [];
    }
  }
  const ofPods = async ({ reader }: Cluster): Promise<readonly string[]> =>
    (await reader.pods()).map(({ metadata }) => metadata.namespace);
  return {
    pods: (namespace) =>
      names(async ({ reader, defaultNamespace }) =>
        (await reader.pods(namespace ?? defaultNamespace)).map(({ metadata }) => metadata.name)
      ),
    workloads: (namespace) =>
      names(async (cluster) => distinctNames(await reportedBy(cluster, namespace))),
    placeable: (namespace) =>
      names(async (cluster) => {
        const choice = { all: false, name: namespace ?? cluster.defaultNamespace };
        return distinctNames((await readPlacement(cluster, { namespace: choice })).workloads);
      }),
    policies: (namespace) =>
      names(async (cluster) =>
        (await reportedBy(cluster, namespace)).map(({ policy }) => policy.name)
      ),
    namespaces: () => names(ofPods),
    nodes: () =>
      names(async ({ reader }) =>
        (await reader.pods()).map(({ nodeName }) => nodeName).filter((name) => name !== "")
      ),
  };
}

/** Names, with the kind where there are several of one name. */
function distinctNames(all: readonly Required<WorkloadArgument>[]): readonly string[] {
  const kinds = Map.groupBy(all, ({ name }) => name);
  return all.map((one) =>
    new Set(kinds.get(one.name)?.map(({ kind }) => kind)).size > 1 ? workloadTitle(one) : one.name
  );
}

async function reportedBy(
  { recommendations, defaultNamespace }: Cluster,
  namespace: string | undefined,
): Promise<readonly ReportedWorkload[]> {
  const reports = await recommendations.reports(namespace ?? defaultNamespace);
  return reports.flatMap(({ workloads }) => workloads);
}

function connectOptions(args: readonly string[]): ConnectOptions {
  const value = (flag: string): string | undefined => {
    const index = args.findIndex((arg) => arg === flag || arg.startsWith(`${flag}=`));
    const arg = args[index];
    if (arg === undefined) return undefined;
    return arg === flag ? args[index + 1] : arg.slice(flag.length + 1);
  };
  return defined({ kubeconfig: value("--kubeconfig"), context: value("--context") });
}
