import assert from "node:assert/strict";
import { sampleNode } from "../../../tests/contract/support/sample_objects.ts";
import { ownedBy, sampleHPA } from "../../../tests/fixtures/sample_workloads.ts";
import { SKIP_GUARANTEED } from "../../../shared/api/market_keys.ts";
import { remedyFor } from "../../../shared/api/reasons/reasons.ts";
import { addMarketPod, coallocScene } from "../../../tests/fixtures/cli/coalloc_scene.ts";
import { sampleNodeView, samplePodView } from "../../../tests/fixtures/cli/node_views.ts";

Deno.test({
  name: "explainCommand() explains a pod as text and as data",
  permissions: { env: ["LOG_TOKENS", "LOG_STREAM"] },
  async fn() {
    const scene = coallocScene();
    const { metadata: { uid } } = addMarketPod(scene, "web", { limit: 200, own: 200 });
    scene.agents.push("node-1");
    scene.views.set("node-1", sampleNodeView([samplePodView("web", { uid })]));
    assert.equal(await scene.run("explain", "web"), 0);
    assert.match(scene.out, /^Readings/m);
    scene.out = "";
    assert.equal(await scene.run("explain", "pod/web", "-c", "app", "-o", "json"), 0);
    const { containers, blocked } = JSON.parse(scene.out);
    assert.equal(containers[0].view.share, 450);
    assert.equal(blocked.by, "ControllerHolds");
    scene.out = "";
    scene.settings = "market: off\n";
    assert.equal(await scene.run("explain", "shop/web", "-n", "other", "-o", "yaml"), 0);
    assert.match(scene.out, /^outside:\n {2}reason: MarketOff$/m);
    await scene.close();
  },
});

Deno.test({
  name: "explainCommand() finds what keeps a pod out beside pod and namespace",
  permissions: { env: ["LOG_TOKENS", "LOG_STREAM"] },
  async fn() {
    const scene = coallocScene();
    addMarketPod(scene, "web", { limit: 200, own: 200, recorded: false });
    const { Pod: pods, VerticalPodAutoscaler: autoscalers, Node: nodes } = scene.api.store.tables;
    const owner = { apiVersion: "apps/v1", kind: "StatefulSet", name: "web", uid: "s" };
    pods.modify("shop/web", (pod) => ({ ...pod, metadata: { ...pod.metadata, owner } }));
    assert.equal(await scene.run("explain", "web"), 0);
    assert.match(scene.out, /^Blocked: .* no allocation/m);
    assert.doesNotMatch(scene.out, /VPA|VerticalPodAutoscaler/);

    scene.out = "";
    autoscalers.create({
      metadata: { name: "right", namespace: "shop", uid: "", resourceVersion: "" },
      target: { kind: "StatefulSet", name: "web" },
      updateMode: "Recreate",
    });
    assert.equal(await scene.run("explain", "web"), 0);
    assert.match(scene.out, /market: VPAConflict: VPA right, mode Recreate/);
    assert.match(scene.out, /^What to do: .*updateMode/m);

    scene.out = "";
    scene.hidesAutoscalers = true;
    nodes.create({ ...sampleNode("node-1"), kubeletVersion: "v1.30.1" });
    assert.equal(await scene.run("explain", "web"), 0);
    assert.match(scene.out, /market: KubeletTooOld: /);
    assert.match(scene.out, /^VerticalPodAutoscalers .*VPAConflict/m);

    // The controller's decision is known: the readings that are missing do not matter.
    scene.out = "";
    addMarketPod(scene, "api", { limit: 200, own: 200 });
    assert.equal(await scene.run("explain", "api"), 0);
    assert.doesNotMatch(scene.out, /VerticalPodAutoscalers/);
    await scene.close();
  },
});

Deno.test({
  name: "explainCommand() finds the HPA that keeps a Guaranteed pod out",
  permissions: { env: ["LOG_TOKENS", "LOG_STREAM"] },
  async fn() {
    const scene = coallocScene();
    addMarketPod(scene, "db", { limit: 200, own: 200, guaranteed: true, recorded: false });
    const { Pod: pods, HorizontalPodAutoscaler: autoscalers } = scene.api.store.tables;
    assert.equal(await scene.run("explain", "db"), 0);
    assert.match(scene.out, /market: NotBurstable: .*Guaranteed/);
    assert.match(scene.out, /^What to do: .*mbcas.io\/skip-guaranteed: "false"/m);

    scene.out = "";
    pods.modify("shop/db", (pod) => {
      const annotations = { [SKIP_GUARANTEED]: "false" };
      return ownedBy("StatefulSet", { ...pod, metadata: { ...pod.metadata, annotations } });
    });
    autoscalers.create(sampleHPA({ target: { kind: "StatefulSet", name: "web" } }));
    assert.equal(await scene.run("explain", "db"), 0);
    assert.match(scene.out, /market: HPAConflict: HPA web-hpa /);

    scene.out = "";
    scene.hidesAutoscalers = true;
    assert.equal(await scene.run("explain", "db"), 0);
    assert.match(scene.out, /^HorizontalPodAutoscalers .*HPAConflict/m);
    await scene.close();
  },
});

Deno.test({
  name: "explainCommand() reports the rules of the bounds as data",
  permissions: { env: ["LOG_TOKENS", "LOG_STREAM"] },
  async fn() {
    const scene = coallocScene();
    const message = "node-1 is being drained";
    const bounds = {
      revision: 3,
      reason: "NodeDraining",
      rules: [{ reason: "NodeDraining", message }],
      containers: [],
    };
    addMarketPod(scene, "web", { limit: 200, own: 200, status: { bounds } });
    assert.equal(await scene.run("explain", "web", "-o", "json"), 0);
    assert.deepEqual(JSON.parse(scene.out).bounds, {
      revision: 3,
      reason: "NodeDraining",
      rules: [{
        reason: "NodeDraining",
        message,
        remedy: remedyFor("NodeDraining"),
      }],
    });
    await scene.close();
  },
});

Deno.test({
  name: "explainCommand() says which pod or container is not there",
  permissions: "none",
  async fn() {
    const scene = coallocScene();
    addMarketPod(scene, "web", { limit: 200, own: 200 });
    assert.equal(await scene.run("explain", "wed"), 1);
    assert.equal(await scene.run("explain", "web", "-c", "db"), 1);
    assert.equal(await scene.run("explain", "a/b/c"), 2);
    assert.match(
      scene.err,
      /^Cannot .* pod wed: .* shop .*\nCannot .* container db: .* web .*app\nCannot .*"a\/b\/c"/,
    );
    await scene.close();
  },
});
