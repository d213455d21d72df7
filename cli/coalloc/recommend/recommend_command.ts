/**
 * `recommend`: collects reports and the present values, and shows both side by side. Nothing is
 * written.
 *
 * @module
 */
import { unlessNotFound, unlessRefused } from "../../../adapters/kube/client/connection.ts";
import type { RecommendationReport } from "../../../shared/api/recommendation_report.ts";
import type { StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";
import {
  type Cluster,
  type CommandContext,
  CommandProblem,
  type NamespaceChoice,
} from "../ports.ts";
import { INTERRUPTED } from "../global_flags.ts";
import { dataOutput } from "../output.ts";
import type { AdviceView, AdvisedWorkload } from "../../../shared/view/advice_view.ts";
import { type AdviceInput, adviseAll } from "../../../shared/view/advise.ts";
import { sumOfChanges } from "../../../shared/view/changes.ts";
import { chooseWorkloads, type WorkloadChoice } from "./choose_workloads.ts";
import { patchText } from "./patch_text.ts";
import { detailText, plotLegend } from "./recommend_detail.ts";
import { adviceRows, footText, recommendTable } from "./recommend_table.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import { explainApiError } from "../api_problem.ts";

/** Shows the chosen workloads. Resolves with the exit code. */
export async function recommendCommand(
  choice: WorkloadChoice,
  context: CommandContext,
): Promise<number> {
  const { cluster, world, namespace, selector } = context;
  const { problems, ...input } = await readRecommendations(cluster, context);
  const all = adviseAll(input);
  // Policies only explain an empty result.
  const isChosen = choice.workload !== undefined || choice.policy !== undefined;
  const policies = isChosen || all.length === 0 ? await policiesOf(context) : undefined;
  if (world.signal.aborted) return INTERRUPTED;
  const { templates } = input;
  const labelled = selector === undefined ? all : all.filter(({ exists }) => exists);
  const workloads = chooseWorkloads(labelled, {
    choice,
    input: { namespace, templates, policies },
  });
  const view: AdviceView = {
    workloads,
    changes: sumOfChanges(workloads.map(({ changes }) => changes)),
    notes: [
      ...problems,
      ...unreadNotes(input.reports, all),
      ...(all.length === 0 ? [emptyNote(policies)] : []),
      ...uncountedNotes(workloads),
    ],
  };
  world.out(textOf(view, { choice, context }));
  return 0;
}

/** Policies of all namespaces, which may count here, or those that the user may read. */
async function policiesOf(
  { cluster: { recommendations }, namespace }: CommandContext,
): Promise<readonly StoredPolicy[] | undefined> {
  const names = namespace.all ? [undefined] : [undefined, namespace.name];
  for (const name of names) {
    const policies = await unlessRefused(recommendations.policies(name), 403, 404);
    if (policies !== undefined) return policies;
  }
  return undefined;
}

function emptyNote(policies: readonly StoredPolicy[] | undefined): string {
  if (policies?.length === 0) {
    return "There is no OptimizationPolicy: one says which workloads are looked at (docs/rightsizing.md, " +
      "Recommendations)";
  }
  return "No OptimizationPolicy has looked at a workload here yet: kubectl get " +
    "optimizationpolicies -A shows whether they are Ready; a controller has to run";
}

/** Notes on entries of reports that can't be read. */
function unreadNotes(
  reports: readonly RecommendationReport[],
  all: readonly AdvisedWorkload[],
): readonly string[] {
  const keys = reports.flatMap(({ metadata: { namespace }, workloads }) =>
    workloads.map(({ kind, name }) => `${namespace}/${kind}/${name}`)
  );
  const missing = new Set(keys).size - all.length;
  return missing > 0 ? [`${missing} of the workloads can't be read in the reports`] : [];
}

/** Notes on containers without a difference, since their present values are unknown. */
function uncountedNotes(workloads: readonly AdvisedWorkload[]): readonly string[] {
  const containers = workloads.flatMap((one) => one.containers);
  const uncounted =
    containers.filter(({ recommended, changes }) =>
      recommended !== undefined && changes === undefined
    ).length;
  if (uncounted === 0) return [];
  const which = uncounted === 1 ? "1 container is" : `${uncounted} containers are`;
  return [`${which} not in the sums: what their pods have now is not known`];
}

function textOf(
  view: AdviceView,
  { choice, context }: { readonly choice: WorkloadChoice; readonly context: CommandContext },
): string {
  const { world, namespace, output, style } = context;
  if (output === "patch") return patchText(view);
  const nowMs = world.clock.wall();
  const data = dataOutput(view, adviceRows(view, nowMs), context);
  if (data !== undefined) return data;
  const wide = output === "wide";
  if (choice.workload === undefined || wide) {
    return recommendTable(view, { ...style, wide, namespaces: namespace.all, nowMs });
  }
  const details = view.workloads.map((one) => detailText(one, { ...style, nowMs }));
  return [...details, plotLegend(view.workloads, style) + footText(view, style)].join("\n");
}

/** The readings, and the problems of reading. */
export interface RecommendationReadings extends AdviceInput {
  /** In sentences, for people. */
  readonly problems: readonly string[];
}

/** Reads all. Throws a {@linkcode CommandProblem} where the reports can't be read. */
export async function readRecommendations(
  { recommendations, reader }: Pick<Cluster, "recommendations" | "reader">,
  { namespace, selector }: Pick<CommandContext, "namespace" | "selector">,
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
      const goesOn = error instanceof ApiError && error.status === 403 && selector === undefined;
      if (!goesOn) throw error;
      problems.push(`${explainApiError(action, error)}. ${instead}`);
      return undefined;
    }
  };
  const [reports, templates, pods, allocations] = await Promise.all([
    recommendations.reports(name).catch((error: unknown) => {
      throw problemOf(error, namespace);
    }),
    readable(recommendations.templates(name, selector), {
      action: "read the workloads' manifests",
      instead: "What they ask for, and whether they still exist, is not known",
    }),
    readable(reader.pods(name), {
      action: "read pods",
      instead: "What they have is not known: the manifests stand for them",
    }),
    // Rightsizing may be installed without the market.
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
