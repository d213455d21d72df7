import assert from "node:assert/strict";
import { placedPod, placedPods } from "../../tests/fixtures/placement/placed_pods.ts";
import { type AdmissionInput, admitPod, type CountedPod } from "./admit_pod.ts";
import { noReservations, type Reservations } from "./reservations.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const FACTS: AdmissionInput = {
  workload: { kind: "Deployment", replicas: 10 },
  spec: { spotPercentage: 70, minOnDemand: 0 },
  pods: [],
  shortage: "none",
  pod: { revision: "r1", generateName: "web-" },
  dryRun: false,
  nowMs: 0,
};

/** The classes of admissions in a row, `everyMs` apart, of pods that are not observed. */
function admitted(
  count: number,
  { everyMs = 0, ...facts }: Partial<AdmissionInput> & { readonly everyMs?: number } = {},
): string {
  let reservations: Reservations = noReservations(facts.pods);
  return Array.from({ length: count }, (_, index) => {
    const answer = admitPod(reservations, { ...FACTS, nowMs: index * everyMs, ...facts });
    reservations = answer.reservations;
    return answer.class[0];
  }).join("");
}

test("admitPod() counts reservations", () => {
  assert.equal(admitted(10), "ossossosss");
  assert.equal(admitted(3, { pods: placedPods({ spot: 5, "on-demand": 2 }) }), "oss");
});

test("admitPod() counts the pods of its revision alone, and none that is gone", () => {
  const others = placedPods({ "on-demand": 9 }, { revision: "r0" });
  assert.equal(admitted(2, { pods: others }), "os");
  const gone = placedPods({ "on-demand": 9 }, { gone: true });
  assert.equal(admitted(1, { pods: gone }), "o");
  assert.equal(admitted(1, { pods: placedPods({ "on-demand": 9 }) }), "s");
});

test("admitPod() reserves nothing for a dry run, and nothing twice for one UID", () => {
  const dry = admitPod(noReservations(), { ...FACTS, dryRun: true });
  assert.equal(dry.reservations.open.length, 0);
  const facts = { ...FACTS, pod: { revision: "r1", uid: "u1" } };
  const first = admitPod(noReservations(), facts);
  const again = admitPod(first.reservations, facts);
  assert.deepEqual(again, { ...first, reservations: again.reservations });
  assert.equal(again.reservations.open.length, 1);
});

test("admitPod() has the deletion cost of a Deployment's pod, with reservations", () => {
  const costs: (number | undefined)[] = [];
  let reservations: Reservations = noReservations();
  for (let index = 0; index < 4; index++) {
    const answer = admitPod(reservations, FACTS);
    costs.push(answer.deletionCost);
    reservations = answer.reservations;
  }
  assert.deepEqual(costs, [-1, -2, -3, -4]);
  const workload = { kind: "StatefulSet", replicas: 4 } as const;
  const pod = { revision: "r1", name: "db-0" };
  const answer = admitPod(noReservations(), { ...FACTS, workload, pod });
  assert.equal(answer.deletionCost, undefined);
});

test("admitPod() drops a reservation that expired", () => {
  const first = admitPod(noReservations(), FACTS);
  const later = admitPod(first.reservations, { ...FACTS, nowMs: 30_000 });
  assert.equal(later.class, first.class);
  assert.equal(later.reservations.open.length, 1);
});

test("admitPod() takes a pod beyond the replicas for a failed creation", () => {
  const workload = { kind: "Deployment", replicas: 10 } as const;
  // At once as well as one after the other: lost pods fill no floor.
  for (const everyMs of [0, 200]) {
    const answers = admitted(13, { workload, everyMs });
    assert.equal(answers.slice(10), answers.slice(0, 3));
  }
  const stale = placedPods({ spot: 7, "on-demand": 3 });
  assert.equal(admitted(10, { pods: stale }).replaceAll("o", "").length, 7);
});

test("admitPod() fills the floor whichever creations fail", () => {
  const spec = { spotPercentage: 100, minOnDemand: 2 };
  const workload = { kind: "Deployment", replicas: 3 } as const;
  // Each bit is a creation, the lowest first: 1 is one that another webhook denied.
  for (let denied = 0; denied < 2 ** 8; denied++) {
    // After a failure, a ReplicaSet continues once it observes the pods that it created.
    for (const isSeen of Number.isInteger(Math.log2(denied + 1)) ? [false, true] : [true]) {
      const pods: CountedPod[] = [];
      const made: string[] = [];
      let reservations: Reservations = noReservations();
      for (let index = 0; made.length < 3; index++) {
        const seen = isSeen ? pods : [];
        const facts = { ...FACTS, spec, workload, pods: seen, nowMs: 5 * index };
        const answer = admitPod(reservations, facts);
        reservations = answer.reservations;
        if ((denied >> index) % 2 === 1) continue;
        made.push(answer.class);
        pods.push(placedPod(`web-${index}`, { class: answer.class, revision: "r1" }));
      }
      const onDemand = made.filter((one) => one === "on-demand").length;
      assert.ok(onDemand >= 2, `${denied.toString(2)} ${isSeen}: ${made}`);
    }
  }
});

test("admitPod() splits a burst beyond the replicas of a late cache", () => {
  const workload = { kind: "Deployment", replicas: 10 } as const;
  const seen = placedPods({ spot: 6, "on-demand": 3 });
  // Of 29 pods 20 are to run on spot nodes.
  assert.equal(admitted(20, { workload, pods: seen, everyMs: 50 }).replaceAll("o", "").length, 14);
  // Later than caches lag behind, creations have failed.
  assert.equal(admitted(20, { workload, pods: seen, everyMs: 2000 }), "s".repeat(20));
});

test("admitPod() knows the place of a moved pod, also while that pod is still observed", () => {
  assert.equal(admitted(1, { pods: placedPods({ spot: 6, "on-demand": 4 }) }), "s");
  assert.equal(admitted(1, { pods: placedPods({ spot: 8, "on-demand": 2 }) }), "o");
});

test("admitPod() places a StatefulSet's pods by their ordinals", () => {
  const at = (name: string): string =>
    admitPod(noReservations(), {
      ...FACTS,
      workload: { kind: "StatefulSet", replicas: 10 },
      pod: { revision: "r1", name },
      pods: placedPods({ spot: 7 }),
    }).class;
  assert.deepEqual(["db-0", "db-2", "db-3", "db-9"].map(at), [
    "on-demand",
    "on-demand",
    "spot",
    "spot",
  ]);
});

test("admitPod() sends a pod to the only class that it can run on, and compensates with others", () => {
  const fallback = { only: "spot", shortage: "fallback" } as const;
  assert.equal(admitted(1, fallback), "s");
  assert.equal(admitted(1, { only: "spot", spec: { spotPercentage: 0, minOnDemand: 5 } }), "s");
  let reservations: Reservations = noReservations();
  const made = (["spot", "spot", undefined, undefined] as const).map((only) => {
    const answer = admitPod(reservations, { ...FACTS, ...(only === undefined ? {} : { only }) });
    reservations = answer.reservations;
    return answer.class[0];
  });
  assert.equal(made.join(""), "ssoo");
  const db = { kind: "StatefulSet", replicas: 10 } as const;
  const pod = { revision: "r1", name: "db-0" };
  assert.equal(admitted(1, { workload: db, pod, only: "spot" }), "s");
});

test("admitPod() sends all to on-demand in a fallback, and one at a time to spot after it", () => {
  const pods = placedPods({ "on-demand": 5 });
  assert.equal(admitted(4, { pods, shortage: "fallback" }), "oooo");
  assert.equal(admitted(4, { pods, shortage: "returning" }), "sooo");
  const waiting = placedPod("web-w", { class: "spot", scheduled: false });
  assert.equal(admitted(1, { pods: [...pods, waiting], shortage: "returning" }), "o");
});
