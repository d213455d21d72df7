import assert from "node:assert/strict";
import { EVERY_WORKLOAD } from "../../shared/api/workload.ts";
import { ofDeployment, sampleVPA } from "../fixtures/sample_workloads.ts";
import { type ControllerScene, sceneTest } from "./controller_scene.ts";

const metadata = { name: "cpu", namespace: "shop", uid: "", resourceVersion: "" };
const unreadable = 'Cannot parse CPU quantity: "two" is not a number';

/** What the pod's bounds say of what can't be read. */
function reported({ allocation }: ControllerScene): readonly string[] {
  return (allocation("web")?.status?.bounds?.rules ?? [])
    .filter(({ reason }) => reason === "UnreadableBound").map(({ message }) => message);
}

function events({ api }: ControllerScene, name: string) {
  return api.events.all().filter(({ reason, podName }) =>
    reason === "CPULimitBounded" && podName === name
  );
}

interface Spoilt {
  readonly kind: string;
  /** The pods that it may hold: those of Deployment `web`, or others, too. */
  readonly of: "web" | "all";
  /** @default {"cpu"} */
  readonly name?: string;
  /** More to distinguish the case from others. */
  readonly more?: string;
  spoil(scene: ControllerScene): void;
  mend(scene: ControllerScene): void;
}

const vpas = ({ api }: ControllerScene) => api.store.tables.VerticalPodAutoscaler;

const KINDS: readonly Spoilt[] = [
  {
    kind: "VerticalPodAutoscaler",
    name: "web-vpa",
    of: "web",
    spoil: (scene) => void vpas(scene).create(sampleVPA("Off", { unreadable })),
    mend: (scene) =>
      void vpas(scene).modify("shop/web-vpa", ({ metadata }) => sampleVPA("Off", { metadata })),
  },
  {
    kind: "VerticalPodAutoscaler",
    name: "web-vpa",
    of: "all",
    more: " with its target",
    spoil: (scene) =>
      void vpas(scene).create(sampleVPA("Off", { target: EVERY_WORKLOAD, unreadable })),
    mend: (scene) =>
      void vpas(scene).modify("shop/web-vpa", ({ metadata }) => sampleVPA("Off", { metadata })),
  },
  {
    kind: "LimitRange",
    of: "all",
    spoil: ({ api }: ControllerScene): void =>
      void api.store.tables.LimitRange.create({ metadata, items: [], unreadable }),
    mend: ({ api }: ControllerScene): void =>
      void api.store.tables.LimitRange.modify("shop/cpu", ({ metadata }) => ({
        metadata,
        items: [{ type: "Container", max: 5000 }],
      })),
  },
];

for (const { kind, name = "cpu", of, more = "", spoil, mend } of KINDS) {
  sceneTest(
    `runAllocationLoop() keeps limits as they are while a ${kind} can't be read${more}, and reports it`,
    async (scene) => {
      scene.startController();
      scene.createPod("web");
      scene.changePod("web", ofDeployment);
      scene.createPod("bare");
      scene.want("web", 300);
      scene.want("bare", 300);
      await scene.pass(10_000);
      assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
      assert.deepEqual(reported(scene), []);

      spoil(scene);
      await scene.pass(5000);
      assert.deepEqual(reported(scene), [`${kind} ${name}: ${unreadable}`]);
      const { type, message = "" } = events(scene, "web").at(-1) ?? {};
      assert.match(message, new RegExp(`^UnreadableBound: ${kind} ${name}: Cannot`));
      assert.equal(type, "Warning");
      assert.equal(scene.allocation("web")?.status?.bounds?.containers[0]?.held, "both");
      for (const limit of [500, 250]) {
        scene.want("web", limit);
        scene.want("bare", limit);
        await scene.pass(60_000);
        assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
        assert.equal(scene.limits("bare").applied, of === "all" ? 300 : limit);
      }

      mend(scene);
      await scene.pass(10_000);
      assert.deepEqual(reported(scene), []);
      assert.deepEqual(scene.limits("web"), { wanted: 250, applied: 250 });
      assert.deepEqual(scene.limits("bare"), { wanted: 250, applied: 250 });
    },
  );
}
