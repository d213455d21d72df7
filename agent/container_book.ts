/**
 * What the agent remembers of each container between two clearings.
 *
 * @module
 */
import type { ContainerSample } from "../shared/cgroup/sample.ts";
import type { DemandRule } from "../shared/demand/signal.ts";
import type { PaceMemory } from "../shared/pacing/paced_container.ts";

/** One container's page. */
export interface ContainerPage {
  readonly rule: DemandRule;
  /** Absent until the first readings are there. Millicores. */
  demand?: number;
  sample?: ContainerSample;
  pace: PaceMemory;
  credit: number;
}

/** Pages by hex container id. */
export type ContainerBook = Map<string, ContainerPage>;

/** Drops the pages of containers that are not named any more. */
export function forgetOthers(book: ContainerBook, named: ReadonlySet<string>): void {
  for (const id of book.keys()) {
    if (!named.has(id)) book.delete(id);
  }
}

/**
 * Feeds a container's newest sample to its estimate. A sample that was seen already changes
 * nothing, so a container that is looked at less often keeps its demand in between.
 */
export function readSample(
  page: ContainerPage,
  sample: ContainerSample | undefined,
  ceiling: number,
): void {
  if (sample === undefined || sample.at === page.sample?.at) return;
  page.sample = sample;
  page.demand = page.rule({
    at: sample.at,
    intervalMs: sample.intervalMs,
    usage: sample.usage,
    heldBack: sample.heldBack,
    ceiling,
  });
}
