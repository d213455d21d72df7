/**
 * What of a recommendation may go into a manifest. Pure.
 *
 * A patch passes none of the guards that stand before an application, so that those which keep the
 * server from refusing and containers from being killed are made up for here.
 *
 * @module
 */
import { leastSafeMemory } from "../../../shared/rightsizing/guards/memory_decrease.ts";
import type { AdvisedContainer, AdvisedWorkload, ContainerAmounts } from "./advice_view.ts";
import { amountWord } from "./amount_words.ts";

/** The amounts, and what was done to them. */
export interface MergeableAmounts {
  readonly values: ContainerAmounts;
  /** In sentences, without a period. */
  readonly notes: readonly string[];
}

/**
 * The recommendation without memory that would be lowered below the largest sample + 15 %, or whose
 * largest sample nobody knows, and with requests cut at limits that stay.
 */
export function mergeableAmounts(
  container: AdvisedContainer,
  { reason }: Pick<AdvisedWorkload, "reason">,
): MergeableAmounts {
  const { recommended = {}, template, pods } = container;
  // Without rights on manifests pods tell, the most of which are alike.
  const present = template ?? pods[0] ?? {};
  const unsafe = unsafeMemory(container, { present, reason });
  const { memory: _memory, memoryLimit: _memoryLimit, ...rest } = recommended;
  const kept: ContainerAmounts = unsafe === undefined ? recommended : rest;
  const cpu = cut(kept.cpu, kept.cpuLimit ?? present.cpuLimit);
  const memory = cut(kept.memory, kept.memoryLimit ?? present.memoryLimit);
  return {
    values: {
      ...kept,
      ...(cpu === undefined ? {} : { cpu }),
      ...(memory === undefined ? {} : { memory }),
    },
    notes: [
      ...(unsafe === undefined ? [] : [unsafe]),
      ...(cpu === undefined || cpu === kept.cpu ? [] : [cutNote("cpu", cpu)]),
      ...(memory === undefined || memory === kept.memory ? [] : [cutNote("memory", memory)]),
    ],
  };
}

/** Why memory stays as it is; undefined where it may change. */
function unsafeMemory(
  { recommended = {}, usage }: AdvisedContainer,
  { present, reason }: {
    readonly present: ContainerAmounts;
    readonly reason: string | undefined;
  },
): string | undefined {
  const { memory = Infinity, memoryLimit = Infinity } = recommended;
  // A limit where there was none lowers it, too.
  const lowered = Math.min(
    memory < (present.memory ?? 0) ? memory : Infinity,
    memoryLimit < (present.memoryLimit ?? Infinity) ? memoryLimit : Infinity,
  );
  if (lowered === Infinity) return undefined;
  const left = `memory is left out: ${amountWord("memory", lowered)}`;
  const largest = usage?.memory?.max;
  if (largest === undefined) return `${left} is less than it has, and its peak is not known`;
  if (lowered < leastSafeMemory(largest)) {
    const peak = amountWord("memory", largest);
    return `${left} is below its largest sample, ${peak}, + 15 %, and could kill it`;
  }
  return reason === "UnsafeMemoryDecrease"
    ? `${left} is unsafe by the controller's word`
    : undefined;
}

function cut(request: number | undefined, limit = Infinity): number | undefined {
  return request === undefined ? undefined : Math.min(request, limit);
}

function cutNote(what: "cpu" | "memory", limit: number): string {
  return `${what} is cut to the limit, ${amountWord(what, limit)}, which the patch leaves alone`;
}
