/**
 * Which workloads a command line asks for. Pure.
 *
 * @module
 */
import { quotedText } from "../../../shared/quoted_text.ts";
import type { WorkloadChoice } from "./choose_workloads.ts";
import { workloadArgument } from "../formats.ts";

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
