import assert from "node:assert/strict";
import { placedPod, placedPods } from "../../tests/fixtures/placement/placed_pods.ts";
import type { NextMoveInput } from "./next_move.ts";
import type { PlacedPod } from "./placed_pod.ts";
import { nextStep } from "./next_step.ts";

const OPTIONS = { cooldownMs: 10_000, shortage: {} };
const NOW = Date.UTC(2026, 0, 1);

/** A whole Deployment of these pods, half of them for spot. */
function factsOf(pods: readonly PlacedPod[], changes: Partial<NextMoveInput> = {}): NextMoveInput {
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
    spec: { spotPercentage: 50, minOnDemand: 0, paused: false },
    pods,
    evictionFromMs: NOW,
    nowMs: NOW,
    ...changes,
  };
}

function textOf(facts: NextMoveInput): string {
  const { step } = nextStep(facts, OPTIONS);
  return step === undefined
    ? "-"
    : [step.action, ...(step.notBefore ?? "").split("T").slice(1)].join(" ");
}

Deno.test("nextStep() has no step where nothing is to be done, or nothing may be", () => {
  assert.equal(textOf(factsOf(placedPods({ spot: 1, "on-demand": 1 }))), "-");
  const pods = placedPods({ spot: 4 });
  const spec = { spotPercentage: 50, minOnDemand: 0, paused: true };
  assert.equal(textOf(factsOf(pods, { spec })), "-");
  const unready = pods.map((pod, index) => ({ ...pod, ready: index > 0 }));
  assert.equal(textOf(factsOf(unready)), "-");
  assert.equal(textOf(factsOf(pods.map((pod) => ({ ...pod, budget: "budget web" })))), "-");
});

Deno.test("nextStep() looks beyond cooldown, window and fallback", () => {
  const pods = placedPods({ spot: 4 });
  const move = / web-spot-x4 .* on-demand /;
  const lastMoveAtMs = NOW - 4000;
  const cooled = textOf(factsOf(pods, { lastMoveAtMs }));
  assert.match(cooled, move);
  assert.match(cooled, / 00:00:06\.000Z$/);
  const window = { schedule: "0 2 * * *", durationMs: 3_600_000 };
  const spec = { spotPercentage: 50, minOnDemand: 0, paused: false, window };
  const open = textOf(factsOf(pods, { lastMoveAtMs, spec }));
  assert.match(open, move);
  assert.match(open, / 02:00:00\.000Z$/);
  const shortage = { untilMs: NOW + 60_000, rounds: 1 };
  assert.match(
    textOf(factsOf(placedPods({ "on-demand": 2 }), { shortage })),
    / web-on-demand-x2 .* spot 00:01:00\.000Z$/,
  );
  const blocked = pods.map((pod) => ({ ...pod, budget: "budget web allows no disruption" }));
  assert.match(
    textOf(factsOf(blocked, { lastMoveAtMs })),
    /^wait .*\(pod web-spot-x4: budget web .*\) 00:00:06\.000Z$/,
  );
});

Deno.test("nextStep() reports shortages, and of pods that wait for a spot node", () => {
  const waiting = (sinceMs?: number) =>
    placedPod("web-0", {
      class: "spot",
      scheduled: false,
      ready: false,
      ...(sinceMs === undefined ? {} : { unschedulableSinceMs: sinceMs }),
    });
  assert.equal(textOf(factsOf([waiting()])), "-");
  assert.match(
    textOf(factsOf([waiting(NOW - 20_000), placedPod("web-1")])),
    /^new pods .* unless pod web-0 .* 00:00:40\.000Z$/,
  );
  const shortage = { sinceMs: NOW - 1, untilMs: NOW + 60_000, rounds: 1 };
  const long = { ...shortage, untilMs: NOW + 240_000 };
  const made = { ...waiting(NOW), createdAtMs: NOW };
  assert.match(textOf(factsOf([made], { shortage })), /^fall .* web-0 .* 00:02:00\.000Z$/);
  assert.match(
    textOf(factsOf([made], { shortage: long })),
    /^make pod web-0 again .* 00:01:00\.000Z$/,
  );
  const remade = { atMs: NOW - 1, count: 1 };
  assert.match(
    textOf(factsOf([made], { shortage: { ...long, remade } })),
    /^make pod web-0 again .*webhook.* 00:01:59\.999Z$/,
  );
  const step = nextStep(factsOf([waiting(NOW)], { shortage }), OPTIONS).step;
  assert.deepEqual([step?.pod, step?.to, step?.notBefore], ["web-0", "on-demand", undefined]);
});

Deno.test("nextStep() evicts pods of a leaving node first, unless they are to stay", () => {
  const departs = "taint spot-itn";
  const dying = placedPod("web-9", { gone: true, departs, departsSinceMs: NOW });
  const pods = [...placedPods({ spot: 4 }), dying];
  const leaves = /^evict pod web-9 .*\(taint spot-itn\)/;
  assert.match(textOf(factsOf(pods)), leaves);
  const budget = "budget web allows no disruption";
  assert.match(
    textOf(factsOf([...placedPods({ spot: 4 }), { ...dying, budget }])),
    /pod web-9 .*\(taint spot-itn\).*: budget web /,
  );
  const spec = { spotPercentage: 50, minOnDemand: 0, paused: true };
  assert.equal(textOf(factsOf(pods, { spec })), "-");
  const kept = [...placedPods({ spot: 1, "on-demand": 1 }), { ...dying, pinned: "annotation" }];
  assert.equal(textOf(factsOf(kept)), "-");
  // In turn: while all others are there it is not whole, as there is one too many.
  const drained = { ...dying, drained: true };
  const whole = factsOf(placedPods({ spot: 4 }));
  assert.equal(textOf({ ...whole, pods: [...whole.pods, drained] }), "-");
  assert.match(textOf({ ...whole, pods: whole.pods.with(0, drained) }), leaves);
});
