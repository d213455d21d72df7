/** Pods that ask for more CPU while they start, as the controller's half of the bids has it. */
import assert from "node:assert/strict";
import { ALLOW_OVERRIDES, STARTUP_BOOST } from "../../shared/api/market_keys.ts";
import type { Pod } from "../../shared/api/pod.ts";
import { type ControllerScene, sceneTest } from "./controller_scene.ts";

function allowOverrides({ api }: ControllerScene): void {
  api.store.tables.Namespace.modify("shop", (namespace) => ({
    ...namespace,
    metadata: { ...namespace.metadata, labels: { [ALLOW_OVERRIDES]: "true" } },
  }));
}

function boosted(text: string): (pod: Pod) => Pod {
  return (pod) => ({
    ...pod,
    metadata: { ...pod.metadata, annotations: { [STARTUP_BOOST]: text } },
  });
}

/** The pod with containers that were started at this time, and that are not Ready. */
function started(sinceMs: number): (pod: Pod) => Pod {
  return ({ readySinceMs: _over, ...pod }) => ({
    ...pod,
    ready: false,
    containers: pod.containers.map((one) => ({ ...one, startedAtMs: sinceMs })),
  });
}

function ready(sinceMs: number): (pod: Pod) => Pod {
  return (pod) => ({ ...pod, ready: true, readySinceMs: sinceMs });
}

function unready({ readySinceMs: _over, ...pod }: Pod): Pod {
  return { ...pod, ready: false };
}

function side({ allocation }: ControllerScene): unknown {
  const app = allocation("web")?.status?.bounds?.containers[0];
  return [app?.ceiling, app?.boost];
}

sceneTest(
  "runAllocationLoop() boosts ceilings until the pod is Ready and a little longer",
  async (scene) => {
    const { clock } = scene;
    allowOverrides(scene);
    scene.startController({ burstFactor: 4 });
    scene.createPod("web");
    scene.changePod("web", boosted("2x,20s"));
    await scene.pass(5000);
    scene.changePod("web", started(clock.wall()));
    await scene.pass(5000);
    assert.deepEqual(side(scene), [1600, true]);
    scene.changePod("web", ready(clock.wall()));
    scene.want("web", 1600);
    await scene.pass(18_000);
    assert.deepEqual(side(scene), [1600, true]);
    assert.equal(scene.limits("web").wanted, 1600);
    // Nothing happens in the API at the end.
    await scene.pass(4000);
    assert.deepEqual(side(scene), [800, undefined]);
    assert.equal(scene.limits("web").wanted, 800);
  },
);

sceneTest("runAllocationLoop() ends the boost of a pod that is never Ready", async (scene) => {
  allowOverrides(scene);
  scene.startController({ burstFactor: 4 });
  scene.createPod("web");
  scene.changePod("web", boosted("3x,1s"));
  await scene.pass(5000);
  const since = scene.clock.wall();
  scene.changePod("web", started(since));
  await scene.pass(2000);
  assert.deepEqual(side(scene), [2400, true]);
  await scene.pass(596_500);
  assert.deepEqual(side(scene), [2400, true]);
  await scene.pass(2500);
  assert.deepEqual(side(scene), [800, undefined]);
});

sceneTest(
  "runAllocationLoop() boosts nothing where no administrator allows it, and says so once",
  async (scene) => {
    scene.startController({ burstFactor: 4 });
    scene.createPod("web");
    scene.changePod("web", boosted("2x,20s"));
    await scene.pass(5000);
    scene.changePod("web", started(scene.clock.wall()));
    await scene.pass(120_000);
    assert.deepEqual(side(scene), [800, undefined]);
    const ignored = scene.api.events.all().filter(({ reason }) => reason === "AnnotationIgnored");
    assert.equal(ignored.length, 1);
    assert.match(
      ignored[0]?.message ?? "",
      /^mbcas\.io\/startup-boost: "2x,20s".* shop mbcas\.io\/allow-overrides=true$/,
    );
  },
);

sceneTest(
  "runAllocationLoop() boosts a pod no second time that loses its readiness",
  async (scene) => {
    allowOverrides(scene);
    scene.startController({ burstFactor: 4 });
    scene.createPod("web");
    scene.changePod("web", boosted("2x,5s"));
    await scene.pass(5000);
    const { clock } = scene;
    scene.changePod("web", started(clock.wall()));
    scene.changePod("web", ready(clock.wall()));
    await scene.pass(900_000);
    assert.deepEqual(side(scene), [800, undefined]);
    scene.changePod("web", unready);
    await scene.pass(2000);
    assert.deepEqual(side(scene), [800, undefined]);
    scene.changePod("web", ready(clock.wall()));
    await scene.pass(2000);
    assert.deepEqual(side(scene), [800, undefined]);
  },
);
