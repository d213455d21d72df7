/** The sentences of `resize`. */
import { assertSentences } from "../../../tests/fixtures/assert_sentences.ts";
import { sampleContainer } from "../../../tests/contract/support/sample_objects.ts";
import { addMarketPod, sceneTest } from "../../../tests/fixtures/cli/coalloc_scene.ts";

sceneTest("sentences of resize", async (scene) => {
  const { Pod: pods, LimitRange: ranges } = scene.api.store.tables;
  addMarketPod(scene, "web", { limit: 450, own: 200 });
  addMarketPod(scene, "db", { limit: 450, own: 200, guaranteed: true });
  const two = addMarketPod(scene, "two", { limit: 450, own: 200 });
  pods.seed({
    ...two,
    metadata: { ...two.metadata, name: "both", uid: "both" },
    containers: ["app", "proxy"].map((name) => ({ ...sampleContainer(), name })),
  });
  const resized = (line: string) => scene.said(`resize ${line}`);
  await assertSentences([
    [
      "Applied",
      resized("web --cpu-limit 1"),
      "shop/web  app 450m → 1000m: the kubelet has it\n",
    ],
    [
      "Guaranteed",
      resized("db --cpu-limit 1"),
      "shop/db  app 450m → 1000m (request and limit): the kubelet has it\n",
    ],
    [
      "DryRun",
      resized("web --cpu-limit 500m --dry-run"),
      "shop/web  app 1000m → 500m: nothing was changed (dry run)\n",
    ],
    [
      "several containers",
      resized("both --cpu-limit 300m"),
      "Cannot resize pod both: it has several containers (app, proxy); name one: --cpu-limit " +
      "app=300m\n",
    ],
    [
      "no container",
      resized("both --cpu-limit db=300m"),
      'Cannot resize pod both: it has no container "db", only app, proxy\n',
    ],
    [
      "no pod",
      resized("gone --cpu-limit 300m"),
      "Cannot resize pod gone: namespace shop has no such pod; is -n right?\n",
    ],
    [
      "no quantity",
      resized("web"),
      "Cannot run kubectl coalloc resize: required option '--cpu-limit <[container=]quantity>' " +
      "not specified; see kubectl coalloc resize --help\n",
    ],
    [
      "LimitRange",
      () => {
        ranges.seed({
          metadata: { name: "small", namespace: "shop", uid: "", resourceVersion: "" },
          items: [{ type: "Container", max: 500 }],
        });
        return resized("web --cpu-limit 600m")();
      },
      "Cannot resize pod web: the LimitRange allows no more, or no less: app cpu limit " +
      "600m to 500m (LimitRange)\n",
    ],
  ]);
});
