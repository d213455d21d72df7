import assert from "node:assert/strict";
import type { Desired } from "../shared/api/pod_allocation.ts";
import { boundedAllocation } from "../tests/fixtures/sample_seat.ts";
import { LONGEST_REPEAT_MS, REPEAT_MS, repeatFor, type Written } from "./written_over.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const OURS: Desired = {
  desiredCPULimit: "500m",
  containers: [{ name: "app", cpuLimit: "500m" }],
  market: { mode: "congested", demand: 310, need: 310, credit: 1, observedBounds: 1 },
} as Desired;
const THEIRS: Desired = { ...OURS, containers: [{ name: "app", cpuLimit: "4" }] };

/** Taken by the server at 1000 ms as version 10, said to a copy of version 7. */
const WRITTEN: Written = {
  uid: "uid-a",
  desired: OURS,
  from: "7",
  sent: { at: 1000, version: "10" },
};

function copy(resourceVersion: string, spec: Desired) {
  const allocation = boundedAllocation("a", { spec });
  return { ...allocation, metadata: { ...allocation.metadata, resourceVersion } };
}

/** When something is said again of a copy that stays so, ms; looked at once a second. */
function repeatsOver(ms: number, { version, spec }: { version: string; spec: Desired }): number[] {
  const times: number[] = [];
  let written = WRITTEN;
  for (let now = 1000; now <= ms; now += 1000) {
    const repeats = repeatFor(written, { allocation: copy(version, spec), now });
    if (repeats === undefined) continue;
    times.push(now);
    written = { ...written, repeats, sent: { at: now, version: "10" } };
  }
  return times;
}

pure("repeatFor() believes no copy that is older than the answer to the own write", () => {
  for (const version of ["1", "7", "9"]) {
    assert.deepEqual(repeatsOver(3_600_000, { version, spec: THEIRS }), [], version);
    assert.deepEqual(repeatsOver(3_600_000, { version, spec: {} }), [], version);
  }
  assert.equal(repeatsOver(20_000, { version: "10", spec: THEIRS })[0], 6000);
  assert.equal(repeatsOver(20_000, { version: "11", spec: THEIRS })[0], 6000);
  assert.equal(repeatsOver(20_000, { version: "100", spec: {} })[0], 6000);
});

pure(
  "repeatFor() has nothing to repeat where the copy says the same, or a write is under way",
  () => {
    assert.deepEqual(repeatsOver(3_600_000, { version: "12", spec: OURS }), []);
    // What is no limit changes from clearing to clearing.
    assert.deepEqual(
      repeatsOver(3_600_000, { version: "12", spec: { ...OURS, desiredCPULimit: "0.5" } }),
      [],
    );
    const { sent: _sent, ...underWay } = WRITTEN;
    assert.equal(repeatFor(underWay, { allocation: copy("12", THEIRS), now: 1e9 }), undefined);
  },
);

pure("repeatFor() answers one who writes again and again later and later, up to a cap", () => {
  const times = repeatsOver(3_600_000, { version: "12", spec: THEIRS });
  const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
  assert.deepEqual(gaps.slice(0, 6), [10_000, 20_000, 40_000, 80_000, 160_000, 300_000]);
  assert.ok(gaps.slice(5).every((gap) => gap === LONGEST_REPEAT_MS));
  // After a long quiet time it is a first one again.
  const repeats = { count: 9, at: 0 };
  const later = (now: number) =>
    repeatFor({ ...WRITTEN, repeats }, { allocation: copy("12", THEIRS), now });
  assert.equal(later(LONGEST_REPEAT_MS - 1), undefined);
  assert.equal(later(LONGEST_REPEAT_MS)?.count, 10);
  assert.equal(later(2 * LONGEST_REPEAT_MS)?.count, 1);
});

pure("repeatFor() takes versions that can't be compared for new when they have changed", () => {
  const written = { ...WRITTEN, from: "a", sent: { at: 0, version: "b" } };
  const repeat = (version: string) =>
    repeatFor(written, { allocation: copy(version, THEIRS), now: REPEAT_MS });
  assert.equal(repeat("a"), undefined);
  assert.deepEqual([repeat("b")?.count, repeat("c")?.count], [1, 1]);
});
