import assert from "node:assert/strict";
import type { Resources } from "../../shared/api/pod.ts";
import { bareContainer, MI } from "../fixtures/rightsizing/rightsizing_facts.ts";
import {
  NAMESPACE,
  type PolicyChoice,
  type RightsizingScene,
} from "../fixtures/rightsizing/rightsizing_scene.ts";
import { sceneTest as test } from "../fixtures/lab/scene_test_case.ts";

const MINUTE_MS = 60_000;
/** Until copies have received a change; before the loop looks at it. */
const WATCHED_MS = 500;

const TEMPLATE = {
  requests: { cpu: 100, memory: 64 * MI },
  limits: { cpu: 1000, memory: 200 * MI },
};
const LIMITS: PolicyChoice = {
  intervalMs: 2 * MINUTE_MS,
  strategy: { updateRequestsOnly: false, cooldownMs: 1000 },
};
const REQUESTS: PolicyChoice = { intervalMs: 2 * MINUTE_MS };

/** Deployment `web`, of which 360 m and 120 Mi are in force. */
async function adopted(
  scene: RightsizingScene,
  { template = TEMPLATE, policy = LIMITS }: {
    readonly template?: Resources;
    readonly policy?: PolicyChoice;
  } = {},
): Promise<void> {
  scene.deployment("web", { containers: [bareContainer("app", template)] });
  scene.uses("web", { cpu: 300, memory: 100 * MI });
  scene.policy("all", policy);
  await scene.run(5 * MINUTE_MS);
  assert.equal(scene.recordOf("web")?.inForce[0]?.cpu, 360);
}

function addNode(scene: RightsizingScene, name: string, allocatableCPU: number): void {
  const metadata = { name, uid: "", resourceVersion: "" };
  scene.api.store.tables.Node.create({ metadata, allocatableCPU, ready: true, pressures: [] });
}

function requestsOf(scene: RightsizingScene): unknown {
  return scene.podsOf("web").map(({ containers: [app] }) => app?.requests.cpu);
}

test("a release with more memory keeps it until a whole window has seen nothing else", async (scene) => {
  await adopted(scene, { policy: { ...LIMITS, windowMs: 60 * MINUTE_MS } });
  const raised = {
    ...TEMPLATE,
    requests: { ...TEMPLATE.requests, memory: 1024 * MI },
    limits: { ...TEMPLATE.limits, memory: 4096 * MI },
  };
  scene.template("web", [bareContainer("app", raised)]);
  for (const { metadata: { name } } of scene.podsOf("web")) {
    scene.api.store.tables.Pod.remove(`${NAMESPACE}/${name}`);
  }
  await scene.run(WATCHED_MS);
  await scene.born("web");
  const limits = (): unknown =>
    scene.podsOf("web").map(({ containers }) => containers[0]?.limits.memory);
  // Neither a cooldown nor a new leader makes it forget that the author has spoken.
  await scene.run(30 * MINUTE_MS);
  await scene.restart();
  await scene.run(28 * MINUTE_MS);
  assert.deepEqual(limits(), [4096 * MI]);
  assert.equal(scene.recordOf("web")?.reason, "RecentlyEdited");
  await scene.run(10 * MINUTE_MS);
  assert.deepEqual(limits(), [132 * MI]);
});

const RAISED = {
  ...TEMPLATE,
  requests: { ...TEMPLATE.requests, memory: 1024 * MI },
  limits: { ...TEMPLATE.limits, memory: 4096 * MI },
};
const HOUR: PolicyChoice = { ...LIMITS, windowMs: 60 * MINUTE_MS };

function limitsOf(scene: RightsizingScene): unknown {
  return scene.podsOf("web").map(({ containers: [app] }) => app?.limits.memory);
}

/** All pods are replaced by such as the webhook lets through. */
async function replacePods(scene: RightsizingScene): Promise<void> {
  for (const { metadata: { name } } of scene.podsOf("web")) {
    scene.api.store.tables.Pod.remove(`${NAMESPACE}/${name}`);
  }
  await scene.run(WATCHED_MS);
  for (let pod = 0; pod < 2; pod++) await scene.born("web");
}

/** What of a rollout that waits is seen: of a partition nothing, but the pods' times. */
const WAITS = {
  "is paused": { paused: true, rollout: { updated: 0, total: 2, stands: true } },
  "waits for a hand": { paused: false, rollout: { updated: 0, total: 2, stands: true } },
  "is kept back by a partition": {
    paused: false,
    rollout: { updated: 0, total: 0, stands: false },
  },
} as const;

for (const [how, waits] of Object.entries(WAITS)) {
  test(`a release that ${how} for longer than a window keeps its memory for a window of its own`, async (scene) => {
    await adopted(scene, { policy: HOUR });
    const { Deployment, Pod } = scene.api.store.tables;
    for (const pod of scene.podsOf("web")) {
      Pod.remove(`${NAMESPACE}/${pod.metadata.name}`);
      Pod.seed({ ...pod, startedAtMs: scene.clock.wall() - 4 * MINUTE_MS });
    }
    const wait = ({ paused, rollout }: typeof WAITS[keyof typeof WAITS]): void =>
      void Deployment.modify(`${NAMESPACE}/web`, (workload) => ({
        ...workload,
        rollout,
        ...(workload.makes && { makes: { ...workload.makes, paused } }),
      }));
    scene.template("web", [bareContainer("app", RAISED)]);
    wait(waits);
    await scene.run(65 * MINUTE_MS);
    assert.deepEqual(limitsOf(scene), [132 * MI, 132 * MI]);
    Deployment.modify(`${NAMESPACE}/web`, (workload) => ({
      ...workload,
      rollout: { updated: 2, total: 2, stands: false },
      ...(workload.makes && { makes: { ...workload.makes, paused: false } }),
    }));
    await replacePods(scene);
    await scene.run(55 * MINUTE_MS);
    assert.deepEqual(limitsOf(scene), [4096 * MI, 4096 * MI]);
    assert.equal(scene.recordOf("web")?.reason, "RecentlyEdited");
    await scene.run(10 * MINUTE_MS);
    assert.deepEqual(limitsOf(scene), [132 * MI, 132 * MI]);
  });
}

test("a release with pods that were all replaced before it was seen is not held for longer than a window", async (scene) => {
  await adopted(scene, { policy: HOUR });
  scene.template("web", [bareContainer("app", RAISED)]);
  const { Pod } = scene.api.store.tables;
  for (const pod of scene.podsOf("web")) {
    Pod.remove(`${NAMESPACE}/${pod.metadata.name}`);
    const containers = [bareContainer("app", RAISED)];
    Pod.seed({ ...pod, containers, startedAtMs: scene.clock.wall() });
  }
  await scene.run(64 * MINUTE_MS);
  assert.deepEqual(limitsOf(scene), [132 * MI, 132 * MI]);
});

test("a workload made anew with more memory keeps it until a whole window has seen it", async (scene) => {
  await adopted(scene, { policy: HOUR });
  const { Deployment } = scene.api.store.tables;
  const old = Deployment.remove(`${NAMESPACE}/web`);
  assert.ok(old.makes !== undefined);
  await scene.run(3 * MINUTE_MS);
  const template = { ...old.makes.template, containers: [bareContainer("app", RAISED)] };
  Deployment.create({
    ...old,
    metadata: { ...old.metadata, uid: "another" },
    makes: { ...old.makes, template },
  });
  await replacePods(scene);
  await scene.run(50 * MINUTE_MS);
  assert.deepEqual(limitsOf(scene), [4096 * MI, 4096 * MI]);
  assert.equal(scene.recordOf("web")?.reason, "RecentlyEdited");
  await scene.run(20 * MINUTE_MS);
  assert.deepEqual(limitsOf(scene), [132 * MI, 132 * MI]);
});

test("a pod on a small node that the webhook has missed lowers no other", async (scene) => {
  addNode(scene, "node-1", 16_000);
  addNode(scene, "small", 200);
  await adopted(scene, { policy: REQUESTS });
  const [pod] = scene.podsOf("web");
  assert.ok(pod !== undefined);
  const metadata = { ...pod.metadata, name: "web-9", uid: "late" };
  const containers = [bareContainer("app", TEMPLATE)];
  scene.api.store.tables.Pod.seed({ ...pod, metadata, containers, nodeName: "small" });
  await scene.run(60 * MINUTE_MS);
  assert.deepEqual(requestsOf(scene), [360, 360, 100]);
  const { status, reason, inForce } = scene.recordOf("web") ?? {};
  assert.deepEqual([status, reason, inForce?.[0]?.cpu], ["Applied", "NodeCapacity", 360]);
});

test("a new pod asks for no more than the largest node has, once the others are gone", async (scene) => {
  addNode(scene, "node-1", 16_000);
  await adopted(scene, { policy: REQUESTS });
  const { Node } = scene.api.store.tables;
  Node.remove("node-1");
  addNode(scene, "small", 200);
  await scene.run(WATCHED_MS);
  const { containers: [app] } = await scene.born("web");
  assert.equal(app?.requests.cpu, 200);
});

test("no pod has less memory than the recent peak + 15 % while a raise is held, and one event says why", async (scene) => {
  const template = {
    ...TEMPLATE,
    requests: { ...TEMPLATE.requests, memory: 512 * MI },
    limits: { ...TEMPLATE.limits, memory: 1024 * MI },
  };
  const strategy = { updateRequestsOnly: false, cooldownMs: 600 * MINUTE_MS };
  await adopted(scene, { template, policy: { ...LIMITS, strategy } });
  const usage = scene.source.of({ namespace: NAMESPACE, kind: "Deployment", name: "web" }, "app");
  usage.memory.push([scene.clock.wall(), 130 * MI]);
  await scene.run(30 * MINUTE_MS);
  // The threshold beyond what is safe: it lasts for a while.
  const lifted = Math.ceil(Math.ceil(130 * MI * 1.15) * 1.1);
  const { containers: [app] } = await scene.born("web");
  assert.deepEqual([app?.requests.memory, app?.limits.memory], [lifted, lifted]);
  const limits = scene.podsOf("web").map(({ containers: [one] }) => one?.limits.memory);
  assert.deepEqual(limits, limits.map(() => lifted));
  const reported = scene.events.filter(({ about, message }) =>
    about.kind === "Deployment" && message.includes("15 %: ")
  );
  assert.equal(reported.length, 1);
});
