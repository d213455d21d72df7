import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { pacedSample, SAMPLE_PACE } from "../../tests/fixtures/market/paced_sample.ts";
import { followLowerTarget, fundRaises, lowerWait } from "./decrease.ts";
import { DEFAULT_PACE, type PacedContainer, type PaceMemory } from "./paced_container.ts";

/** Plays targets, one a second from second 0; the answers. */
function play(
  targets: readonly number[],
  memory: Partial<PaceMemory> = {},
): (number | undefined)[] {
  let container = pacedSample({}, memory);
  return targets.map((target, second) => {
    const { lower, limit } = followLowerTarget(
      { ...container, share: target },
      second * 1000,
      SAMPLE_PACE,
    );
    container = { ...container, memory: { ...container.memory, lower } };
    return limit;
  });
}

pure("followLowerTarget() lowers after 30 s, to the highest target since the fall was over", () => {
  const targets = Array.from({ length: 31 }, (_, second) => second === 12 ? 260 : 200);
  const limits = play(targets);
  assert.deepEqual(limits.slice(0, 30), Array(30).fill(undefined));
  assert.equal(limits[30], 260);
});

pure(
  "followLowerTarget() begins again when the target was back within a tenth of the limit",
  () => {
    const targets = Array.from({ length: 60 }, (_, second) => second === 29 ? 450 : 200);
    assert.deepEqual(play(targets), Array(60).fill(undefined));
  },
);

pure("followLowerTarget() does not lower while the container warms up", () => {
  const limits = play(Array(45).fill(200), { since: 25_000 });
  assert.equal(limits[34], undefined);
  assert.equal(limits[35], 200);
});

pure(
  "followLowerTarget() forgets how a fall began: usage is averaged, so it takes a moment",
  () => {
    const targets = Array.from({ length: 31 }, (_, second) => [400, 300, 200][second] ?? 200);
    assert.equal(play(targets)[30], 200);
    assert.equal(play(targets.with(8, 250))[30], 200);
    assert.equal(play(targets.with(10, 250))[30], 250, "after a third of the wait all count");
  },
);

pure("followLowerTarget() rolls a trial back soon, if nothing more than before is needed", () => {
  // The limit was 200 m before the trial; 220 m are as good as that, 221 are not.
  assert.equal(play(Array(60).fill(220), { trialFrom: 200 }).findIndex(Number), 2);
  assert.equal(play(Array(60).fill(221), { trialFrom: 200 }).findIndex(Number), 30);
});

pure(
  "lowerWait() is short only where the highest target since is back at the limit before a trial",
  () => {
    const lower = { since: 0, highest: 220 };
    assert.equal(lowerWait({ lower }, SAMPLE_PACE), 30_000);
    assert.equal(lowerWait({ trialFrom: 200 }, SAMPLE_PACE), 30_000);
    assert.equal(lowerWait({ trialFrom: 200, lower }, SAMPLE_PACE), 2000);
    assert.equal(lowerWait({ trialFrom: 199, lower }, SAMPLE_PACE), 30_000);
  },
);

const AT = { now: 100_000, options: DEFAULT_PACE };

/** Containers that pay, by their place, with their new limits. */
function payments(containers: readonly PacedContainer[], shortage: number): [number, number][] {
  return [...fundRaises(containers, shortage, AT)]
    .map(([container, limit]) => [containers.indexOf(container), limit]);
}

pure("fundRaises() lowers the largest surplus first, and no more containers than needed", () => {
  const containers = [300, 100, 450].map((share) => pacedSample({ share }));
  assert.deepEqual(payments(containers, 250), [[1, 250]]);
  assert.deepEqual(payments(containers, 500), [
    [1, 100],
    [0, 400],
  ]);
});

pure("fundRaises() lowers by a tenth at least: less would not be worth a change", () => {
  assert.deepEqual(payments([pacedSample({ share: 100 })], 10), [[0, 450]]);
});

pure(
  "fundRaises() leaves out containers that warm up, paid lately, or have a surplus below a tenth",
  () => {
    const containers = [
      pacedSample({ share: 100 }, { since: AT.now - 9999 }),
      pacedSample({ share: 100 }, { fundedAt: AT.now - 4999 }),
      pacedSample({ share: 450 }),
    ];
    assert.deepEqual(payments(containers, 1000), []);
  },
);

pure("fundRaises() leaves a rationed container less beyond its share the longer it rests", () => {
  const rationed = (changedAt: number) => pacedSample({ share: 480, need: 900 }, { changedAt });
  assert.deepEqual(payments([rationed(AT.now)], 1000), []);
  assert.deepEqual(payments([rationed(-1e9)], 1000), [[0, 480]]);
});

pure("fundRaises() takes nothing when nothing is missing", () => {
  assert.deepEqual(payments([pacedSample({ share: 100 })], 0), []);
});

pure(
  "fundRaises() never lowers under a share, and takes all surplus for an endless shortage",
  () => {
    const shares = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 20 });
    fc.assert(fc.property(shares, fc.integer({ min: 1, max: 5000 }), (tens, shortage) => {
      const containers = tens.map((ten) => pacedSample({ share: ten * 10 }));
      for (const [place, limit] of payments(containers, shortage)) {
        assert.ok(limit >= (containers[place]?.share ?? Infinity) && limit < 500);
      }
      const all = payments(containers, Infinity);
      assert.equal(all.length, containers.filter(({ share }) => share < 450).length);
      for (const [place, limit] of all) assert.equal(limit, containers[place]?.share);
    }));
  },
);
