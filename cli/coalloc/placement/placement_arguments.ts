/**
 * The arguments of `placement`, and its help.
 *
 * @module
 */
import { Command } from "commander";
import { isPlacedKind, type PlacedKind } from "../../../shared/placement/eligibility.ts";
import { quotedText } from "../../../shared/quoted_text.ts";
import { workloadArgument } from "../formats.ts";
import { examples, selectorOption, watchOption } from "../global_flags.ts";

/** The command without its action and the flags that all commands have. */
export function placementArguments(): Command {
  return new Command("placement").summary("where replicas run: spot and on-demand nodes").argument(
    "[workload]",
    "this workload only: a name, or kind/name",
  )
    .description(
      "How many replicas of Deployments and StatefulSets run on spot and on on-demand nodes, how\n" +
        "many are to, what keeps them from moving, and which pod moves next. A workload that is\n" +
        "named is shown in detail. Writes nothing.",
    )
    .addOption(watchOption("the workload"))
    .addOption(selectorOption("workloads"))
    .addHelpText(
      "after",
      examples([
        ["kubectl coalloc placement -A", "all workloads that are placed"],
        ["kubectl coalloc placement deployment/web -n shop", "one with its pods and its next step"],
        ["kubectl coalloc placement web -n shop --watch", "follow a move, a rollout, a shortage"],
        ["kubectl coalloc placement -n shop -o wide", "also those that take no part, and why"],
        ["kubectl coalloc placement -A -o json", "for programs"],
      ]),
    );
}

/** A workload that the user names, with a kind if the argument has one. */
export interface PlacedArgument {
  readonly kind?: PlacedKind;
  readonly name: string;
}

/** Parses `web`, `deployment/web` and `sts/db`, or returns what is wrong with the argument. */
export function placedArgument(text: string): PlacedArgument | string {
  const argument = workloadArgument(text);
  if (argument === undefined) {
    return `Cannot find workload: ${
      quotedText(text)
    } is neither NAME nor KIND/NAME with a kind of ` +
      "deployment or statefulset; -n names the namespace";
  }
  const { kind, name } = argument;
  if (kind === undefined) return { name };
  return isPlacedKind(kind)
    ? { kind, name }
    : `Cannot show placement: ${quotedText(text)} is a ${kind}, and only pods of Deployments and ` +
      "StatefulSets are placed";
}
