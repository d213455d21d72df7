/**
 * The arguments of `recommend`, and its help.
 *
 * @module
 */
import { Command } from "commander";
import { examples } from "../global_flags.ts";

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
