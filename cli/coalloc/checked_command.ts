/**
 * Checks the operands of a command before a cluster is needed: a wrong command line is reported also
 * where no cluster can be reached.
 *
 * @module
 */
import { defined } from "../../shared/defined.ts";
import type { CommandContext, PodName } from "./ports.ts";
import type { Call } from "./coalloc_command.ts";
import { dashboardCommand } from "./dashboard/dashboard_command.ts";
import { doctorCommand } from "./doctor/doctor_command.ts";
import { explainCommand } from "./explain/explain_command.ts";
import { placedArgument } from "./placement/placement_arguments.ts";
import { placementCommand } from "./placement/placement_command.ts";
import { podArgument } from "./formats.ts";
import { recommendCommand } from "./recommend/recommend_command.ts";
import { workloadChoice } from "./recommend/recommend_arguments.ts";
import type { LimitRequest } from "./resize/limit_request.ts";
import { reportCommand, reportRequest } from "./report/report_command.ts";
import { resizeCommand } from "./resize/resize_command.ts";
import { restoreCommand } from "./restore/restore_command.ts";
import type { RestoreTarget } from "./restore/switch_off.ts";
import { topCommand } from "./top/top_command.ts";
import type { TopOrder } from "../../shared/view/top_view.ts";
import { versionCommand } from "./version_command.ts";

/** What is wrong with the command line beyond single flags. */
export class UsageProblem extends Error {
  override readonly name = "UsageProblem";
}

/** A command that only needs a cluster; resolves with the exit code. */
export type CheckedCommand = (context: CommandContext) => Promise<number>;

/** The objects that the operands name, once the namespace of the context is known. */
type Named<T> = (context: CommandContext) => T;

/** The command of the call. Throws a {@linkcode UsageProblem}. */
export function checkedCommand(call: Call): CheckedCommand {
  const { name, operands, flags } = call;
  const timeoutMs = Number(flags.timeout);
  const dryRun = flags.dryRun === true;
  const watchMs = typeof flags.watch === "number" ? flags.watch : undefined;
  switch (name) {
    case "top": {
      const [sort, node] = [flags.sort as TopOrder, flags.node as string | undefined];
      const request = defined({ pods: operands, sort, node, watchMs });
      return (context) => topCommand(request, context);
    }
    case "explain": {
      const pod = podOf(operands[0]);
      const container = flags.container as string | undefined;
      return (context) => explainCommand(defined({ pod: pod(context), container }), context);
    }
    case "doctor":
      return doctorCommand;
    case "recommend": {
      const choice = workloadChoice({ workloadText: operands[0], policy: flags.policy });
      if (typeof choice === "string") throw new UsageProblem(choice);
      return (context) => recommendCommand(choice, context);
    }
    case "placement": {
      const [text] = operands;
      const workload = text === undefined ? undefined : placedArgument(text);
      if (typeof workload === "string") throw new UsageProblem(workload);
      return (context) => placementCommand(defined({ workload, watchMs }), context);
    }
    case "report":
      return (context) => reportCommand(reportRequest(flags), context);
    case "restore": {
      const target = restoreTarget(call);
      const yes = flags.yes === true;
      return (context) =>
        restoreCommand({ target: target(context), dryRun, yes, timeoutMs }, context);
    }
    case "resize": {
      const pod = podOf(operands[0]);
      const limits = flags.cpuLimit as readonly LimitRequest[];
      return (context) => resizeCommand({ pod: pod(context), limits, dryRun, timeoutMs }, context);
    }
    case "dashboard": {
      const request = { port: Number(flags.port), open: flags.open === true };
      return (context) => dashboardCommand(request, context);
    }
    default:
      return versionCommand;
  }
}

function podOf(operand: string | undefined): Named<PodName> {
  const pod = podArgument(operand ?? "");
  if (pod === undefined) {
    throw new UsageProblem(`Cannot find pod: "${operand}" is not the name of a pod`);
  }
  return ({ namespace, cluster }) => {
    const usual = namespace.all ? cluster.defaultNamespace : namespace.name;
    return { namespace: pod.namespace ?? usual, name: pod.name };
  };
}

/** One of a pod, a named namespace, all: a forgotten argument must not restore a namespace. */
function restoreTarget({ operands, flags }: Call): Named<RestoreTarget> {
  const [operand] = operands;
  const all = flags.all === true || flags.allNamespaces === true;
  if (operand !== undefined && all) {
    throw new UsageProblem(`Cannot restore: pod "${operand}" and --all exclude each other`);
  }
  if (operand !== undefined) {
    const pod = podOf(operand);
    return (context) => ({ kind: "pod", pod: pod(context) });
  }
  if (all && flags.namespace !== undefined) {
    throw new UsageProblem("Cannot restore: --namespace and --all exclude each other");
  }
  if (all) return () => ({ kind: "all" });
  if (flags.namespace === undefined) {
    throw new UsageProblem("Cannot restore: name a pod, or give -n NAMESPACE or --all");
  }
  const namespace = String(flags.namespace);
  return () => ({ kind: "namespace", namespace });
}
