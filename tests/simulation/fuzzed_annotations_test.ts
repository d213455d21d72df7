/**
 * Whatever stands in our annotations and labels: nothing breaks, a bad value or place changes nothing,
 * and users see it.
 *
 * @module
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Pod } from "../../shared/api/pod.ts";
import type { Bounds } from "../../shared/api/pod_allocation.ts";
import { MANAGED } from "../../shared/api/market_keys.ts";
import { samplePod } from "../contract/support/sample_objects.ts";
import {
  badValues,
  PLACED_TEXTS,
  type PlacedText,
  sayNothing,
  textsAt,
  unreadValues,
} from "../fixtures/market/market_annotations.ts";
import { type ControllerScene, sceneTest } from "./controller_scene.ts";

const WORKLOAD = { name: "web", namespace: "shop", uid: "", resourceVersion: "" };

/** Adds a StatefulSet that an HPA scales on CPU: the pods of the test belong to it. */
function addWorkload({ api }: ControllerScene): void {
  const { StatefulSet: statefulSets, HorizontalPodAutoscaler: autoscalers } = api.store.tables;
  statefulSets.create({
    kind: "StatefulSet",
    metadata: { ...WORKLOAD, annotations: {} },
    rollout: { updated: 1, total: 1, stands: false },
  });
  autoscalers.create({
    metadata: { ...WORKLOAD, annotations: {} },
    target: { kind: "StatefulSet", name: "web" },
    cpuTargets: [{ utilization: 1.5 }],
    stabilizationMs: 300_000,
  });
}

/** Writes the texts where they belong and makes the pod; it wants 300 m from now on. */
function addPod(scene: ControllerScene, name: string, texts: readonly PlacedText[]): void {
  const { tables } = scene.api.store;
  const { Pod: pods, Namespace: namespaces, StatefulSet: statefulSets } = tables;
  const { HorizontalPodAutoscaler: autoscalers } = tables;
  namespaces.modify("shop", ({ metadata }) => ({
    metadata: {
      ...metadata,
      labels: textsAt(texts, "namespace label"),
      annotations: textsAt(texts, "namespace"),
    },
  }));
  statefulSets.modify("shop/web", (set) => ({
    ...set,
    metadata: { ...set.metadata, annotations: textsAt(texts, "workload") },
  }));
  autoscalers.modify("shop/web", (autoscaler) => ({
    ...autoscaler,
    metadata: { ...autoscaler.metadata, annotations: textsAt(texts, "autoscaler") },
  }));
  const sample = samplePod(name);
  pods.create({
    ...sample,
    metadata: {
      ...sample.metadata,
      owner: { apiVersion: "apps/v1", kind: "StatefulSet", name: "web", uid: "w" },
      labels: textsAt(texts, "pod label"),
      annotations: textsAt(texts, "pod annotation"),
    },
  });
  scene.want(name, 300);
}

/** The published values for the agent, without what differs from pod to pod. */
function boundsOf(scene: ControllerScene, name: string): unknown {
  const { reason, rules, containers }: Partial<Bounds> = scene.allocation(name)?.status?.bounds ??
    {};
  return { reason, rules, containers: containers?.map((one) => ({ ...one, containerID: "" })) };
}

function warningsOf({ api }: ControllerScene, { metadata }: Pod): readonly string[] {
  return api.events.all().filter(({ podUID, reason, about }) =>
    podUID === metadata.uid && reason === "AnnotationIgnored" && about === undefined
  ).map(({ message }) => message);
}

/** All events about texts that pods share. */
function sharedWarnings({ api }: ControllerScene): readonly string[] {
  return api.events.all().filter(({ reason, about }) =>
    reason === "AnnotationIgnored" && about !== undefined
  ).map(({ message }) => message);
}

sceneTest(
  "runAllocationLoop() serves pods with any of our annotations: invalid ones change nothing and are reported",
  async (scene) => {
    const { Pod: pods, Namespace: namespaces } = scene.api.store.tables;
    scene.startController();
    addWorkload(scene);
    addPod(scene, "plain", []);
    const { metadata } = namespaces.get("shop") ?? assert.fail("the namespace is there");
    namespaces.create({ metadata: { ...metadata, name: "other", uid: "" } });
    pods.create(samplePod("witness", { namespace: "other" }));
    await scene.pass(10_000);
    const usual = boundsOf(scene, "plain");
    assert.deepEqual(scene.limits("plain"), { wanted: 300, applied: 300 });
    assert.deepEqual(warningsOf(scene, scene.pod("plain")), []);
    pods.remove("shop/plain");

    let cases = 0;
    let reported = 0;
    let reportedShared = 0;
    await fc.assert(
      fc.asyncProperty(PLACED_TEXTS, async (texts) => {
        const name = `fuzzed-${++cases}`;
        // Less often than what counts as oscillating.
        const witness = 200 + 100 * (1 + Math.floor(cases / 2) % 2);
        addPod(scene, name, texts);
        scene.want("witness", witness);
        await scene.pass(10_000);
        const bad = badValues(texts);
        const shared = reportedShared;
        reportedShared = sharedWarnings(scene).length;
        const warnings = warningsOf(scene, scene.pod(name));
        if (sayNothing(texts)) {
          const isReported = (place: PlacedText["place"], part: string): void => {
            const where = place.startsWith("pod") ? warnings : sharedWarnings(scene);
            assert.ok(where.some((one) => one.includes(part)), `${part}: ${where.join("; ")}`);
          };
          for (const { key, text, place } of bad) {
            const begin = /^[\w.,% -]{0,20}/.exec(text)?.[0] ?? "";
            isReported(place, `${key}: "${begin}`);
          }
          assert.deepEqual(boundsOf(scene, name), usual);
          assert.deepEqual(scene.limits(name), { wanted: 300, applied: 300 });
          for (const { key, place } of unreadValues(texts)) {
            isReported(place, `${key} does not `);
          }
          const ofPod = [...bad, ...unreadValues(texts)].some(({ place }) =>
            place.startsWith("pod")
          );
          assert.ok(warnings.length <= 1 && (!ofPod || warnings.length > 0), warnings.join("\n"));
        }
        for (const warning of [...warnings, ...sharedWarnings(scene).slice(shared)]) {
          reported++;
          assert.match(warning, /^[^\p{C}]{1,2500}$/u);
        }
        for (const { floor, ceiling } of scene.allocation(name)?.status?.bounds?.containers ?? []) {
          assert.ok(floor >= 100 && floor <= ceiling && ceiling <= 3600, `${floor} ${ceiling}`);
        }
        assert.equal(pods.get("other/witness")?.containers[0]?.limits.cpu, witness);
        pods.remove(`shop/${name}`);
      }),
    );
    assert.ok(reported > cases / 3, `${reported} of ${cases}`);
  },
);

sceneTest(
  "runAllocationLoop() reports pods outside of the market of a switch that is no switch, once",
  async (scene) => {
    const { api } = scene;
    const { Namespace: namespaces } = api.store.tables;
    const { metadata } = namespaces.get("shop") ?? assert.fail("the namespace is there");
    const excludedNamespaces = ["system"];
    scene.startController({ managementPolicy: "OptIn", excludedNamespaces });
    for (const name of ["shop", "system", "in"]) {
      if (name !== "shop") namespaces.create({ metadata: { ...metadata, name, uid: "" } });
      const labels = { [MANAGED]: name === "in" ? "true" : "True" };
      namespaces.modify(name, (one) => ({ metadata: { ...one.metadata, labels } }));
      api.store.tables.Pod.create(samplePod("web", { namespace: name }));
    }
    await scene.pass(900_000);
    const reported = api.events.all().filter(({ reason }) => reason === "AnnotationIgnored");
    assert.deepEqual(reported.map(({ namespace, message }) => [namespace, message]), [
      ["shop", 'mbcas.io/managed: "True" is not "true" or "false"'],
    ]);
    const taken = api.store.tables.PodAllocation.all().map((one) => one.metadata.namespace);
    assert.deepEqual(taken, ["in"]);
  },
);
