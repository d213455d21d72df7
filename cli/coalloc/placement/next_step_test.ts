import assert from "node:assert/strict";
import { placedPod, placedPods } from "../../../tests/fixtures/placed_pods.ts";
import type { MoveFacts } from "../../../shared/placement/next_move.ts";
import type { PlacedPod } from "../../../shared/placement/placed_pod.ts";
import { foresee } from "./next_step.ts";
import { placementRules } from "./placement_rules.ts";

const { rules: RULES } = placementRules({ text: "", variables: {} });
const NOW = Date.UTC(2026, 0, 1);

/** A whole Deployment of these pods that wants half of them on spot. */
function factsOf(pods: readonly PlacedPod[], changes: Partial<MoveFacts> = {}): MoveFacts {
  const count = pods.filter(({ gone }) => !gone).length;
  return {
    workload: {
      kind: "Deployment",
      replicas: count,
      observed: true,
      present: count,
      ready: count,
      updated: count,
    },
    wish: { spotPercentage: 50, minOnDemand: 0, paused: false },
    pods,
    evictionFromMs: NOW,
    nowMs: NOW,
    ...changes,
  };
}

function wordsOf(facts: MoveFacts): string {
  const { step } = foresee(facts, RULES);
  return step === undefined
    ? "-"
    : [step.words, ...(step.notBefore ?? "").split("T").slice(1)].join(" ");
}

Deno.test("foresee() names the pod that goes, and why it is this one", () => {
  const pods = placedPods({ spot: 3, "on-demand": 1 });
  assert.equal(
    wordsOf(factsOf(pods)),
    "evict pod web-spot-x3 (youngest surplus spot) to on-demand",
  );
  const bound = pods.map((pod) =>
    pod.name === "web-spot-x3" ? { ...pod, bound: "its volume" } : pod
  );
  assert.equal(
    wordsOf(factsOf(bound)),
    "evict pod web-spot-x2 (youngest surplus spot that may go) to on-demand",
  );
  const cordoned = pods.map((pod) => ({ ...pod, cordoned: pod.name === "web-spot-x1" }));
  assert.equal(
    wordsOf(factsOf(cordoned)),
    "evict pod web-spot-x1 (surplus spot on a cordoned node) to on-demand",
  );
  const set = [placedPod("db-0", { class: "spot" }), placedPod("db-1")];
  const facts = factsOf(set);
  const { words } = foresee(
    { ...facts, workload: { ...facts.workload, kind: "StatefulSet" } },
    RULES,
  ).step ?? {};
  assert.equal(words, "evict pod db-0 (misplaced by its ordinal) to on-demand");
});

Deno.test("foresee() has no step where nothing is to be done, or nothing may be", () => {
  assert.equal(wordsOf(factsOf(placedPods({ spot: 1, "on-demand": 1 }))), "-");
  const pods = placedPods({ spot: 4 });
  const wish = { spotPercentage: 50, minOnDemand: 0, paused: true };
  assert.equal(wordsOf(factsOf(pods, { wish })), "-");
  const unready = pods.map((pod, index) => ({ ...pod, ready: index > 0 }));
  assert.equal(wordsOf(factsOf(unready)), "-");
  assert.equal(wordsOf(factsOf(pods.map((pod) => ({ ...pod, budget: "budget web" })))), "-");
});

Deno.test("foresee() looks beyond cooldown, window and fallback", () => {
  const pods = placedPods({ spot: 4 });
  const move = "evict pod web-spot-x4 (youngest surplus spot) to on-demand";
  const lastMoveAtMs = NOW - 4000;
  assert.equal(wordsOf(factsOf(pods, { lastMoveAtMs })), `${move} 00:00:06.000Z`);
  const window = { schedule: "0 2 * * *", durationMs: 3_600_000 };
  const wish = { spotPercentage: 50, minOnDemand: 0, paused: false, window };
  assert.equal(wordsOf(factsOf(pods, { lastMoveAtMs, wish })), `${move} 02:00:00.000Z`);
  const shortage = { untilMs: NOW + 60_000, rounds: 1 };
  assert.equal(
    wordsOf(factsOf(placedPods({ "on-demand": 2 }), { shortage })),
    "evict pod web-on-demand-x2 (youngest surplus on-demand) to spot 00:01:00.000Z",
  );
  const blocked = pods.map((pod) => ({ ...pod, budget: "budget web allows no disruption" }));
  assert.equal(
    wordsOf(factsOf(blocked, { lastMoveAtMs })),
    "wait until a budget lets one go (pod web-spot-x4: budget web allows no disruption) 00:00:06.000Z",
  );
});

Deno.test("foresee() tells of shortages, and of pods that wait for a spot node", () => {
  const waiting = (sinceMs?: number) =>
    placedPod("web-0", {
      class: "spot",
      scheduled: false,
      ready: false,
      ...(sinceMs === undefined ? {} : { unschedulableSinceMs: sinceMs }),
    });
  assert.equal(wordsOf(factsOf([waiting()])), "-");
  assert.equal(
    wordsOf(factsOf([waiting(NOW - 20_000), placedPod("web-1")])),
    "new pods fall back to on-demand unless pod web-0 finds a spot node 00:00:40.000Z",
  );
  assert.equal(
    wordsOf(factsOf([waiting(NOW - 60_000), { ...waiting(NOW), uid: "b", name: "web-1" }])),
    "new pods fall back to on-demand: pod web-0 and 1 more found no spot node",
  );
  const shortage = { sinceMs: NOW - 1, untilMs: NOW + 60_000, rounds: 1 };
  const long = { ...shortage, untilMs: NOW + 240_000 };
  const made = { ...waiting(NOW), createdAtMs: NOW };
  assert.equal(
    wordsOf(factsOf([made], { shortage })),
    "fall back once more unless pod web-0 finds a spot node, made for spot in this fallback " +
      "00:02:00.000Z",
  );
  assert.equal(
    wordsOf(factsOf([made], { shortage: long })),
    "make pod web-0 again unless it finds a spot node, made for spot in this fallback " +
      "00:01:00.000Z",
  );
  const remade = { atMs: NOW - 1, count: 1 };
  assert.equal(
    wordsOf(factsOf([made], { shortage: { ...long, remade } })),
    "make pod web-0 again unless it finds a spot node, made for spot in this fallback: " +
      "is the webhook asked? 00:01:59.999Z",
  );
  const step = foresee(factsOf([waiting(NOW)], { shortage }), RULES).step;
  assert.deepEqual(step, {
    words: "evict pod web-0 (it finds no spot node) to on-demand",
    pod: "web-0",
    to: "on-demand",
  });
});

Deno.test("foresee() lets pods go first whose node is about to go, unless they are to stay", () => {
  const departs = "taint spot-itn";
  const dying = placedPod("web-9", { gone: true, departs });
  const pods = [...placedPods({ spot: 4 }), dying];
  assert.equal(
    wordsOf(factsOf(pods)),
    "evict pod web-9 from a node that is about to go (taint spot-itn), if it was made before that",
  );
  const budget = "budget web allows no disruption";
  assert.match(
    wordsOf(factsOf([...placedPods({ spot: 4 }), { ...dying, budget }])),
    /^evict pod web-9 from .*, once its budget lets it: budget web allows no disruption$/,
  );
  const wish = { spotPercentage: 50, minOnDemand: 0, paused: true };
  assert.equal(wordsOf(factsOf(pods, { wish })), "-");
  const kept = [...placedPods({ spot: 1, "on-demand": 1 }), { ...dying, bound: "annotation" }];
  assert.equal(wordsOf(factsOf(kept)), "-");
  // In turn: while all others are there it is not whole, as there is one too many.
  const drained = { ...dying, drained: true };
  const whole = factsOf(placedPods({ spot: 4 }));
  assert.equal(wordsOf({ ...whole, pods: [...whole.pods, drained] }), "-");
  assert.match(
    wordsOf({ ...whole, pods: whole.pods.with(0, drained) }),
    /^evict pod web-9 from a node that is about to go \(taint spot-itn\), if /,
  );
});
