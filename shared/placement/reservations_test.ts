import assert from "node:assert/strict";
import { placedPod } from "../../tests/fixtures/placement/placed_pods.ts";
import {
  dropOldest,
  expire,
  noReservations,
  observePods,
  observeSomePods,
  type Reservation,
  type Reservations,
  reserve,
  reservedByClass,
} from "./reservations.ts";

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
