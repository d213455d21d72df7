/**
 * What the LimitRanges of a namespace say of CPU and memory.
 *
 * @module
 */
import type { LimitRange, LimitRangeBounds } from "../api/limit_range.ts";
import { cpuRangesOf, rangesOf } from "../resize/checks/limit_range.ts";
import type { ResourceRanges } from "./guards/rightsizing_facts.ts";

/**
 * All LimitRanges together; undefined where none says anything of either, and has no defaults. Those
 * that can't be read seem to say nothing: `namespaceRules()` tells of them.
 */
export function resourceRangesOf(limitRanges: readonly LimitRange[]): ResourceRanges | undefined {
  const items = limitRanges.flatMap((one) => one.items);
  const cpu = items.filter(isBound);
  const memory = items.flatMap(({ type, memory }) =>
    memory === undefined ? [] : [{ type, ...memory }]
  );
  const { defaults } = cpuRangesOf(limitRanges) ?? {};
  const ranges = {
    ...(cpu.length === 0 ? {} : { cpu: rangesOf(cpu) }),
    ...(memory.length === 0 ? {} : { memory: rangesOf(memory) }),
    ...(defaults === undefined ? {} : { defaults }),
  };
  return Object.keys(ranges).length === 0 ? undefined : ranges;
}

function isBound({ min, max, ratio }: LimitRangeBounds): boolean {
  return min !== undefined || max !== undefined || ratio !== undefined;
}
