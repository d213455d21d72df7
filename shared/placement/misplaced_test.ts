import assert from "node:assert/strict";
import { placedPod, placedPods } from "../../tests/fixtures/placed_pods.ts";
import { misplaced } from "./misplaced.ts";
import type { PlacedPod } from "./placed_pod.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const HALF = { spotPercentage: 50, minOnDemand: 0 } as const;

function movesOf(
  pods: readonly PlacedPod[],
  kind: "Deployment" | "StatefulSet" = "Deployment",
): readonly string[] {
  const replicas = pods.filter(({ gone }) => !gone).length;
  return misplaced(pods, { kind, replicas, wish: HALF })
    .map(({ pod, to }) => `${pod.name} to ${to}`);
}

test("misplaced() has the pods of the class with too many, the youngest first", () => {
  assert.deepEqual(movesOf(placedPods({ spot: 2, "on-demand": 2 })), []);
  assert.deepEqual(movesOf(placedPods({ spot: 3, "on-demand": 1 })), [
    "web-spot-x3 to on-demand",
    "web-spot-x2 to on-demand",
    "web-spot-x1 to on-demand",
  ]);
  assert.deepEqual(movesOf(placedPods({ "on-demand": 1 })), []);
  assert.deepEqual(movesOf(placedPods({ "on-demand": 2 })).at(0), "web-on-demand-x2 to spot");
});

test("misplaced() begins with pods that are not Ready, then with those on cordoned nodes", () => {
  const pods = [
    placedPod("a", { createdAtMs: 4 }),
    placedPod("b", { createdAtMs: 3, cordoned: true }),
    placedPod("c", { createdAtMs: 2, ready: false }),
    placedPod("d", { createdAtMs: 1, ready: false, cordoned: true }),
  ];
  assert.deepEqual(movesOf(pods).map((text) => text[0]).join(""), "dcba");
});

test("misplaced() counts each revision for itself, and nothing that is gone", () => {
  const pods = [
    ...placedPods({ spot: 1, "on-demand": 1 }, { revision: "r1" }),
    ...placedPods({ spot: 2 }, { revision: "r2" }),
    ...placedPods({ "on-demand": 7 }, { gone: true }),
  ];
  assert.deepEqual(
    misplaced(pods, { kind: "Deployment", replicas: 4, wish: HALF }).map(({ pod, to }) =>
      `${pod.revision} ${pod.name} ${to}`
    ),
    ["r2 web-spot-x2 on-demand", "r2 web-spot-x1 on-demand"],
  );
});

test("misplaced() moves on-demand first what the floor is short of", () => {
  const pods = [
    ...placedPods({ "on-demand": 2 }, { revision: "r1", ready: false }),
    ...placedPods({ spot: 2 }, { revision: "r2" }),
  ];
  assert.deepEqual(
    misplaced(pods, { kind: "Deployment", replicas: 4, wish: HALF }).map(({ to }) => to),
    ["on-demand", "on-demand", "spot", "spot"],
  );
});

test("misplaced() has a StatefulSet's pods that are not where their ordinals are to be", () => {
  const pods = ["spot", "spot", "spot", "on-demand", "spot", "on-demand"].map((one, ordinal) =>
    placedPod(`db-${ordinal}`, { class: one as PlacedPod["class"] })
  );
  assert.deepEqual(movesOf(pods, "StatefulSet"), [
    "db-2 to on-demand",
    "db-1 to on-demand",
    "db-0 to on-demand",
    "db-5 to spot",
    "db-3 to spot",
  ]);
  const unready = pods.map((pod) => pod.name === "db-1" ? { ...pod, ready: false } : pod);
  assert.equal(movesOf(unready, "StatefulSet")[0], "db-1 to on-demand");
});
