/**
 * Whatever stands in our annotations and labels: nothing breaks, a bad value or place changes nothing,
 * and users see it, once.
 *
 * @module
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { ALLOW_OVERRIDES, MANAGED } from "../../shared/api/market_keys.ts";
import { samplePod } from "../contract/support/sample_objects.ts";
import {
  badValues,
  PLACED_TEXTS,
  type PlacedText,
  sayNothing,
  textsAt,
  unreadValues,
} from "../fixtures/market/market_annotations.ts";
import { ofDeployment, ownedBy, sampleHPA, sampleWorkload } from "../fixtures/sample_workloads.ts";
import { type ControllerScene, loopTest } from "./controller_scene.ts";

/** Adds a StatefulSet that an HPA scales on CPU: the pods of the test belong to it. */
function addWorkload({ tables }: ControllerScene): void {
  tables.StatefulSet.create(sampleWorkload({ kind: "StatefulSet" }));
  const target = { kind: "StatefulSet", name: "web" };
  const cpuTargets = [{ utilization: 1.5 }];
  tables.HorizontalPodAutoscaler.create(sampleHPA({ target, cpuTargets }));
}

/** Writes the texts where they belong and makes the pod; it wants 300 m from now on. */
function addPod(scene: ControllerScene, name: string, texts: readonly PlacedText[]): void {
  const { tables } = scene;
  const annotate =
    (place: PlacedText["place"]) => <M extends object>(one: { readonly metadata: M }) => ({
      metadata: { ...one.metadata, annotations: textsAt(texts, place) },
    });
  const namespace = textsAt(texts, "namespace");
  scene.changeNamespace({ labels: textsAt(texts, "namespace label"), annotations: namespace });
  tables.StatefulSet.modify("shop/web", (one) => ({ ...one, ...annotate("workload")(one) }));
  tables.HorizontalPodAutoscaler.modify("shop/web-hpa", (one) => ({
    ...one,
    ...annotate("autoscaler")(one),
  }));
  const [labels, annotations] = [textsAt(texts, "pod label"), textsAt(texts, "pod annotation")];
  scene.createPod(name, {}, (pod) => ({
    ...pod,
    metadata: { ...ownedBy("StatefulSet", pod).metadata, labels, annotations },
  }));
  scene.want(name, 300);
}

/** Annotations that were reported of this object, or of those that pods share. */
function reportedOf({ events, pod }: ControllerScene, name?: string): readonly string[] {
  const uid = name === undefined ? undefined : pod(name).metadata.uid;
  return events("AnnotationIgnored").filter(({ about, podUID }) =>
    uid === undefined ? about !== undefined : about === undefined && podUID === uid
  ).map(({ message }) => message);
}

/** The published values for the agent, without what differs from pod to pod. */
function boundsOf({ status }: ControllerScene, name: string): unknown {
  const { reason, rules, containers = [] } = status(name).bounds ?? {};
  return { reason, rules, containers: containers.map((one) => ({ ...one, containerID: "" })) };
}

loopTest("serves pods with any of our annotations: invalid ones change nothing", async (scene) => {
  const { Pod: pods, Namespace: namespaces } = scene.tables;
  scene.startController();
  addWorkload(scene);
  addPod(scene, "plain", []);
  const { metadata } = namespaces.get("shop") ?? assert.fail("the namespace is there");
  namespaces.create({ metadata: { ...metadata, name: "other", uid: "" } });
  pods.create(samplePod("witness", { namespace: "other" }));
  await scene.pass(10_000);
  const usual = boundsOf(scene, "plain");
  scene.assertLimit(300, "plain");
  assert.deepEqual(reportedOf(scene, "plain"), []);
  pods.remove("shop/plain");
  const counts = { cases: 0, reported: 0, shared: 0 };
  await fc.assert(
    fc.asyncProperty(PLACED_TEXTS, async (texts) => {
      const name = `fuzzed-${++counts.cases}`;
      // Less often than what counts as oscillating.
      const witness = 200 + 100 * (1 + Math.floor(counts.cases / 2) % 2);
      addPod(scene, name, texts);
      scene.want("witness", witness);
      await scene.pass(10_000);
      const warnings = reportedOf(scene, name);
      const shared = reportedOf(scene);
      if (sayNothing(texts)) {
        const assertReported = ({ place }: PlacedText, part: string): void => {
          const where = place.startsWith("pod") ? warnings : shared;
          assert.ok(where.some((one) => one.includes(part)), `${part}: ${where.join("; ")}`);
        };
        const [bad, unread] = [badValues(texts), unreadValues(texts)];
        for (const one of bad) {
          const begin = /^[\w.,% -]{0,20}/.exec(one.text)?.[0] ?? "";
          assertReported(one, `${one.key}: "${begin}`);
        }
        for (const one of unread) assertReported(one, `${one.key} does not `);
        assert.deepEqual(boundsOf(scene, name), usual);
        scene.assertLimit(300, name);
        const ofPod = [...bad, ...unread].some(({ place }) => place.startsWith("pod"));
        assert.ok(warnings.length <= 1 && (!ofPod || warnings.length > 0), warnings.join("\n"));
      }
      for (const warning of [...warnings, ...shared.slice(counts.shared)]) {
        counts.reported++;
        assert.match(warning, /^[^\p{C}]{1,2500}$/u);
      }
      counts.shared = shared.length;
      for (const { floor, ceiling } of scene.status(name).bounds?.containers ?? []) {
        assert.ok(floor >= 100 && floor <= ceiling && ceiling <= 3600, `${floor} ${ceiling}`);
      }
      assert.equal(pods.get("other/witness")?.containers[0]?.limits.cpu, witness);
      pods.remove(`shop/${name}`);
    }),
  );
  assert.ok(counts.reported > counts.cases / 3, JSON.stringify(counts));
});

/** The object and the sentence of each report. */
function reported({ events }: ControllerScene): readonly (readonly string[])[] {
  return events("AnnotationIgnored").map((event) => [
    event.about?.kind ?? event.podName,
    event.message,
  ]);
}

loopTest("reports which label is missing for a pod to opt in by itself, once", async (scene) => {
  scene.startController({ managementPolicy: "OptIn" });
  for (const name of ["asks", "silent"]) {
    scene.createPod(name);
    scene.want(name, 300);
  }
  scene.annotate({ [MANAGED]: "true" }, "asks");
  await scene.pass(900_000);
  const [[subject, message = ""] = [], ...others] = reported(scene);
  assert.deepEqual([subject, others], ["asks", []]);
  assert.match(message, /namespace shop.*mbcas\.io\/managed=true.*mbcas\.io\/allow-overrides=true/);
  assert.deepEqual([scene.allocation("asks"), scene.limits("asks").wanted], [undefined, 200]);
  scene.changeNamespace({ labels: { [ALLOW_OVERRIDES]: "true" } });
  await scene.pass(900_000);
  assert.deepEqual([scene.limits("asks").applied, scene.limits("silent").applied], [300, 200]);
  assert.equal(reported(scene).length, 1);
});

loopTest(
  "reports annotations on a workload without effect once, there, and goes on",
  async (scene) => {
    const annotations = { "mbcas.io/max-cpu": "250m" };
    scene.tables.Deployment.create(sampleWorkload({ annotations, labels: { [MANAGED]: "false" } }));
    scene.startController();
    for (const name of ["web", "misspelt", "lone"]) {
      scene.createPod(name, {}, name === "lone" ? (pod) => pod : ofDeployment);
      scene.want(name, 300);
    }
    scene.annotate({ "mbcas.io/max-cpus": "250m" }, "misspelt");
    await scene.pass(900_000);
    const keysAndPlaces = (): readonly (readonly string[])[] =>
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
    for (const name of ["web", "misspelt", "lone"]) scene.assertLimit(300, name);
    // What is put right is read; what was reported is not reported again.
    scene.annotate(annotations, "misspelt");
    await scene.pass(900_000);
    assert.equal(scene.limits("misspelt").applied, 250);
    assert.deepEqual(keysAndPlaces().slice(3), [managed]);
  },
);
