/**
 * The argument that names a workload with replicas that may be placed.
 *
 * @module
 */
import { isPlacedKind, type PlacedKind } from "../../../shared/placement/eligibility.ts";
import { quotedText } from "../../../shared/quoted_text.ts";
import { workloadArgument } from "../formats.ts";

/** A name, and a kind where the argument has one. */
export interface PlacedArgument {
  readonly kind?: PlacedKind;
  readonly name: string;
}

/** Reads `web`, `deployment/web` and `sts/db`, or returns what is wrong with it. */
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
