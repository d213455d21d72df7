/**
 * `resize`: sets limits by hand, after the same checks as the controller's.
 *
 * @module
 */
import type { Pod } from "../../../shared/api/pod.ts";
import type { EnforcementReason } from "../../../shared/api/reasons/enforcement_reasons.ts";
import { decide, MANUAL_CHAIN } from "../../../shared/resize/chain.ts";
import { limitsAreOurs, recordedLimitsOf } from "../../../shared/resize/original_limits.ts";
import { resizePatch } from "../../../shared/resize/patch.ts";
import { textLines } from "../../terminal/terminal_text.ts";
import { type CommandContext, CommandProblem, type PodName } from "../ports.ts";
import { cpuText } from "../../../shared/view/figures.ts";
import { existingPod, type PollEnd, pollPod, WAITS } from "../poll_pod.ts";
import { limitStep } from "../restore/restore_pod.ts";
import { stepsText } from "../restore/restore_text.ts";
import { structuredOutput } from "../output.ts";
import type { LimitRequest } from "./limit_request.ts";

/** Not a field manager of the product's programs, so that the value becomes the new original limit. */
const FIELD_MANAGER = "kubectl-coalloc";

/** The arguments of `resize`. */
export interface ResizeRequest {
  readonly pod: PodName;
  readonly limits: readonly LimitRequest[];
  readonly dryRun: boolean;
  readonly timeoutMs: number;
}

/** Sets the limits and waits for the kubelet. Resolves with 0 when it reports them, else with 1. */
export async function resizeCommand(
  request: ResizeRequest,
  context: CommandContext,
): Promise<number> {
  const { reader } = context.cluster;
  const { namespace, name } = request.pod;
  const pod = await existingPod(reader, { pod: request.pod, action: "resize" });
  const wanted = wantedLimits(pod, request.limits);
  const input = await reader.limitInput(pod);
  const first = decide(MANUAL_CHAIN, { ...input, pod }, { limits: wanted });
  if (first.reason !== undefined && first.reason !== "Applied" && !WAITS.has(first.reason)) {
    throw new CommandProblem(
      `Cannot resize pod ${name}: ${first.message ?? first.reason} (${first.reason})`,
    );
  }
  const steps = [...wanted].map(([container, to]) => {
    const from = pod.containers.find((one) => one.name === container)?.limits.cpu;
    return limitStep(pod, { container, from, to });
  });
  const end = request.dryRun
    ? { reason: "DryRun" as const, message: "nothing was changed" }
    : await apply(request, { pod, wanted, context });
  const result = { namespace, pod: name, outcome: end.reason, message: end.message, steps };
  context.world.out(
    structuredOutput(result, context.output) ??
      textLines([`${namespace}/${name}  ${stepsText(steps)}: ${endText(end)}`]),
  );
  return end.reason === "Applied" || end.reason === "DryRun" ? 0 : 1;
}

function apply(
  { pod: name, timeoutMs }: ResizeRequest,
  { pod, wanted, context }: {
    readonly pod: Pod;
    readonly wanted: ReadonlyMap<string, number>;
    readonly context: CommandContext;
  },
): Promise<PollEnd> {
  const { cluster, world } = context;
  const writer = cluster.limitWriter(FIELD_MANAGER);
  let sent = false;
  return pollPod({ ...name, uid: pod.metadata.uid }, {
    reader: cluster.reader,
    clock: world.clock,
    signal: world.signal,
    timeoutMs,
    async check(now): Promise<PollEnd> {
      const decision = decide(MANUAL_CHAIN, { pod: now }, { limits: wanted });
      const { changes, reason = "ResizeInProgress", message = "" } = decision;
      if (changes.length > 0 && sent) return await resultAfterChange(now, { wanted, context });
      if (changes.length > 0) {
        await writer.resize(name, resizePatch(now.metadata.uid, changes));
        sent = true;
        return { reason: "ResizeInProgress", message: "the kubelet has not reported it yet" };
      }
      return { reason, message: reason === "Applied" ? "the kubelet has it" : message };
    },
  });
}

/**
 * The result after another client has set another limit since. In the market that is expected, once the
 * controller has recorded the value as the new original limit.
 */
async function resultAfterChange(
  pod: Pod,
  { wanted, context: { cluster } }: {
    readonly wanted: ReadonlyMap<string, number>;
    readonly context: CommandContext;
  },
): Promise<PollEnd> {
  if (!limitsAreOurs(pod)) {
    return { reason: "Refused", message: "another client has set another limit meanwhile" };
  }
  const { namespace, uid } = pod.metadata;
  const allocations = await cluster.reader.allocations(namespace);
  const recorded = recordedLimitsOf(allocations.find(({ spec }) => spec.podUID === uid));
  const present = pod.containers.filter(({ name }) => wanted.has(name))
    .map(({ name, limits: { cpu: limitCPU } }) => `${name} at ${cpuText(limitCPU)}`).join(", ");
  return [...wanted].every(([name, limit]) => recorded?.get(name) === limit)
    ? { reason: "Applied", message: `the new original limit; the market goes on with ${present}` }
    : { reason: "ResizeInProgress", message: `the market has set ${present}` };
}

/** Limits by container; a quantity without a name is for the only container beside sidecars. */
function wantedLimits(pod: Pod, limits: readonly LimitRequest[]): ReadonlyMap<string, number> {
  const names = pod.containers.map(({ name }) => name);
  const regular = pod.containers.filter(({ sidecar }) => !sidecar).map(({ name }) => name);
  const list = names.join(", ");
  return new Map(limits.map(({ container, limitCPU, text }) => {
    const name = container ?? (regular.length === 1 ? regular[0] : undefined);
    if (name === undefined) {
      throw new CommandProblem(
        `Cannot resize pod ${pod.metadata.name}: it has several containers (${list}); ` +
          `name one: --cpu-limit ${regular[0]}=${text}`,
      );
    }
    if (!names.includes(name)) {
      throw new CommandProblem(
        `Cannot resize pod ${pod.metadata.name}: it has no container "${name}", only ${list}`,
      );
    }
    return [name, limitCPU];
  }));
}

function endText({ reason, message }: { reason: EnforcementReason; message: string }): string {
  if (reason === "Applied") return message;
  return reason === "DryRun" ? `${message} (dry run)` : `${reason}: ${message}`;
}
