/**
 * The arguments of `recommend`, and the choice of workloads by them. Pure.
 *
 * @module
 */
import { Command } from "commander";
import { examples, selectorOption } from "../global_flags.ts";
import { quotedText } from "../../../shared/quoted_text.ts";
import { nearestHint, placeOf, type WorkloadArgument, workloadArgument } from "../formats.ts";
import { workloadTitle } from "../../../shared/view/figures.ts";
import type { WorkloadTemplate } from "../../../shared/api/workload.ts";
import { nearestName } from "../../../shared/nearest_name.ts";
import type { StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";
import { CommandProblem, type NamespaceChoice } from "../ports.ts";
import type { AdvisedWorkload } from "../../../shared/view/advice_view.ts";

/** The command without its action and the flags that all commands have. */
export function recommendArguments(): Command {
  return new Command("recommend").summary("what workloads should request").argument(
    "[workload]",
    "this workload only: a name, or kind/name",
  )
    .description(
      "What OptimizationPolicies recommend for the containers of workloads beside what these have:\n" +
        "requests, and limits where they are recommended, what is in force and why it is, and what\n" +
        "all pods together would save. A workload that is named is shown in detail. Writes nothing.",
    )
    .option("--policy <name>", "workloads that this policy counts for; or namespace/name")
    .addOption(selectorOption("workloads"))
    .addHelpText(...examples([
      ["kubectl coalloc recommend -A", "all workloads that a policy looks at"],
      ["kubectl coalloc recommend deployment/web -n shop", "one with its reasons and usage"],
      ["kubectl coalloc recommend -n shop -o wide", "all of a namespace in the same detail"],
      [
        "kubectl coalloc recommend -n shop -o patch > recommendations.yaml",
        "patches for kustomize, to be kept in Git",
      ],
      ["kubectl coalloc recommend --policy shop/default -o json", "for programs"],
    ]));
}

/** The arguments as they were typed. */
export interface TypedChoice {
  readonly workloadText: string | undefined;
  /** Value of `--policy`. */
  readonly policy: unknown;
}

/** The choice, or what is wrong with the arguments. */
export function workloadChoice({ workloadText, policy }: TypedChoice): WorkloadChoice | string {
  const workload = workloadText === undefined ? undefined : workloadArgument(workloadText);
  if (workloadText !== undefined && workload === undefined) {
    return `Cannot find workload: ${
      quotedText(workloadText)
    } is neither NAME nor KIND/NAME with a kind ` +
      "of deployment, statefulset or daemonset; -n names the namespace";
  }
  const parts = typeof policy === "string" ? policy.split("/") : [];
  const [first = "", second] = parts;
  if (typeof policy === "string" && (parts.length > 2 || parts.includes(""))) {
    return `Cannot find policy: ${quotedText(policy)} is neither NAME nor NAMESPACE/NAME`;
  }
  return {
    ...(workload === undefined ? {} : { workload }),
    ...(typeof policy !== "string"
      ? {}
      : { policy: second === undefined ? { name: first } : { namespace: first, name: second } }),
  };
}

/** A policy as the user names it. */
export interface PolicyArgument {
  readonly namespace?: string;
  readonly name: string;
}

/** The workloads that the user asks for; all present fields must match. */
export interface WorkloadChoice {
  readonly workload?: WorkloadArgument;
  readonly policy?: PolicyArgument;
}

/** Objects that explain an empty result. */
export interface ChoiceInput {
  readonly namespace: NamespaceChoice;
  /** Undefined where they can't be read. */
  readonly templates: readonly WorkloadTemplate[] | undefined;
  readonly policies: readonly StoredPolicy[] | undefined;
}

/** The workloads of the choice. Throws a {@linkcode CommandProblem} without any. */
export function chooseWorkloads(
  all: readonly AdvisedWorkload[],
  { choice: { workload, policy }, input }: {
    readonly choice: WorkloadChoice;
    readonly input: ChoiceInput;
  },
): readonly AdvisedWorkload[] {
  const named = all.filter((one) => workload === undefined || isNamed(one, workload));
  if (workload !== undefined && named.length === 0) {
    throw new CommandProblem(missingWorkload(workload, { all, input }));
  }
  const chosen = named.filter((one) => policy === undefined || isOf(one.policy, policy));
  if (policy === undefined || chosen.length > 0) return chosen;
  if (workload !== undefined) {
    const others = named.map((one) => `${workloadTitle(one)} has ${policyTitle(one.policy)}`);
    throw new CommandProblem(
      `Cannot show policy ${policyTitle(policy)} for ${workload.name}: ${others.join(", ")}`,
    );
  }
  throw new CommandProblem(missingPolicy(policy, { all, input }));
}

function isNamed({ kind, name }: AdvisedWorkload, wanted: WorkloadArgument): boolean {
  return name === wanted.name && (wanted.kind === undefined || wanted.kind === kind);
}

function isOf(policy: AdvisedWorkload["policy"], { namespace, name }: PolicyArgument): boolean {
  return policy.name === name && (namespace === undefined || policy.namespace === namespace);
}

interface Known {
  readonly all: readonly AdvisedWorkload[];
  readonly input: ChoiceInput;
}

function missingWorkload(
  wanted: WorkloadArgument,
  { all, input: { namespace, templates = [] } }: Known,
): string {
  const begin = `Cannot show recommendations for ${wanted.name}`;
  const there = templates.map(({ kind, metadata }) => ({ kind, name: metadata.name }));
  const same = there.find(({ kind, name }) =>
    name === wanted.name && (wanted.kind === undefined || wanted.kind === kind)
  );
  if (same !== undefined) {
    return `${begin}: no policy has looked at ${workloadTitle(same)} of ${
      placeOf(namespace)
    } yet; ` +
      "kubectl get optimizationpolicies -A shows which there are";
  }
  const known = [...all, ...there];
  const kind = wanted.kind ?? "workload";
  return `${begin}: ${placeOf(namespace)} has no such ${kind}; ${nearestHint(wanted.name, known)}`;
}

function missingPolicy(
  policy: PolicyArgument,
  { all, input: { namespace, policies } }: Known,
): string {
  const begin = `Cannot show policy ${policyTitle(policy)}`;
  const found = policies?.find(({ metadata }) => isOf(metadata, policy));
  const where = placeOf(namespace);
  if (found !== undefined) {
    const ready = found.status.conditions?.find(({ type }) => type === "Ready");
    const why = found.unreadable ??
      (ready?.status === "False" ? `${ready.reason}: ${ready.message}` : undefined) ??
      "its selector matches none, or policies of higher weight win";
    return `${begin}: it counts for no workload of ${where}: ${why}`;
  }
  const known = [...all.map((one) => one.policy), ...(policies ?? []).map((one) => one.metadata)];
  const nearest = nearestName(policy.name, known.map(({ name }) => name));
  const meant = known.find(({ name }) => name === nearest);
  const hint = meant === undefined || isOf(meant, policy)
    ? "kubectl get optimizationpolicies -A shows which there are"
    : `is it ${policyTitle(meant)}?`;
  return `${begin}: no workload of ${where} has such a policy; ${hint}`;
}

function policyTitle({ namespace, name }: PolicyArgument): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
