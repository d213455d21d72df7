import assert from "node:assert/strict";
import fc from "fast-check";
import { followLowerTarget, highestLowerTarget, lowerWait } from "./own_decrease.ts";
import { DEFAULT_PACE } from "./pace_options.ts";
import { type PaceMemory, RESTLESS_MS } from "./paced_container.ts";
import { pacedSample, SAMPLE_PACE } from "../../tests/fixtures/paced_sample.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

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

pure(
  "followLowerTarget() asks more of a drop after many changes, but a half is always enough",
  () => {
    // Two changes of late: 0.1 × 2² = 0.4 of the limit. They fade with 300 s, in whole changes.
    const restless = { changedAt: 0, restless: 2 };
    assert.equal(play(Array(60).fill(290), restless).findIndex(Number), 30);
    assert.equal(play(Array(60).fill(350), restless).findIndex(Number), -1);
    // 1.5 = 2 e^(−t / 300) at t = 86.3 s: then it is one change, 0.1 × 2 of the limit.
    assert.equal(play(Array(200).fill(350), restless).findIndex(Number), 87 + 30);
    assert.equal(play(Array(60).fill(249), { changedAt: 0, restless: 50 }).findIndex(Number), 30);
  },
);

pure("followLowerTarget() rolls a trial back soon, if nothing more than before is needed", () => {
  // The limit was 200 m before the trial; 220 m are as good as that, 221 are not.
  assert.equal(play(Array(60).fill(220), { trialFrom: 200 }).findIndex(Number), 2);
  assert.equal(play(Array(60).fill(221), { trialFrom: 200 }).findIndex(Number), 30);
});

pure(
  "highestLowerTarget() is a hysteresis below the limit, further after changes, by a half at most",
  () => {
    const after = (restless: number, now = 0) =>
      Math.round(highestLowerTarget({ limit: 1000, changedAt: 0, restless }, now, SAMPLE_PACE));
    assert.deepEqual([0, 1, 2, 3].map((changes) => after(changes)), [900, 800, 600, 500]);
    // Of four changes two are left after a half-life; less than half of one is none.
    assert.equal(after(4, RESTLESS_MS * Math.LN2), 600);
    assert.equal(after(1, RESTLESS_MS * Math.LN2 + 1), 900);
  },
);

pure(
  "highestLowerTarget() never falls with time, nor passes the hysteresis, however large that is",
  () => {
    const time = fc.nat(10_000_000);
    const share = fc.double({ min: 0, max: 0.9, noNaN: true });
    const changes = fc.double({ min: 0, max: 100, noNaN: true });
    fc.assert(fc.property(time, time, share, changes, (a, b, lowerHysteresis, restless) => {
      const options = { ...DEFAULT_PACE, lowerHysteresis };
      const memory = { limit: 1000, changedAt: 0, restless };
      const early = highestLowerTarget(memory, Math.min(a, b), options);
      const late = highestLowerTarget(memory, Math.max(a, b), options);
      assert.ok(early <= late * (1 + 1e-12) && late <= 1000 * (1 - lowerHysteresis));
      assert.ok(early >= 1000 * Math.min(0.5, 1 - lowerHysteresis));
    }));
  },
);

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
