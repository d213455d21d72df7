/**
 * Checks the operands of a command before it connects: a wrong command line is reported without a cluster,
 * too.
 *
 * @module
 */
import { defined } from "../../shared/defined.ts";
import { type CommandContext, CommandProblem, type PodName } from "./ports.ts";
import type { Call } from "./coalloc_command.ts";
import { dashboardCommand } from "./dashboard/dashboard_command.ts";
import { doctorCommand } from "./doctor/doctor_command.ts";
import { explainCommand } from "./explain/explain_command.ts";
import { placedArgument, placementCommand } from "./placement/placement_command.ts";
import { placeOf, podArgument } from "./formats.ts";
import { INTERRUPTED } from "./global_flags.ts";
import { recommendCommand } from "./recommend/recommend_command.ts";
import { workloadChoice } from "./recommend/choose_workloads.ts";
import { type LimitRequest, limitsProblem } from "./resize/limit_request.ts";
import { reportCommand, reportRequest } from "./report/report_command.ts";
import { resizeCommand } from "./resize/resize_command.ts";
import { restoreCommand } from "./restore/restore_command.ts";
import type { RestoreTarget } from "./restore/switch_off.ts";
import { topCommand } from "./top/top_command.ts";
import type { TopOrder } from "../../shared/view/top_view.ts";
import { versionCommand } from "./version_command.ts";

/** An error in the command line beyond single flags. */
export class UsageProblem extends Error {
  override readonly name = "UsageProblem";
}

/** A command that only needs a cluster; resolves with the exit code. */
export type CheckedCommand = (context: CommandContext) => Promise<number>;

/** Returns the objects that the operands name, by the namespace of the context. */
type InContext<T> = (context: CommandContext) => T;

/** The command of the call. Throws a {@linkcode UsageProblem}. */
export function checkedCommand(call: Call): CheckedCommand {
  const { name, operands, flags } = call;
  if (flags.selector !== undefined && operands.length > 0) {
    throw new UsageProblem(`Cannot ${name}: a name and --selector exclude each other`);
  }
  const timeoutMs = Number(flags.timeout);
  const dryRun = flags.dryRun === true;
  const watchMs = typeof flags.watch === "number" ? flags.watch : undefined;
  if (watchMs !== undefined && (flags.output === "csv" || flags.output === "markdown")) {
    throw new UsageProblem(
      `Cannot ${name}: --watch and -o ${flags.output} exclude each other, since each view would ` +
        "repeat the heads; -o json writes a line for each view",
    );
  }
  switch (name) {
    case "top": {
      const [sort, node] = [flags.sort as TopOrder, flags.node as string | undefined];
      const request = defined({ pods: operands, sort, node, watchMs });
      return (context) => topCommand(request, context);
    }
    case "explain": {
      const container = flags.container as string | undefined;
      return eachPod(call, (pod, context) => explainCommand(defined({ pod, container }), context));
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
    case "report": {
      const request = reportRequest(flags);
      if (typeof request === "string") throw new UsageProblem(request);
      return (context) => reportCommand(request, context);
    }
    case "restore": {
      const target = restoreTarget(call);
      const yes = flags.yes === true;
      return (context) =>
        restoreCommand({ target: target(context), dryRun, yes, timeoutMs }, context);
    }
    case "resize": {
      const limits = flags.cpuLimit as readonly LimitRequest[];
      const problem = limitsProblem(limits);
      if (problem !== undefined) throw new UsageProblem(`Cannot resize: ${problem}`);
      return eachPod(
        call,
        (pod, context) => resizeCommand({ pod, limits, dryRun, timeoutMs }, context),
      );
    }
    case "dashboard": {
      const request = { port: Number(flags.port), open: flags.open === true };
      return (context) => dashboardCommand(request, context);
    }
    default:
      return versionCommand;
  }
}

function podOf(operand: string | undefined): InContext<PodName> {
  const pod = podArgument(operand ?? "");
  if (pod === undefined) {
    throw new UsageProblem(
      operand === undefined
        ? "Cannot find pod: name one, or give --selector"
        : `Cannot find pod: "${operand}" is not the name of a pod`,
    );
  }
  return ({ namespace, cluster }) => {
    const contextNamespace = namespace.all ? cluster.defaultNamespace : namespace.name;
    return { namespace: pod.namespace ?? contextNamespace, name: pod.name };
  };
}

/** Runs the command for the named pod, or for all pods with the labels, one after another. */
function eachPod(
  { name, operands, flags }: Call,
  command: (pod: PodName, context: CommandContext) => Promise<number>,
): CheckedCommand {
  if (flags.selector === undefined) {
    const pod = podOf(operands[0]);
    return (context) => command(pod(context), context);
  }
  return async (context) => {
    const { cluster: { reader }, namespace, selector, world, output } = context;
    const pods = await reader.pods(namespace.all ? undefined : namespace.name, selector);
    if (pods.length === 0) {
      const where = placeOf(namespace);
      throw new CommandProblem(
        `Cannot ${name}: ${where} has no pod with ${selector}; is -n right?`,
      );
    }
    let exitCode = 0;
    for (const [index, { metadata }] of pods.entries()) {
      if (world.signal.aborted) return INTERRUPTED;
      if (output === "yaml") world.out("---\n");
      else if (index > 0 && output !== "json") world.out("\n");
      exitCode = Math.max(exitCode, await command(metadata, context));
    }
    return exitCode;
  };
}

/**
 * The target: a pod, labels, a namespace or all, named explicitly: a forgotten argument must not restore a
 * namespace.
 */
function restoreTarget({ operands, flags }: Call): InContext<RestoreTarget> {
  const [operand] = operands;
  const all = flags.all === true || flags.allNamespaces === true;
  if (operand !== undefined && all) {
    throw new UsageProblem(`Cannot restore: pod "${operand}" and --all exclude each other`);
  }
  if (operand !== undefined) {
    const pod = podOf(operand);
    return (context) => ({ kind: "pod", pod: pod(context) });
  }
  if (flags.selector !== undefined) {
    if (flags.all === true) {
      throw new UsageProblem("Cannot restore: --selector and --all exclude each other");
    }
    const selector = String(flags.selector);
    return ({ namespace }) => ({
      kind: "labels",
      selector,
      ...(namespace.all ? {} : { namespace: namespace.name }),
    });
  }
  if (all && flags.namespace !== undefined) {
    throw new UsageProblem("Cannot restore: --namespace and --all exclude each other");
  }
  if (all) return () => ({ kind: "all" });
  if (flags.namespace === undefined) {
    throw new UsageProblem("Cannot restore: name a pod, or give --selector, -n NAMESPACE or --all");
  }
  const namespace = String(flags.namespace);
  return () => ({ kind: "namespace", namespace });
}
