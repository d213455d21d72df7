/**
 * `restore`: takes pods out of the market, and gives them their original limits back.
 *
 * @module
 */
import { unlessRefused } from "../../../adapters/kube/client/connection.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { RESTORE_MANAGER } from "../../../shared/resize/original_limits.ts";
import { defined } from "../../../shared/defined.ts";
import { textLines } from "../../terminal/terminal_text.ts";
import { type Cluster, type ClusterReader, type CommandContext, CommandProblem } from "../ports.ts";
import { inParallel } from "../../../shared/control/in_parallel.ts";
import { existingPod } from "../poll_pod.ts";
import { marketOverride } from "../market_settings.ts";
import { structuredOutput } from "../output.ts";
import { awaitRelease } from "./release.ts";
import {
  allocationsOnRecord,
  isDone,
  type RestorePlans,
  restorePlans,
  restorePod,
  type RestoreResult,
  restoreSteps,
} from "./restore_pod.ts";
import { overrideText, planText, resultLine, summaryText } from "./restore_text.ts";
import { type RestoreTarget, switchOff, targetText } from "./switch_off.ts";

/** The arguments of `restore`. */
export interface RestoreRequest {
  readonly target: RestoreTarget;
  readonly dryRun: boolean;
  /** Don't ask. */
  readonly yes: boolean;
  readonly timeoutMs: number;
}

/**
 * Takes the target out of the market and restores its pods. Resolves with 0 when all pods are restored, else
 * with 1; a second run continues.
 */
export async function restoreCommand(
  request: RestoreRequest,
  context: CommandContext,
): Promise<number> {
  const { target, dryRun, timeoutMs } = request;
  const { cluster, world, output, style } = context;
  const { reader } = cluster;
  // Before the switch, after which a controller removes allocations.
  const { pods, allocations } = await collect(target, reader);
  const plans = await withTemplates(restorePlans(pods, allocations), reader);
  if (dryRun) {
    world.out(structuredOutput(planData(plans), output) ?? planText(target, plans));
    return plans.unrecorded.length === 0 ? 0 : 1;
  }
  if (!isConfirmed(request, { context, plans })) {
    world.err("Nothing was changed.\n");
    return 1;
  }
  const override = target.kind === "all" ? await readOverride(cluster) : undefined;
  const switched = [
    ...await switchOff(target, { reader, switches: cluster.switches, pods }),
    ...(override === undefined ? [] : [overrideText(override)]),
  ];
  world.err(textLines(switched.map((note) => `${note}.`)));

  const readable = output === "table" || output === "wide";
  const parts = {
    reader,
    writer: cluster.limitWriter(RESTORE_MANAGER),
    clock: world.clock,
    signal: world.signal,
    timeoutMs,
  };
  const lines = patientLines(world);
  const restored = await inParallel(plans.plans, async (plan) => {
    const result = await restorePod(plan, parts);
    if (readable) lines.write(resultLine(result, style));
    return result;
  });
  lines.end();
  const release = await awaitRelease(restored, {
    ...parts,
    ...namespaceOf(target),
    ...(override === undefined ? {} : { override }),
  });
  const results = [...release.results, ...plans.unrecorded.map(unknownResult)];
  const unseen = release.unseen === undefined ? [] : [release.unseen];
  world.err(textLines(unseen.map((note) => `${note}.`)));
  const notes = [...switched, ...unseen];
  const { untouched } = plans;
  if (readable) {
    const late = results.filter((result) => !restored.includes(result));
    for (const result of late) world.out(resultLine(result, style));
    world.out(summaryText(results, { untouched }));
  } else world.out(structuredOutput({ results, untouched, notes }, output) ?? "");
  return results.every(isDone) ? 0 : 1;
}

/**
 * Writes lines about pods while others are being restored. A broken pipe, as of `restore … | head -1`, must not
 * leave pods half restored, so `end` throws it.
 */
function patientLines(
  { out }: Pick<CommandContext["world"], "out">,
): { readonly write: (line: string) => void; readonly end: () => void } {
  let failure: Deno.errors.BrokenPipe | undefined;
  return {
    write(line) {
      if (failure !== undefined) return;
      try {
        out(line);
      } catch (error) {
        if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
        failure = error;
      }
    },
    end() {
      if (failure !== undefined) throw failure;
    },
  };
}

async function collect(
  target: RestoreTarget,
  reader: ClusterReader,
): Promise<{ pods: readonly Pod[]; allocations: readonly PodAllocation[] }> {
  const { namespace } = namespaceOf(target);
  const [pods, allocations] = await Promise.all([
    target.kind === "pod"
      ? existingPod(reader, { pod: target.pod, action: "restore" }).then((pod) => [pod])
      : reader.pods(namespace, target.kind === "labels" ? target.selector : undefined),
    allocationsOnRecord(reader, namespace),
  ]);
  return { pods, allocations };
}

function namespaceOf(target: RestoreTarget): { readonly namespace?: string } {
  if (target.kind === "all") return {};
  return target.kind === "pod"
    ? { namespace: target.pod.namespace }
    : defined({ namespace: target.namespace });
}

/** The flag or variable that keeps the market on; undefined where the user may not read it. */
async function readOverride(
  { placement }: Pick<Cluster, "placement">,
): Promise<string | undefined> {
  const command = await unlessRefused(placement.controllerCommand(), 403);
  return command && marketOverride(command);
}

/** Adds plans for pods without an allocation, by the templates of their owners. */
async function withTemplates(plans: RestorePlans, reader: ClusterReader): Promise<RestorePlans> {
  const found = await inParallel(plans.unrecorded, async (pod) => ({
    pod,
    originalLimits: await reader.templateLimits(pod),
  }));
  const known = found.flatMap(({ pod, originalLimits }) =>
    originalLimits === undefined ? [] : [{ pod, originalLimits, record: "template" as const }]
  );
  return {
    plans: [...plans.plans, ...known],
    unrecorded: found.filter((one) => one.originalLimits === undefined).map(({ pod }) => pod),
    untouched: plans.untouched,
  };
}

/** Asks the user to confirm, unless the user has named one pod. */
function isConfirmed(
  { target, yes }: RestoreRequest,
  { context: { world }, plans }: { readonly context: CommandContext; readonly plans: RestorePlans },
): boolean {
  if (yes || target.kind === "pod") return true;
  const where = targetText(target);
  if (!world.inIsTerminal) {
    throw new CommandProblem(
      `Cannot restore ${where}: --yes is missing, and there is no terminal to ask on; ` +
        "--dry-run shows what would be done",
    );
  }
  const count = plans.plans.length;
  return world.confirm(
    `Take ${where} out of the market and give ${count} ${
      count === 1 ? "pod" : "pods"
    } their original ` +
      "limits back?",
  );
}

function unknownResult({ metadata }: Pod): RestoreResult {
  return {
    namespace: metadata.namespace,
    pod: metadata.name,
    outcome: "OriginalUnknown",
    message: "its limits were set by the market and its own are not on record: recreate the pod, " +
      "or set them with kubectl coalloc resize",
    steps: [],
    tookMs: 0,
  };
}

function planData({ plans, unrecorded, untouched }: RestorePlans): unknown {
  const named = ({ metadata: { namespace, name: pod } }: Pod) => ({ namespace, pod });
  return {
    plans: plans.map((plan) => ({
      ...named(plan.pod),
      record: plan.record,
      steps: restoreSteps(plan),
    })),
    unrecorded: unrecorded.map(named),
    untouched,
  };
}
