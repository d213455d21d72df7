/**
 * Mutants that miss an event, and never look again.
 *
 * @module
 */
import type { Mutant } from "./mutant.ts";

/** Each with the text that it replaces. */
export const MISSED_EVENTS: readonly Mutant[] = [
  {
    name: "a patch that the server deferred is not sent again",
    kind: "missed",
    file: "controller/allocation/report.ts",
    from: "if (!lasts) return { requeueAfterMs: waitMs };",
    to: "if (!lasts) return {};",
  },
  {
    name: "a list notifies no subscriber",
    kind: "missed",
    file: "shared/control/informer.ts",
    from: "  notify(state, changed);\n",
    to: "",
  },
  {
    name: "a list does not notify of what is gone",
    kind: "missed",
    file: "shared/control/object_cache.ts",
    from: "return [...gone, ...changed.map(([key]) => key)];",
    to: "return changed.map(([key]) => key);",
  },
  {
    name: "a key that changes while it is in work is dropped",
    kind: "missed",
    file: "shared/control/work_queue.ts",
    from: "(inWork.has(key) ? dueAgain : ready).add(key);",
    to: "if (!inWork.has(key)) ready.add(key);",
  },
  {
    name: "a pod's change wakes no worker",
    kind: "missed",
    file: "controller/allocation/allocation_loop.ts",
    from: "    caches.pods.subscribe((key) => queue.add(key)),\n",
    to: "",
  },
  {
    name: "a record's change wakes no worker",
    kind: "missed",
    file: "controller/allocation/allocation_loop.ts",
    from: "    caches.allocations.subscribe(addPodOf),\n",
    to: "",
  },
  {
    name: "a namespace's change wakes no worker",
    kind: "missed",
    file: "controller/allocation/allocation_loop.ts",
    from: "    caches.namespaces.subscribe(addPodsOf),\n",
    to: "",
  },
  {
    name: "a change of the settings wakes no worker",
    kind: "missed",
    file: "controller/allocation/allocation_loop.ts",
    from: "[parts.onConfigChange(lookAtAll)]",
    to: "[]",
  },
  {
    name: "a settings file with faults does not switch the market off",
    kind: "missed",
    file: "controller/live_settings.ts",
    from: "if (!next.readable.values.market) take(",
    to: "if (next.readable === undefined) take(",
  },
  {
    name: "a new leader looks at no pod by itself",
    kind: "missed",
    file: "controller/allocation/allocation_loop.ts",
    from: "    lookAtAll();\n",
    to: "",
  },
  {
    name: "requeues are lost",
    kind: "missed",
    file: "shared/control/reconcile_loop.ts",
    from: "if (requeueAfterMs !== undefined) {",
    to: "if (requeueAfterMs === -1) {",
  },
];
