/**
 * Changes of limits in the order in which the API stores them.
 *
 * @module
 */
import type { ControllerScene } from "./controller_scene.ts";

/** A change of a pod's limit. */
interface LimitChange {
  /** The pod's name. */
  readonly name: string;
  /** Millicores. */
  readonly by: number;
  /** Monotonic time, ms. */
  readonly atMs: number;
}

/** Changes of the limits of the pods that there are, from now on: the list grows. */
export function limitChanges({ api, clock, tables, limits }: ControllerScene): LimitChange[] {
  const changes: LimitChange[] = [];
  const names = tables.Pod.all().map(({ metadata }) => metadata.name);
  const known = new Map(names.map((name) => [name, limits(name).wanted ?? 0]));
  api.store.onChange(() => {
    for (const [name, before] of known) {
      const { wanted = 0 } = limits(name);
      if (wanted !== before) changes.push({ name, by: wanted - before, atMs: clock.monotonic() });
      known.set(name, wanted);
    }
  });
  return changes;
}
