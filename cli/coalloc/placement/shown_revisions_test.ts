import assert from "node:assert/strict";
import { placedPod, placedPods } from "../../../tests/fixtures/placement/placed_pods.ts";
import { shownRevisions, sumOfCounts } from "./shown_revisions.ts";

const SPEC = { spotPercentage: 50, minOnDemand: 0 };

Deno.test("shownRevisions() divides each revision by itself, the newest first", () => {
  const pods = [
    ...placedPods({ spot: 3, "on-demand": 1 }, { revision: "old" }),
    ...placedPods({ "on-demand": 1 }, { revision: "new", createdAtMs: 9_000_000 }),
    placedPod("new-2", { revision: "new", class: "spot", scheduled: false }),
    placedPod("gone", { revision: "new", gone: true }),
  ];
  const workload = { kind: "Deployment", replicas: 4, spec: SPEC } as const;
  const [newest, old] = shownRevisions(pods, { nodesKnown: true, workload });
  assert.deepEqual(newest, {
    revision: "new",
    desired: { spot: 1, "on-demand": 1 },
    actual: { spot: 0, "on-demand": 1 },
    pending: { spot: 1, "on-demand": 0 },
  });
  assert.deepEqual(old?.desired, { spot: 2, "on-demand": 2 });
  assert.deepEqual(sumOfCounts([newest?.actual, old?.actual, undefined]), {
    spot: 3,
    "on-demand": 2,
  });
});

Deno.test("shownRevisions() asks a StatefulSet's ordinals, and says nothing of nodes it can't see", () => {
  const pods = [0, 2].map((ordinal) => placedPod(`db-${ordinal}`, { class: "spot" }));
  const workload = { kind: "StatefulSet", replicas: 4, spec: SPEC } as const;
  const [all] = shownRevisions(pods, { nodesKnown: false, workload });
  assert.deepEqual(all?.desired, { spot: 1, "on-demand": 1 });
  assert.equal(all !== undefined && "actual" in all, false);
  const [unreported] = shownRevisions(pods, { nodesKnown: true });
  assert.equal(unreported !== undefined && "desired" in unreported, false);
});

Deno.test("shownRevisions() counts as the metrics do who is on a node that is drained", () => {
  const drained = { gone: true, departs: "taint disrupted", drained: true };
  const pods = [...placedPods({ spot: 1 }), ...placedPods({ "on-demand": 1 }, drained)];
  const workload = { kind: "Deployment", replicas: 2, spec: SPEC } as const;
  const [all] = shownRevisions(pods, { nodesKnown: true, workload });
  assert.deepEqual(all?.desired, { spot: 1, "on-demand": 1 });
  assert.deepEqual(all?.actual, { spot: 1, "on-demand": 1 });
});
