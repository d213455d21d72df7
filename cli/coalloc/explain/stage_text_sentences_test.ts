/** The sentences of `explain` on whether CPU is scarce. */
import { assertSentences } from "../../../tests/fixtures/assert_sentences.ts";
import { sampleContainerView, sampleNodeView } from "../../../tests/fixtures/cli/node_views.ts";
import type { ContainerView, NodeView } from "../../../shared/view/node_view.ts";
import { stateText } from "./stage_text.ts";

const FREE = { mode: "uncongested", price: 0, state: "ample", idleCPU: "free" } as const;

/** The sentence of a node with these containers; empty where there is none. */
function words(node: Partial<NodeView>, ...views: Partial<ContainerView>[]): string {
  return stateText(sampleNodeView([], node), views.map(sampleContainerView)) ?? "";
}

Deno.test({
  name: "sentences of explain: whether CPU is scarce",
  permissions: "none",
  fn: () =>
    assertSentences([
      [
        "free",
        () => words(FREE, { limit: 800, target: 800 }),
        "CPU is free on this node: limit at its ceiling",
      ],
      [
        "free, not there yet",
        () => words(FREE, { target: 800 }),
        "CPU is free on this node: limit on its way to its ceiling",
      ],
      [
        "free, the request moves with the limit",
        () => words(FREE, { target: 480 }),
        "CPU is free on this node: limit follows the need, since the request moves with it",
      ],
      ["ample, limits follow demand", () => words({ ...FREE, idleCPU: "tight" }, {}), ""],
      [
        "scarce",
        () => words({ state: "scarce", stateSeconds: 12.3 }, { share: 240 }, { share: 400 }),
        "CPU is scarce since 12 s: share 640m of 3.6 CPUs, price 0.267",
      ],
      ["an older agent", () => words({}, {}), ""],
      ["no container of the pod", () => words(FREE), ""],
    ]),
});
