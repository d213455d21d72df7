/**
 * A restore as text. Pure.
 *
 * @module
 */
import { paint, type TerminalStyle, textLines } from "../../terminal/terminal_text.ts";
import { cpuText } from "../../../shared/view/figures.ts";
import { CONTROLLER_DEPLOYMENT } from "../../../shared/installation.ts";
import {
  isDone,
  type LimitStep,
  type RestorePlans,
  type RestoreResult,
  restoreSteps,
} from "./restore_pod.ts";
import { type RestoreTarget, switchText } from "./switch_off.ts";

/**
 * `app 450m → 200m, proxy 50m → 40m`, with a note about requests that move; or that nothing differs.
 */
export function stepsText(steps: readonly LimitStep[]): string {
  if (steps.length === 0) return "limits as they were";
  const changes = steps.map(({ container, from, to }) =>
    from === to ? `${container} ${cpuText(to)}` : `${container} ${cpuText(from)} → ${cpuText(to)}`
  ).join(", ");
  return steps.some(({ withRequest }) => withRequest) ? `${changes} (request and limit)` : changes;
}

/** The line about the result for a pod. */
export function resultLine(result: RestoreResult, style: TerminalStyle = {}): string {
  const { namespace, pod, outcome, message, steps, tookMs } = result;
  const done = isDone(result);
  const verdict = paint(outcome.padEnd(14), done ? "green" : "red", style);
  const detail = outcome === "Restored"
    ? steps.length === 0 ? message : `${stepsText(steps)} (${(tookMs / 1000).toFixed(1)} s)`
    : message;
  return textLines([`${verdict}  ${namespace}/${pod}  ${detail}`]);
}

/** The plan of a dry run. */
export function planText(target: RestoreTarget, plans: RestorePlans): string {
  const lines = plans.plans.map((plan) => {
    const { namespace, name } = plan.pod.metadata;
    const source = plan.record === "template" ? " (from the owner's template)" : "";
    return `  ${namespace}/${name}  ${stepsText(restoreSteps(plan))}${source}`;
  });
  const unknown = plans.unrecorded.map(({ metadata }) =>
    `  ${metadata.namespace}/${metadata.name}  OriginalUnknown: no record of its original limits`
  );
  return textLines([
    `Would ${switchText(target)}, then restore:`,
    ...lines,
    ...unknown,
    ...(lines.length + unknown.length === 0 ? ["  no pod: none has limits of the market"] : []),
  ]);
}

/** Why the market stays on, and what to do. */
export function overrideText(override: string): string {
  return `The market stays on: ${override} in the Deployment ${CONTROLLER_DEPLOYMENT}, which takes ` +
    "precedence over the settings; remove it there";
}

/** The last line: how many pods were restored, and what to do about the others. */
export function summaryText(
  results: readonly RestoreResult[],
  { untouched }: { readonly untouched: number },
): string {
  if (results.length === 0) {
    const pods = untouched === 1 ? "the pod has its" : `${untouched} pods have their`;
    return `Nothing to restore: ${pods} original limits.\n`;
  }
  const failed = results.filter((result) => !isDone(result));
  const restored = results.length - failed.length;
  const others = untouched === 0 ? "" : `, ${untouched} with original limits before`;
  const pods = results.length === 1 ? "pod" : "pods";
  const head = `${restored} of ${results.length} ${pods} restored${others}`;
  if (failed.length === 0) return `${head}.\n`;
  const outcomes = [...new Set(failed.map(({ outcome }) => outcome))].join(", ");
  return `${head}; ${failed.length} not (${outcomes}): mend what the lines above name, and run it ` +
    "again.\n";
}
