/** Annotations with values that can't be read: users see an event, once, and limits go on as without them. */
import assert from "node:assert/strict";
import type { Pod } from "../../shared/api/pod.ts";
import { ALLOW_OVERRIDES, MANAGED } from "../../shared/api/market_keys.ts";
import { ofDeployment, sampleWorkload } from "../fixtures/sample_workloads.ts";
import { type ControllerScene, sceneTest } from "./controller_scene.ts";

type Texts = Readonly<Record<string, string>>;

function annotated(pod: Pod, annotations: Texts): Pod {
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}

function reported({ api }: ControllerScene): readonly (readonly string[])[] {
  return api.events.all().filter(({ reason }) => reason === "AnnotationIgnored")
    .map(({ about, podName, message }) => [about?.kind ?? podName, message]);
}

function labelNamespace({ api }: ControllerScene, labels: Texts): void {
  api.store.tables.Namespace.modify("shop", ({ metadata }) => ({
    metadata: { ...metadata, labels },
  }));
}

sceneTest(
  "runAllocationLoop() reports a pod that may not opt in by itself which label is missing, once",
  async (scene) => {
    scene.startController({ managementPolicy: "OptIn" });
    for (const name of ["asks", "silent"]) {
      scene.createPod(name);
      scene.want(name, 300);
    }
    scene.changePod("asks", (pod) => annotated(pod, { [MANAGED]: "true" }));
    await scene.pass(900_000);
    const [[subject, message = ""] = [], ...others] = reported(scene);
    assert.deepEqual([subject, others], ["asks", []]);
    assert.match(
      message,
      /namespace shop.*mbcas\.io\/managed=true.*mbcas\.io\/allow-overrides=true/,
    );
    assert.deepEqual([scene.allocation("asks"), scene.limits("asks").wanted], [undefined, 200]);
    labelNamespace(scene, { [ALLOW_OVERRIDES]: "true" });
    await scene.pass(900_000);
    assert.deepEqual([scene.limits("asks").applied, scene.limits("silent").applied], [300, 200]);
    assert.equal(reported(scene).length, 1);
  },
);

sceneTest(
  "runAllocationLoop() reports annotations on a workload that have no effect, once and there, and goes on",
  async (scene) => {
    const { Deployment: deployments } = scene.api.store.tables;
    const { metadata, ...rest } = sampleWorkload({ annotations: { "mbcas.io/max-cpu": "250m" } });
    deployments.create({ ...rest, metadata: { ...metadata, labels: { [MANAGED]: "false" } } });
    scene.startController();
    for (const name of ["web", "misspelt", "lone"]) {
      scene.createPod(name);
      if (name !== "lone") scene.changePod(name, ofDeployment);
      scene.want(name, 300);
    }
    scene.changePod("misspelt", (pod) => annotated(pod, { "mbcas.io/max-cpus": "250m" }));
    await scene.pass(900_000);
    const keysAndPlaces = () =>
      reported(scene).map(([of = "", message = ""]) => [
        of,
        ...message.matchAll(/mbcas\.io\/[\w-]+|(?:label|annotation) of the \w+/g).map(([part]) =>
          part.replace(" of the ", " ")
        ),
      ]);
    const managed = ["Deployment", "mbcas.io/managed", "label workload"];
    managed.push("label pod", "annotation pod", "label namespace", "annotation namespace");
    assert.deepEqual(keysAndPlaces().toSorted(), [
      managed,
      ["Deployment", "mbcas.io/max-cpu", "annotation workload", "annotation pod"],
      ["misspelt", "mbcas.io/max-cpus", "annotation pod", "mbcas.io/max-cpu"],
    ]);
    for (const name of ["web", "misspelt", "lone"]) {
      assert.deepEqual(scene.limits(name), { wanted: 300, applied: 300 });
    }
    // What is put right is read; what was reported is not reported again.
    scene.changePod("misspelt", (pod) => annotated(pod, { "mbcas.io/max-cpu": "250m" }));
    await scene.pass(900_000);
    assert.equal(scene.limits("misspelt").applied, 250);
    const before = ["Deployment", "Deployment", "misspelt"];
    assert.deepEqual(reported(scene).slice(0, 3).map(([of]) => of).toSorted(), before);
    assert.deepEqual(keysAndPlaces().slice(3), [managed]);
  },
);

sceneTest(
  "runAllocationLoop() reports no more of a pod outside of the market what has been put right",
  async (scene) => {
    scene.startController({ managementPolicy: "OptIn" });
    scene.createPod("web");
    for (const text of ["maybe", "perhaps", "false", "maybe", "false"]) {
      scene.changePod("web", (pod) => annotated(pod, { [MANAGED]: text }));
      await scene.pass(20_000);
    }
    await scene.pass(900_000);
    const maybe = 'mbcas.io/managed: "maybe" is not "true" or "false"';
    assert.deepEqual(reported(scene), [["web", maybe]]);
    scene.changePod("web", (pod) => annotated(pod, { [MANAGED]: "maybe" }));
    await scene.pass(20_000);
    assert.deepEqual(reported(scene).slice(1).map(([pod]) => pod), ["web"]);
  },
);
