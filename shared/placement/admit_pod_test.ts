import assert from "node:assert/strict";
import { placedPod, placedPods } from "../../tests/fixtures/placement/placed_pods.ts";
import {
  type AdmissionInput,
  admitPod,
  type CountedPod,
  dropOldest,
  expire,
  noReservations,
  observePods,
  observeSomePods,
  type Reservation,
  type Reservations,
  reserve,
  reservedByClass,
} from "./admit_pod.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function reservation(pod: Reservation["pod"], changes: Partial<Reservation> = {}): Reservation {
  return { pod, revision: "r1", class: "spot", sinceMs: 0, expiresAtMs: 1000, ...changes };
}

function reservations(...made: readonly Reservation[]): Reservations {
  return made.reduce(reserve, noReservations());
}

const spotPod = (name: string) => placedPod(name, { class: "spot" });

test("observePods() ends the reservation with the pod's UID, once", () => {
  const two = reservations(reservation({ uid: "uid-a" }), reservation({ uid: "uid-b" }));
  const seen = observePods(two, [spotPod("b")]);
  assert.deepEqual(seen.open.map(({ pod }) => pod.uid), ["uid-a"]);
  assert.deepEqual(observePods(seen, [spotPod("b")]), seen);
  assert.equal(observePods(seen, [spotPod("c")]).open.length, 1);
});

test("observePods() goes by the name where there is no UID, and not where there is another one", () => {
  assert.equal(
    observePods(reservations(reservation({ name: "db-3" })), [spotPod("db-3")]).open.length,
    0,
  );
  const other = reservations(reservation({ name: "db-3", uid: "another" }));
  assert.equal(observePods(other, [spotPod("db-3")]).open.length, 1);
});

test("observePods() lets a pod end one reservation of its generated name, revision and class", () => {
  const generateName = "web-7d9f-";
  const three = reservations(
    reservation({ generateName }, { revision: "r0" }),
    reservation({ generateName }, { class: "on-demand" }),
    reservation({ generateName }),
    reservation({ generateName }),
  );
  const one = observePods(three, [spotPod("web-7d9f-abc")]);
  assert.equal(one.open.length, 3);
  assert.deepEqual(observePods(one, [spotPod("web-7d9f-abc")]), one);
  assert.equal(observePods(one, [spotPod("web-7d9f-abc"), spotPod("web-7d9f-def")]).open.length, 2);
  assert.equal(observePods(one, [spotPod("web-1234-abc")]).open.length, 3);
});

test("observePods() counts no pod that was there before", () => {
  const before = noReservations([spotPod("web-7d9f-old")]);
  const made = reserve(before, reservation({ generateName: "web-7d9f-" }));
  assert.equal(observePods(made, [spotPod("web-7d9f-old")]).open.length, 1);
});

test("observePods() forgets deleted pods, and pods observed one by one end nothing again", () => {
  const generateName = "web-7d9f-";
  const pods = Array.from({ length: 200 }, (_, index) => spotPod(`${generateName}${index}`));
  const one = reservations(reservation({ generateName }));
  const seen = pods.reduce((all, pod) => observeSomePods(all, [pod]), one);
  assert.deepEqual([seen.open.length, seen.known.size + seen.recent.size], [0, 200]);
  const again = observePods(reserve(seen, reservation({ generateName })), pods.slice(0, 3));
  assert.equal(again.open.length, 1);
  assert.deepEqual([[...again.known], again.recent.size], [
    pods.slice(0, 3).map(({ uid }) => uid),
    0,
  ]);
});

test("expire() removes reservations in time", () => {
  const two = reservations(reservation({}), reservation({}, { expiresAtMs: 2000 }));
  assert.equal(expire(two, 999).open.length, 2);
  assert.equal(expire(two, 1000).open.length, 1);
});

test("reservedByClass() counts by revision", () => {
  const some = reservations(
    reservation({}),
    reservation({}, { class: "on-demand" }),
    reservation({}, { revision: "r2" }),
    reservation({}),
  );
  assert.deepEqual(reservedByClass(some, "r1"), { spot: 2, "on-demand": 1 });
});

test("dropOldest() keeps the newest and the young of the revision, and other revisions", () => {
  const some = reservations(
    reservation({ uid: "a" }),
    reservation({ uid: "b" }, { revision: "r2" }),
    reservation({ uid: "c" }, { sinceMs: 10 }),
    reservation({ uid: "d" }, { sinceMs: 20 }),
  );
  const uids = (most: number, untilMs = 20) =>
    dropOldest(some, { revision: "r1", most, untilMs }).open.map(({ pod }) => pod.uid).join("");
  assert.equal(uids(3), "abcd");
  assert.equal(uids(1), "bd");
  assert.equal(uids(0), "b");
  assert.equal(uids(0, 19), "bd");
  assert.equal(uids(0, 9), "bcd");
});

test("observePods() ends no reservation for an unadmitted pod, unless by its name", () => {
  const pod = { ...spotPod("web-a"), unadmitted: true } as const;
  const like = reservations(reservation({ generateName: "web-" }));
  assert.equal(observePods(like, [pod]).open.length, 1);
  assert.equal(observePods(like, [spotPod("web-a")]).open.length, 0);
  assert.equal(observePods(reservations(reservation({ name: "web-a" })), [pod]).open.length, 0);
});

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
