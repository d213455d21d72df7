import assert from "node:assert/strict";
import fc from "fast-check";
import type { Estimator } from "./estimator.ts";
import { bytesBeforeOOM, raisedAfterOOM, withOOMRaise } from "./oom_raise.ts";
import { distributionOfSamples } from "./samples.ts";

const MEBI = 2 ** 20;
const NO_USAGE = distributionOfSamples([], { nowMs: 1, windowMs: 1 });

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function fixed(amount: number): Estimator {
  return () => ({ amount, told: ["used"] });
}

pure("raisedAfterOOM() is 100Mi more below 500Mi, and a fifth more above", () => {
  assert.equal(raisedAfterOOM({ hadBytes: 256 * MEBI }), 356 * MEBI);
  assert.equal(raisedAfterOOM({ hadBytes: 500 * MEBI }), 600 * MEBI);
  assert.equal(raisedAfterOOM({ hadBytes: 1000 * MEBI }), 1200 * MEBI);
});

pure("bytesBeforeOOM() is what was raised, a byte less at most", () => {
  assert.equal(bytesBeforeOOM(356 * MEBI), 256 * MEBI);
  fc.assert(fc.property(fc.nat({ max: 2 ** 45 }), (hadBytes) => {
    const before = bytesBeforeOOM(raisedAfterOOM({ hadBytes }));
    assert.ok(before === hadBytes || before === hadBytes - 1, `${before}`);
  }));
  assert.ok(bytesBeforeOOM(64 * MEBI) < 0);
});

pure("raisedAfterOOM() is the larger of both raises, in whole bytes", () => {
  fc.assert(fc.property(fc.nat({ max: 2 ** 45 }), (hadBytes) => {
    const raise = raisedAfterOOM({ hadBytes }) - hadBytes;
    assert.ok(Number.isInteger(raise));
    assert.ok(raise >= 100 * MEBI && raise >= hadBytes / 5 - 1);
    assert.ok(raise === 100 * MEBI || raise <= hadBytes / 5);
  }));
});

pure("withOOMRaise() raises by the worst kill, and tells it", () => {
  const kills = [{ hadBytes: 200 * MEBI }, { hadBytes: 256 * MEBI }, { hadBytes: 100 * MEBI }];
  const { amount, told: [used, raised = "", ...more] } = withOOMRaise(fixed(300 * MEBI), kills)(
    NO_USAGE,
  );
  assert.deepEqual([amount, used, more], [356 * MEBI, "used", []]);
  assert.match(raised, /256Mi.* 356Mi/);
});

pure("withOOMRaise() takes the largest sample for what a container without a limit had", () => {
  const samples = [100, 400, 200].map((mebi, index) => ({ atMs: index, value: mebi * MEBI }));
  const usage = distributionOfSamples(samples, { nowMs: 3, windowMs: 10 });
  const raised = (hadBytes: number, of = usage): number =>
    withOOMRaise(fixed(MEBI), [{ hadBytes, unlimited: true }])(of).amount;
  assert.equal(raised(64 * MEBI), 500 * MEBI);
  assert.equal(raised(500 * MEBI), 600 * MEBI, "its request was more");
  assert.equal(raised(0, NO_USAGE), MEBI, "of nothing there is nothing to raise");
  // A limit says exactly what it had.
  assert.equal(withOOMRaise(fixed(MEBI), [{ hadBytes: 64 * MEBI }])(usage).amount, 164 * MEBI);
});

pure("withOOMRaise() leaves alone what is as much already, and what was not killed", () => {
  const enough = { amount: 356 * MEBI, told: ["used"] };
  assert.deepEqual(
    withOOMRaise(fixed(356 * MEBI), [{ hadBytes: 256 * MEBI }])(NO_USAGE),
    enough,
  );
  assert.deepEqual(withOOMRaise(fixed(356 * MEBI), [])(NO_USAGE), enough);
});

pure(
  "withOOMRaise() ends kills that repeat: each time there is more than what was too little",
  () => {
    let hadBytes = 10 * MEBI;
    const needed = 3000 * MEBI;
    let kills = 0;
    while (hadBytes < needed && kills < 100) {
      hadBytes = withOOMRaise(fixed(hadBytes), [{ hadBytes }])(NO_USAGE).amount;
      kills++;
    }
    // Five of 100Mi to 510Mi, then ten of a fifth: 510 × 1.2^10 = 3158.
    assert.equal(kills, 15);
  },
);
