import assert from "node:assert/strict";
import { SKIP_GUARANTEED } from "../../../shared/api/market_keys.ts";
import {
  BOUND_HOLDS,
  BOUND_REASONS,
  CEILING_REASONS,
} from "../../../shared/api/reasons/bound_reasons.ts";
import type { Reason } from "../../../shared/api/reasons/reason.ts";
import { remedyFor } from "../../../shared/api/reasons/reasons.ts";
import { restoredMessage } from "../../../shared/resize/scope.ts";
import { blockerOf, unblockedVerdict } from "../../../shared/view/blocker.ts";
import type { ContainerExplanation, ExplainedBounds } from "../../../shared/view/explanation.ts";
import { sampleNode } from "../../../tests/contract/support/sample_objects.ts";
import { addMarketPod, sceneTest } from "../../../tests/fixtures/cli/coalloc_scene.ts";
import {
  app,
  BOUNDS,
  type Change,
  ENOUGH,
  explained,
  held,
  IDLE,
  MARKET,
  OFF,
  sampleNodeView,
  samplePodView,
  UNSEEN,
} from "../../../tests/fixtures/cli/node_views.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { ownedBy, sampleHPA } from "../../../tests/fixtures/sample_workloads.ts";
import { explainText } from "./explain_text.ts";

const CHANGED = { limit: 200, own: 200 };
const LOST = { ...CHANGED, recorded: false };

sceneTest("explainCommand() explains a pod as text and as data", async (scene) => {
  const lastAppliedTime = new Date(scene.clock.wall() - 180_000).toISOString();
  const rules = [{ reason: "NodeDraining", message: "node-1 is being drained" }];
  const status = {
    ...{ phase: "Applied", reason: "Applied", lastAppliedTime } as const,
    bounds: { revision: 3, reason: "NodeDraining", rules, containers: [] },
  };
  const { metadata: { uid } } = addMarketPod(scene, "web", { ...CHANGED, status });
  scene.agents.push("node-1");
  scene.views.set("node-1", sampleNodeView([samplePodView("web", { uid })]));
  const [, json] = await scene.ran("explain pod/web -c app -o json");
  const { containers, blocked, bounds, controller } = JSON.parse(json);
  assert.deepEqual([containers[0].view.share, blocked.by], [450, "NodeIsShort"]);
  assert.deepEqual(bounds.rules, [{ ...rules[0], remedy: remedyFor("NodeDraining") }]);
  assert.equal(controller.appliedAgeMs, 180_000);
  assert.match((await scene.ran("explain web"))[1], /^Readings.*^Controller +Applied 3m ago: /ms);
  scene.settings = "market: off\n";
  const [code, yaml] = await scene.ran("explain shop/web -n other -o yaml");
  assert.equal(code, 0);
  assert.match(yaml, /^outside:\n {2}reason: MarketOff$/m);
});

sceneTest("explainCommand() finds what keeps a pod out beside pod and namespace", async (scene) => {
  addMarketPod(scene, "web", LOST);
  const { Pod: pods, VerticalPodAutoscaler: autoscalers, Node: nodes } = scene.api.store.tables;
  pods.modify("shop/web", (pod) => ownedBy("StatefulSet", pod));
  const explained = async (): Promise<string> => (await scene.ran("explain web"))[1];
  assert.match(await explained(), /^Blocked: .* no allocation(?!.*(VPA|VerticalPod))/ms);
  autoscalers.create({
    metadata: { name: "right", namespace: "shop", uid: "", resourceVersion: "" },
    target: { kind: "StatefulSet", name: "web" },
    updateMode: "Recreate",
  });
  assert.match(await explained(), /VPAConflict: VPA right, mode Recreate, .*\nWhat to do: /);
  scene.hidesAutoscalers = true;
  nodes.create({ ...sampleNode("node-1"), kubeletVersion: "v1.30.1" });
  assert.match(await explained(), /KubeletTooOld: .*^VerticalPodAutoscalers .*VPAConflict/ms);
  // The controller's decision is known: the readings that are missing do not matter.
  addMarketPod(scene, "api", CHANGED);
  assert.doesNotMatch((await scene.ran("explain api"))[1], /VerticalPodAutoscalers/);
});

sceneTest("explainCommand() finds the HPA that keeps a Guaranteed pod out", async (scene) => {
  addMarketPod(scene, "db", { ...LOST, guaranteed: true });
  const { Pod: pods, HorizontalPodAutoscaler: autoscalers } = scene.api.store.tables;
  const explained = async (): Promise<string> => (await scene.ran("explain db"))[1];
  assert.match(await explained(), /NotBurstable: .*\nWhat to do: .*skip-guaranteed: "false"/);
  const annotations = { [SKIP_GUARANTEED]: "false" };
  pods.modify("shop/db", (pod) => (
    ownedBy("StatefulSet", { ...pod, metadata: { ...pod.metadata, annotations } })
  ));
  autoscalers.create(sampleHPA({ target: { kind: "StatefulSet", name: "web" } }));
  assert.match(await explained(), /market: HPAConflict: HPA web-hpa /);
  scene.hidesAutoscalers = true;
  assert.match(await explained(), /^HorizontalPodAutoscalers .*HPAConflict/m);
});

sceneTest("explainCommand() finds that a pod is one for Windows", async (scene) => {
  addMarketPod(scene, "web", LOST);
  scene.api.store.tables.Pod.modify("shop/web", (pod) => ({ ...pod, windows: true }));
  const [code, json] = await scene.ran("explain web -o json");
  const { outside, blocked } = JSON.parse(json);
  assert.deepEqual([code, outside.reason, blocked.by], [0, "WindowsPod", "OutsideTheMarket"]);
});

const plain: ContainerExplanation = { name: "plain", sidecar: false };
const STEP_LEFT = { demand: 205, need: 210, share: 210, target: 210, ceiling: 210 };

/** Each with the rule that finds its cause; undefined: none does. The sentences' table has more. */
const CAUSES: readonly (readonly [by: string | undefined, change: Change])[] = [
  // Controller and agent know nothing of this container: it has no limit that could be moved.
  [undefined, { containers: [app(IDLE), plain] }],
  ["OutsideTheMarket", { outside: { reason: "MarketOff", message: "" }, phase: "Pending" }],
  ["ControllerHolds", { controller: { reason: "QuotaExceeded" } }],
  [undefined, { containers: [app(OFF, { applied: 500 })] }],
  [undefined, { containers: [app({ ...OFF, ceiling: 200 })] }],
  ["CeilingBinds", { containers: [app(OFF), app({ ceiling: 200 }, { name: "side" })] }],
  // One step is left, and it covers the demand.
  ["PacingWaits", { containers: [app({ ...STEP_LEFT, waiting: "ceiling waits" })] }],
  // The ceiling covers the demand: the new limit is not yet in the pod.
  [undefined, { containers: [app({ ...STEP_LEFT, limit: 210 })] }],
  [undefined, { containers: [app({ quotaOff: true })] }],
  ["NoReadings", { containers: [{ ...plain, bounds: BOUNDS }] }],
  [undefined, { ...UNSEEN, market: { ...MARKET, demand: 100 } }],
];

pure("blockerOf() finds the outermost cause", () => {
  for (const [by, change] of CAUSES) {
    assert.equal(blockerOf(explained(change))?.by, by, JSON.stringify(change));
  }
});

pure("unblockedVerdict() says that limits cover the demand only where that is known", () => {
  const covered = (change: Change) => unblockedVerdict(explained(change)).covered;
  assert.equal(covered({ containers: [app({ ...ENOUGH, demand: 201 })] }), true);
  assert.equal(covered({ containers: [app({ ...ENOUGH, demand: 203 })] }), false);
  assert.equal(covered({ ...UNSEEN, market: { ...MARKET, demand: 100, need: 100 } }), false);
});

/** The pod with these rules of bounds, and this container. */
function ruled(
  container: Partial<ContainerExplanation>,
  ...rules: NonNullable<ExplainedBounds["rules"]>[number][]
) {
  const reason = rules.map(({ reason }) => reason).join();
  return explained({
    bounds: { revision: 7, reason, rules },
    containers: [{ ...app({}), ...container }],
  });
}

pure("explainText() reports each rule of bounds with sentence, numbers and remedy", () => {
  for (const [reason, { means, remedy }] of Object.entries<Reason>(BOUND_REASONS)) {
    const message = `app because of ${reason}`;
    const size = { reason: "NodeSize", message: "app at most 3600m" };
    const lines = explainText(ruled({}, { reason, message }, size)).split("\n");
    const at = lines.findIndex((line) => line.trim() === `${reason}: ${means} (${message})`);
    assert.ok(at > lines.findIndex((line) => /^Bounds +revision 7$/.test(line)), reason);
    const next = lines[at + 1]?.trim() ?? "";
    if (remedy === undefined) assert.doesNotMatch(next, /^what to do/);
    else assert.equal(next, `what to do: ${remedy}`);
  }
});

pure("blockerOf() names the rules that keep a limit as it is, with the first remedy", () => {
  for (const [reason, hold] of Object.entries(BOUND_HOLDS)) {
    const message = `so says ${reason}`;
    const other = { reason: "BurstFactor", message: "app at most 800m" };
    const found = blockerOf(ruled(held("both"), other, { reason, message }));
    // A rule that only keeps a limit from being lowered blocks nothing.
    const isNamed = found?.message.endsWith(`as it is: ${reason}: ${message}`);
    assert.equal(isNamed, hold === "both", reason);
    if (isNamed) assert.equal(found?.remedy, remedyFor(reason));
  }
});

pure("blockerOf() names the rule that sets a ceiling, and what to do about that one", () => {
  const bound = app({ limit: 200, ceiling: 200 });
  const general = blockerOf(explained({ containers: [bound] }))?.remedy;
  const sets: ReadonlySet<string> = new Set(CEILING_REASONS);
  for (const reason of Object.keys(BOUND_REASONS)) {
    const message = `app because of ${reason}`;
    const other = { reason: "BurstFactor", message: "db at most 900m" };
    const found = blockerOf(ruled(bound, other, { reason, message }));
    assert.equal(found?.message.includes(`(${reason}: ${message})`), sets.has(reason), reason);
    assert.equal(found?.remedy, (sets.has(reason) ? remedyFor(reason) : undefined) ?? general);
  }
});

pure("explainText() reports what to do about the cause for which original limits are back", () => {
  const cause = "the node's agent has not renewed its lease";
  for (
    const [message, remedy] of [
      [restoredMessage({ reason: "AgentSilent", message: cause }), remedyFor("AgentSilent")],
      [cause, remedyFor("Restored")],
    ]
  ) {
    const controller = { phase: "Applied", reason: "Restored", message } as const;
    assert.ok(explainText(explained({ controller })).includes(`\nWhat to do: ${remedy}\n`));
  }
});
