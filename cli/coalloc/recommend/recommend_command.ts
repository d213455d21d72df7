/**
 * `recommend`: collects reports and the present values, and shows both side by side. Nothing is
 * written.
 *
 * @module
 */
import { unlessRefused } from "../../../adapters/kube/client/connection.ts";
import type { RecommendationReport } from "../../../shared/api/recommendation_report.ts";
import type { StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";
import type { CommandContext } from "../ports.ts";
import { INTERRUPTED } from "../global_flags.ts";
import { structuredOutput } from "../output.ts";
import type { AdviceView, AdvisedWorkload } from "../../../shared/view/advice_view.ts";
import { adviseAll } from "../../../shared/view/advise.ts";
import { sumOfChanges } from "../../../shared/view/changes.ts";
import { chooseWorkloads, type WorkloadChoice } from "./choose_workloads.ts";
import { patchText } from "./patch_text.ts";
import { readRecommendations } from "./read_recommendations.ts";
import { detailText, plotLegend } from "./recommend_detail.ts";
import { footText, recommendTable } from "./recommend_table.ts";

/** Shows what is asked for. Resolves with the exit code. */
export async function recommendCommand(
  choice: WorkloadChoice,
  context: CommandContext,
): Promise<number> {
  const { cluster, world, namespace } = context;
  const { problems, ...facts } = await readRecommendations(cluster, namespace);
  const all = adviseAll(facts);
  // Policies only help to say why there is nothing.
  const asked = choice.workload !== undefined || choice.policy !== undefined;
  const policies = asked || all.length === 0 ? await policiesOf(context) : undefined;
  if (world.signal.aborted) return INTERRUPTED;
  const { templates } = facts;
  const workloads = chooseWorkloads(all, { choice, facts: { namespace, templates, policies } });
  const view: AdviceView = {
    workloads,
    changes: sumOfChanges(workloads.map(({ changes }) => changes)),
    notes: [
      ...problems,
      ...unreadNotes(facts.reports, all),
      ...(workloads.length === 0 ? [emptyNote(policies)] : []),
      ...uncountedNotes(workloads),
    ],
  };
  world.out(textOf(view, { choice, context }));
  return 0;
}

/** Policies of other namespaces may count here; not everybody may read them. */
async function policiesOf(
  { cluster: { recommendations }, namespace }: CommandContext,
): Promise<readonly StoredPolicy[] | undefined> {
  const own = namespace.all ? [] : [namespace.name];
  for (const place of [undefined, ...own]) {
    const policies = await unlessRefused(recommendations.policies(place), 403, 404);
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

/** Existing entries that can't be read here. */
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

/** Of what is not known no difference can be taken. */
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
  { choice, context: { world, namespace, output, look } }: {
    readonly choice: WorkloadChoice;
    readonly context: CommandContext;
  },
): string {
  if (output === "patch") return patchText(view);
  const structured = structuredOutput(view, output);
  if (structured !== undefined) return structured;
  const nowMs = world.clock.wall();
  const wide = output === "wide";
  if (choice.workload === undefined || wide) {
    return recommendTable(view, { ...look, wide, namespaces: namespace.all, nowMs });
  }
  const details = view.workloads.map((one) => detailText(one, { ...look, nowMs }));
  return [...details, plotLegend(view.workloads, look) + footText(view, look)].join("\n");
}
