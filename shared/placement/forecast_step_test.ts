import assert from "node:assert/strict";
import { placedPod, placedPods, wholeInput } from "../../tests/fixtures/placement/placed_pods.ts";
import { PLACEMENT_DEFAULTS } from "../../tests/fixtures/placement/placement_defaults.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { decideMove, type MoveDecisionInput } from "./decide_move.ts";
import { forecastStep } from "./forecast_step.ts";
import type { PlacedPod } from "./placed_pod.ts";

const NOW = Date.UTC(2026, 0, 1);
const HALF = { spotPercentage: 50, minOnDemand: 0, paused: false };
const FOUR = placedPods({ spot: 4 });

/** The steps of whole Deployments of these pods, half of them for spot; `-`: none. */
function assertSteps(
  rows: readonly (readonly [RegExp, readonly PlacedPod[], Partial<MoveDecisionInput>?])[],
): void {
  for (const [expected, pods, changes = {}] of rows) {
    const input = wholeInput(pods, { nowMs: NOW, evictionFromMs: NOW, ...changes });
    const decision = decideMove(input, PLACEMENT_DEFAULTS);
    const step = forecastStep(input, { decision, settings: PLACEMENT_DEFAULTS });
    const time = step?.notBefore === undefined ? [] : [step.notBefore.slice(11, 23)];
    const parts = [
      step?.action ?? "-",
      ...(step?.to === undefined ? [] : [`=> ${step.to}`]),
      ...time,
    ];
    assert.match(parts.join(" "), expected);
  }
}

pure(
  "forecastStep() has no step where nothing is to be done, or nothing may be",
  () =>
    assertSteps([
      [/^-$/, placedPods({ spot: 1, "on-demand": 1 })],
      [/^-$/, FOUR, { spec: { ...HALF, paused: true } }],
      [/^-$/, FOUR.with(0, placedPod("web-0", { ready: false }))],
      [/^-$/, FOUR.map((pod) => ({ ...pod, budget: "budget web" }))],
    ]),
);

pure("forecastStep() looks beyond cooldown, window and fallback", () => {
  const lastMoveAtMs = NOW - 4000;
  const window = { schedule: "0 2 * * *", durationMs: 3_600_000 };
  const blocked = FOUR.map((pod) => ({ ...pod, budget: "budget web allows none" }));
  assertSteps([
    [/ web-spot-x4 .* => on-demand 00:00:06\.000$/, FOUR, { lastMoveAtMs }],
    [/ web-spot-x4 .* => on-demand 02:00:00\.000$/, FOUR, {
      lastMoveAtMs,
      spec: { ...HALF, window },
    }],
    [/ web-on-demand-x2 .* => spot 00:01:00\.000$/, placedPods({ "on-demand": 2 }), {
      shortage: { untilMs: NOW + 60_000, rounds: 1 },
    }],
    [/^wait .*\(pod web-spot-x4: budget web .*\) 00:00:06\.000$/, blocked, { lastMoveAtMs }],
  ]);
});

pure("forecastStep() reports shortages, and pods that wait for a spot node", () => {
  const pending = { class: "spot", scheduled: false, ready: false } as const;
  const waiting = (sinceMs: number, createdAtMs = 0) =>
    placedPod("web-0", { ...pending, unschedulableSinceMs: sinceMs, createdAtMs });
  const shortage = { sinceMs: NOW - 1, untilMs: NOW + 60_000, rounds: 1 };
  const long = { ...shortage, untilMs: NOW + 240_000 };
  const remade = { atMs: NOW - 1, count: 1 };
  assertSteps([
    [/^-$/, [placedPod("web-0", pending)]],
    [/^new pods .* unless pod web-0 .* 00:00:40\.000$/, [
      waiting(NOW - 20_000),
      placedPod("web-1"),
    ]],
    [/^fall .* web-0 .* 00:02:00\.000$/, [waiting(NOW, NOW)], { shortage }],
    [/^make pod web-0 again .* 00:01:00\.000$/, [waiting(NOW, NOW)], { shortage: long }],
    [/^make pod web-0 again .*webhook.* 00:01:59\.999$/, [waiting(NOW, NOW)], {
      shortage: { ...long, remade },
    }],
    [/^evict pod web-0 .* => on-demand$/, [waiting(NOW)], { shortage }],
  ]);
});

pure("forecastStep() evicts pods of a leaving node first, unless they are to stay", () => {
  const departs = "taint spot-itn";
  const dying = placedPod("web-9", { gone: true, departs, departsSinceMs: NOW });
  const even = placedPods({ spot: 1, "on-demand": 1 });
  const drained = { ...dying, drained: true };
  assertSteps([
    [/^evict pod web-9 .*\(taint spot-itn\)$/, [...FOUR, dying]],
    [/pod web-9 .*\(taint spot-itn\).*: budget web$/, [
      ...FOUR,
      { ...dying, budget: "budget web" },
    ]],
    [/^-$/, [...FOUR, dying], { spec: { ...HALF, paused: true } }],
    [/^-$/, [...even, { ...dying, pinned: "annotation" }]],
    // In turn: while all others are there it is not whole, as there is one too many.
    [/^-$/, [...FOUR, drained]],
    [/^evict pod web-9 .*\(taint spot-itn\)$/, FOUR.with(0, drained), {
      workload: wholeInput(FOUR).workload,
    }],
  ]);
});
