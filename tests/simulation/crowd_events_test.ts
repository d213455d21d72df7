/** Many pods that are concerned by the same: what is reported and written is bounded. */
import assert from "node:assert/strict";
import { ALLOW_OVERRIDES, MAX_CPU } from "../../shared/api/market_keys.ts";
import { ofDeployment, sampleHPA, sampleWorkload } from "../fixtures/sample_workloads.ts";
import { type ControllerScene, sceneTest } from "./controller_scene.ts";

/** Kubernetes' own default for a node. */
const PODS = 110;

const metadata = { name: "cpu", namespace: "shop", uid: "", resourceVersion: "" };

function writes({ api }: ControllerScene): number {
  return api.requests.get("updateStatus PodAllocation") ?? 0;
}

/** What was reported since, each with its object. */
function reported({ api }: ControllerScene, sinceMs: number): readonly string[] {
  return api.events.all().filter(({ atMs }) => atMs >= sinceMs).map(({ about, podName, message }) =>
    `${about === undefined ? `Pod ${podName}` : `${about.kind} ${about.name}`}: ${message}`
  );
}

/** A crowd of a Deployment that stands in the market; the agent has cleared with all of it. */
async function crowd(scene: ControllerScene): Promise<void> {
  scene.api.store.tables.Deployment.create(sampleWorkload());
  scene.startController();
  for (let one = 0; one < PODS; one++) {
    scene.createPod(`web-${one}`);
    scene.changePod(`web-${one}`, ofDeployment);
    scene.want(`web-${one}`, 200);
  }
  await scene.pass(30_000);
  const revisions = new Set(
    [...scene.api.store.tables.PodAllocation.all()].map(({ status }) => status?.bounds?.revision),
  );
  assert.deepEqual([...revisions], [1]);
}

function held({ api }: ControllerScene): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of api.store.tables.PodAllocation.all()) {
    const held = status?.bounds?.containers[0]?.held ?? "free";
    counts[held] = (counts[held] ?? 0) + 1;
  }
  return counts;
}

sceneTest(
  "runAllocationLoop() reports a node that is not Ready once, on the node, and writes at a pace",
  async (scene) => {
    await crowd(scene);
    // With the node goes its agent.
    for (let one = 0; one < PODS; one++) scene.want(`web-${one}`, undefined);
    const { Node: nodes } = scene.api.store.tables;
    const begunMs = scene.clock.monotonic();
    const before = writes(scene);
    nodes.modify("node-1", (node) => ({ ...node, ready: false }));
    await scene.pass(1000);
    const first = writes(scene) - before;
    assert.ok(first <= 102, `${first} writes in the first second`);
    await scene.pass(60_000);
    assert.deepEqual(held(scene), { both: PODS });
    assert.deepEqual(reported(scene, begunMs), ["Node node-1: NodeNotReady: node-1 is not Ready"]);
    // Bounds, and that they wait for the agent.
    assert.equal(writes(scene) - before, 2 * PODS);
    await scene.pass(120_000);
    assert.equal(writes(scene) - before, 2 * PODS);
    nodes.modify("node-1", (node) => ({ ...node, ready: true }));
    const ended = writes(scene);
    await scene.pass(1000);
    // They may have more again at the same pace.
    const again = writes(scene) - ended;
    assert.ok(again <= 102, `${again} writes in the first second`);
    assert.ok((held(scene)["both"] ?? 0) > 0);
    await scene.pass(4000);
    assert.deepEqual(held(scene), { free: PODS });
    assert.equal(reported(scene, begunMs).length, 1);
  },
);

sceneTest(
  "runAllocationLoop() writes nothing to pods of a node that is Ready again before their turn",
  async (scene) => {
    await crowd(scene);
    const { Node: nodes } = scene.api.store.tables;
    const before = writes(scene);
    nodes.modify("node-1", (node) => ({ ...node, ready: false }));
    await scene.pass(200);
    nodes.modify("node-1", (node) => ({ ...node, ready: true }));
    await scene.pass(60_000);
    assert.deepEqual(held(scene), { free: PODS });
    const count = writes(scene) - before;
    // Those that were written before are written back; the agent clears with both at once.
    assert.ok(count > 0 && count <= 2 * 65, `${count} writes`);
  },
);

sceneTest(
  "runAllocationLoop() reports a rollout and of an HPA once, on the workload",
  async (scene) => {
    await crowd(scene);
    const { Deployment: deployments, HorizontalPodAutoscaler: autoscalers } =
      scene.api.store.tables;
    const begunMs = scene.clock.monotonic();
    deployments.modify("shop/web", (workload) => ({
      ...workload,
      rollout: { updated: 0, total: PODS, stands: false },
    }));
    await scene.pass(10_000);
    autoscalers.create(sampleHPA());
    await scene.pass(10_000);
    autoscalers.modify("shop/web-hpa", (hpa) => ({ ...hpa, lastScaleMs: scene.clock.wall() }));
    await scene.pass(10_000);
    const [rollout = "", aim = "", scaled = "", ...others] = reported(scene, begunMs);
    assert.match(rollout, /^Deployment web: RolloutInProgress: [^;]+$/);
    assert.match(aim, /^Deployment web: HPAFloor: .*96m.*80m.*; HPADamped: .*web-hpa[^;]+$/);
    assert.match(scaled, /^Deployment web: HPAScaled: .*web-hpa.*300 s$/);
    assert.deepEqual(others, []);
    assert.deepEqual(held(scene), { lower: PODS });
  },
);

sceneTest(
  "runAllocationLoop() reports another fault in the same annotation, and of another hold at once",
  async (scene) => {
    const { Namespace: namespaces, Deployment: deployments, LimitRange: ranges } =
      scene.api.store.tables;
    namespaces.modify("shop", (one) => ({
      ...one,
      metadata: { ...one.metadata, labels: { [ALLOW_OVERRIDES]: "true" } },
    }));
    deployments.create(sampleWorkload({ rollout: { updated: 0 } }));
    scene.startController();
    scene.createPod("web");
    const annotate = (text: string): void =>
      scene.changePod("web", (pod) => {
        const annotations = { [MAX_CPU]: text };
        return ofDeployment({ ...pod, metadata: { ...pod.metadata, annotations } });
      });
    annotate("lots");
    await scene.pass(10_000);
    annotate("many");
    ranges.create({ metadata, items: [], unreadable: "no number" });
    await scene.pass(10_000);
    const soon = reported(scene, 0);
    assert.equal(soon.filter((text) => text.includes('"lots"')).length, 1, soon.join("\n"));
    assert.equal(soon.filter((text) => text.includes('"many"')).length, 0);
    assert.equal(soon.filter((text) => text.includes("RolloutInProgress")).length, 1);
    assert.equal(soon.filter((text) => text.includes("UnreadableBound")).length, 1);
    await scene.pass(300_000);
    const later = reported(scene, 0);
    assert.equal(later.filter((text) => text.includes('"many"')).length, 1, later.join("\n"));
    await scene.pass(900_000);
    assert.deepEqual(reported(scene, 0), later);
  },
);

sceneTest(
  "runAllocationLoop() reports an annotation that many pods share once, on its object, by each leader",
  async (scene) => {
    const { Namespace: namespaces, Deployment: deployments } = scene.api.store.tables;
    deployments.create(sampleWorkload());
    deployments.modify("shop/web", (one) => ({
      ...one,
      metadata: { ...one.metadata, annotations: { [MAX_CPU]: "2" } },
    }));
    namespaces.modify("shop", (one) => ({
      ...one,
      metadata: { ...one.metadata, labels: { "mbcas.io/max-cpus": "2" } },
    }));
    for (let one = 0; one < PODS; one++) {
      scene.createPod(`web-${one}`);
      scene.changePod(`web-${one}`, ofDeployment);
    }
    const kill = scene.startController();
    const ignored = (): readonly string[] =>
      reported(scene, 0).filter((text) => text.includes("max-cpu"));
    await scene.pass(60_000);
    assert.equal(ignored().length, 2, ignored().join("\n"));
    assert.match(ignored().join("\n"), /^Namespace shop: .* is not known.*\nDeployment web: /);
    kill();
    scene.startController();
    await scene.pass(600_000);
    assert.equal(ignored().length, 4, ignored().join("\n"));
  },
);

sceneTest(
  "runAllocationLoop() reports on the node, once, that its kubelet enforces no limits",
  async (scene) => {
    await crowd(scene);
    const begunMs = scene.clock.monotonic();
    const { PodAllocation: allocations } = scene.api.store.tables;
    const say = (reason: "QuotaOff" | "QuotaBack"): void => {
      for (const { metadata: { name } } of [...allocations.all()]) {
        allocations.modify(`shop/${name}`, (one) => {
          assert.ok(one.spec.market);
          return { ...one, spec: { ...one.spec, market: { ...one.spec.market, reason } } };
        });
      }
    };
    const quota = (): readonly string[] =>
      reported(scene, begunMs).map((text) => text.split(": ", 2).join(" "));
    for (let one = 0; one < PODS; one++) scene.want(`web-${one}`, undefined);
    say("QuotaOff");
    await scene.pass(60_000);
    assert.deepEqual(quota(), ["Node node-1 QuotaOff"]);
    say("QuotaBack");
    await scene.pass(60_000);
    assert.deepEqual(quota(), ["Node node-1 QuotaOff", "Node node-1 QuotaBack"]);
  },
);
