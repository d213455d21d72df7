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
const HOUR_MS = 60 * MINUTE_MS;
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

test("a release with more memory keeps it for a day", async (scene) => {
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
  await scene.run(23 * HOUR_MS);
  assert.deepEqual(limits(), [4096 * MI]);
  assert.equal(scene.recordOf("web")?.reason, "RecentlyEdited");
  await scene.run(HOUR_MS);
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

test("a workload made anew with more memory keeps it for a day", async (scene) => {
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
  await scene.run(23 * HOUR_MS);
  assert.deepEqual(limitsOf(scene), [4096 * MI, 4096 * MI]);
  assert.equal(scene.recordOf("web")?.reason, "RecentlyEdited");
  await scene.run(2 * HOUR_MS);
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
