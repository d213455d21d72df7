/**
 * The arguments of `recommend`, and its help.
 *
 * @module
 */
import { Command } from "commander";
import { examples } from "../global_flags.ts";
import { quotedText } from "../../../shared/quoted_text.ts";
import type { WorkloadChoice } from "./choose_workloads.ts";
import { workloadArgument } from "../formats.ts";

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
    .addHelpText(
      "after",
      examples([
        ["kubectl coalloc recommend -A", "all workloads that a policy looks at"],
        ["kubectl coalloc recommend deployment/web -n shop", "one with its reasons and usage"],
        ["kubectl coalloc recommend -n shop -o wide", "all of a namespace in the same detail"],
        [
          "kubectl coalloc recommend -n shop -o patch > recommendations.yaml",
          "patches for kustomize, to be kept in Git",
        ],
        ["kubectl coalloc recommend --policy shop/default -o json", "for programs"],
      ]),
    );
}

/** What was typed. */
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
