import assert from "node:assert/strict";
import { type ControllerScene, sceneTest } from "./controller_scene.ts";

const metadata = { name: "cpu", namespace: "shop", uid: "", resourceVersion: "" };
const unreadable = 'Cannot parse CPU quantity: "two" is not a number';

/** What the pod's bounds say of what can't be read. */
function told({ allocation }: ControllerScene): readonly string[] {
  return (allocation("web")?.status?.bounds?.rules ?? [])
    .filter(({ reason }) => reason === "UnreadableBound").map(({ message }) => message);
}

function events({ api }: ControllerScene) {
  return api.events.all().filter(({ reason }) => reason === "CPULimitBounded");
}

const KINDS = [
  {
    kind: "ResourceQuota",
    spoil: ({ api }: ControllerScene): void => {
      const quotas = api.store.tables.ResourceQuota;
      if (quotas.get("shop/cpu") !== undefined) quotas.remove("shop/cpu");
      quotas.create({ metadata, usedLimitsCPU: 0, scopes: [], unreadable });
    },
    mend: ({ api }: ControllerScene): void =>
      void api.store.tables.ResourceQuota.modify("shop/cpu", ({ metadata }) => ({
        metadata,
        hardLimitsCPU: 5000,
        usedLimitsCPU: 300,
        scopes: [],
      })),
  },
  {
    kind: "LimitRange",
    spoil: ({ api }: ControllerScene): void =>
      void api.store.tables.LimitRange.create({ metadata, items: [], unreadable }),
    mend: ({ api }: ControllerScene): void =>
      void api.store.tables.LimitRange.modify("shop/cpu", ({ metadata }) => ({
        metadata,
        items: [{ type: "Container", max: 5000 }],
      })),
  },
] as const;

for (const { kind, spoil, mend } of KINDS) {
  sceneTest(
    `runAllocationLoop() keeps limits as they are while a ${kind} can't be read, and tells it`,
    async (scene) => {
      scene.startController();
      scene.createPod("web");
      scene.want("web", 300);
      await scene.pass(10_000);
      assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
      assert.deepEqual(told(scene), []);

      spoil(scene);
      await scene.pass(5000);
      assert.deepEqual(told(scene), [`${kind} cpu: ${unreadable}`]);
      const { type, message = "" } = events(scene).at(-1) ?? {};
      assert.match(message, new RegExp(`UnreadableBound: ${kind} cpu: Cannot`));
      assert.equal(type, "Warning");
      assert.equal(scene.allocation("web")?.status?.bounds?.containers[0]?.held, "both");
      for (const limit of [500, 250]) {
        scene.want("web", limit);
        await scene.pass(60_000);
        assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
      }

      mend(scene);
      await scene.pass(10_000);
      assert.deepEqual(told(scene), []);
      assert.deepEqual(scene.limits("web"), { wanted: 250, applied: 250 });
    },
  );
}
