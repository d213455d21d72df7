/**
 * Reads what `recommend` shows: reports, and beside them what there is. Only the reports must be
 * readable.
 *
 * @module
 */
import { unlessNotFound } from "../../../adapters/kube/client/connection.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import { explainApiError } from "../api_problem.ts";
import { type Cluster, CommandProblem, type NamespaceChoice } from "../ports.ts";
import type { AdviceFacts } from "../../../shared/view/advise.ts";

/** What was read, and what could not be. */
export interface RecommendationReadings extends AdviceFacts {
  /** In sentences, for people. */
  readonly problems: readonly string[];
}

/** Throws a {@linkcode CommandProblem} where the reports are not there or may not be read. */
export async function readRecommendations(
  { recommendations, reader }: Pick<Cluster, "recommendations" | "reader">,
  namespace: NamespaceChoice,
): Promise<RecommendationReadings> {
  const name = namespace.all ? undefined : namespace.name;
  const problems: string[] = [];
  const readable = async <T>(
    answer: Promise<T>,
    { action, instead }: { readonly action: string; readonly instead: string },
  ): Promise<T | undefined> => {
    try {
      return await answer;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 403) throw error;
      problems.push(`${explainApiError(action, error)}. ${instead}`);
      return undefined;
    }
  };
  const [reports, templates, pods, allocations] = await Promise.all([
    recommendations.reports(name).catch((error: unknown) => {
      throw problemOf(error, namespace);
    }),
    readable(recommendations.templates(name), {
      action: "read the workloads' manifests",
      instead: "What they ask for, and whether they still exist, is not known",
    }),
    readable(reader.pods(name), {
      action: "read pods",
      instead: "What they have is not known: the manifests stand for them",
    }),
    // Rightsizing may be there without the market.
    readable(unlessNotFound(reader.allocations(name)), {
      action: "read PodAllocations",
      instead: "CPU limits of pods in the market are the market's, not their own",
    }),
  ]);
  const unreadable = (templates ?? []).flatMap(({ kind, metadata, unreadable }) =>
    unreadable === undefined
      ? []
      : [`${kind} ${metadata.namespace}/${metadata.name}: ${unreadable}`]
  );
  return {
    reports,
    templates,
    pods,
    allocations: allocations ?? [],
    problems: [...problems, ...unreadable],
  };
}

function problemOf(error: unknown, namespace: NamespaceChoice): unknown {
  if (!(error instanceof ApiError)) return error;
  const where = namespace.all ? "" : ` of namespace ${namespace.name}`;
  if (error.status === 404) {
    return new CommandProblem(
      "Cannot read recommendations: the server does not know RecommendationReports; " +
        "kubectl apply -k manifests/crds installs the definitions, and a controller with the " +
        "component rightsizing writes the reports",
    );
  }
  return new CommandProblem(explainApiError(`read the RecommendationReports${where}`, error));
}
