/**
 * What of a recommendation may go into a manifest. Pure.
 *
 * A patch passes none of the guards that stand before an application, so that those which keep the
 * server from refusing and containers from being killed are made up for here.
 *
 * @module
 */
import { defined } from "../../../shared/defined.ts";
import { pair, type ResourcePair } from "../../../shared/resize/inputs/resources.ts";
import { safeMemory } from "../../../shared/rightsizing/guards/memory_decrease.ts";
import type { AdvisedContainer, ContainerAmounts } from "../../../shared/view/advice_view.ts";
import { amountText } from "../../../shared/view/changes.ts";

/** The amounts, and what was done to them. */
export interface MergeableAmounts {
  readonly values: ContainerAmounts;
  /** In sentences, without a period. */
  readonly notes: readonly string[];
}

/**
 * The recommendation with memory lowered no further than to the largest sample + 15 %, not at all where
 * that sample is unknown, and with requests cut at limits that stay.
 */
export function mergeableAmounts(container: AdvisedContainer): MergeableAmounts {
  const { recommended = {}, template, pods } = container;
  // Without rights on manifests the values of most pods count.
  const present = template ?? pods[0] ?? {};
  const { memory: _memory, memoryLimit: _memoryLimit, ...rest } = recommended;
  const { pair: { request, limit }, unsafe } = safeAmounts(container, present);
  const kept: ContainerAmounts = { ...rest, ...defined({ memory: request, memoryLimit: limit }) };
  const cpu = cut(kept.cpu, kept.cpuLimit ?? present.cpuLimit);
  const memory = cut(kept.memory, kept.memoryLimit ?? present.memoryLimit);
  return {
    values: { ...kept, ...defined({ cpu, memory }) },
    notes: [
      ...(unsafe === undefined ? [] : [unsafe]),
      ...(cpu === undefined || cpu === kept.cpu ? [] : [cutNote("cpu", cpu)]),
      ...(memory === undefined || memory === kept.memory ? [] : [cutNote("memory", memory)]),
    ],
  };
}

/** Memory that may be asked for, and why it is not all that is recommended. */
function safeAmounts(
  { recommended = {}, usage }: AdvisedContainer,
  present: ContainerAmounts,
): { readonly pair: ResourcePair; readonly unsafe?: string } {
  const asked = pair(recommended.memory, recommended.memoryLimit);
  const had = pair(present.memory, present.memoryLimit);
  const peak = usage?.memory?.max;
  const safe = safeMemory(asked, { present: [had], peak });
  const side = safe.request === asked.request ? "limit" : "request";
  if (safe[side] === asked[side]) return { pair: safe };
  const what = side === "limit" ? "memory limit" : "memory";
  const fate = safe[side] === undefined
    ? `${what} is left out`
    : `${what} is lowered to no less than ${amountText("memory", safe[side])}`;
  const lowered = amountText("memory", asked[side] ?? 0);
  const why = peak === undefined
    ? `${lowered} is less than it has, and its peak is not known`
    : `${lowered} is below its largest sample, ${amountText("memory", peak)}, + 15 %, and could ` +
      "kill it";
  return { pair: safe, unsafe: `${fate}: ${why}` };
}

function cut(request: number | undefined, limit = Infinity): number | undefined {
  return request === undefined ? undefined : Math.min(request, limit);
}

function cutNote(what: "cpu" | "memory", limit: number): string {
  return `${what} is cut to the limit, ${amountText(what, limit)}, which the patch leaves alone`;
}
