/** The sentences of `top`. */
import { assertSentences } from "../../../tests/fixtures/assert_sentences.ts";
import { sceneTest } from "../../../tests/fixtures/cli/coalloc_scene.ts";
import { sampleNodeView } from "../../../tests/fixtures/cli/node_views.ts";

sceneTest("sentences of top", async (scene) => {
  // Leaves out the lines of nodes.
  const shown = (line = "") => async (): Promise<string> =>
    (await scene.said(`top${line}`)()).replaceAll(/^node-1 .*\n/gm, "");
  await assertSentences([
    [
      "no agent",
      shown(),
      "No pods in the market here.\n" +
      "\n" +
      "No agent runs: only the allocations are known, as old as they say\n",
    ],
    [
      "no answer",
      () => {
        scene.agents.push("node-1", "node-2");
        scene.views.set("node-1", sampleNodeView([]));
        return shown()();
      },
      "No pods in the market here.\n" +
      "\n" +
      "Cannot read the agent of node node-2: no answer in 5000 ms; of its pods only the " +
      "allocations are known\n",
    ],
    [
      "no such pod",
      shown(" gone --node node-1"),
      "Pod gone is not in the market of namespace shop on node node-1; -A looks in all " +
      "namespaces, kubectl coalloc explain gone -n shop shows why\n",
    ],
    [
      "no such pod in any namespace",
      shown(" gone -A"),
      "Cannot read the agent of node node-2: no answer in 5000 ms; of its pods only the " +
      "allocations are known\n" +
      "Pod gone is not in the market; kubectl coalloc explain gone -n NAMESPACE shows why\n",
    ],
    [
      "pod after -w",
      shown(" -w web-0"),
      "Cannot run kubectl coalloc top: option '-w, --watch [interval]' argument 'web-0' is " +
      "invalid. Give a duration from 200ms to 1h, for instance 250ms or 2s; put pods before " +
      "-w, or write --watch=2s; see kubectl coalloc top --help\n",
    ],
  ]);
});
