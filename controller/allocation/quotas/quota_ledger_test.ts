import assert from "node:assert/strict";
import fc from "fast-check";
import type { ResourceQuota } from "../../../shared/api/namespace.ts";
import { sampleQuota } from "../../../tests/contract/support/sample_objects.ts";
import { createQuotaLedger } from "./quota_ledger.ts";
import { pure } from "../../../tests/fixtures/pure.ts";

/** A quota of 1000 m that has this much used in this version. */
function seen(used: number, version: number, change: Partial<ResourceQuota> = {}): ResourceQuota {
  const metadata = { ...sampleQuota().metadata, resourceVersion: `${version}` };
  return sampleQuota({ metadata, usedLimitsCPU: used, ...change });
}

const QUOTA = seen(700, 10);

function stage() {
  const time = { now: 0 };
  const { headroom, book } = createQuotaLedger({ monotonic: () => time.now });
  return {
    time,
    left: (quota: ResourceQuota = QUOTA) => headroom(quota, "limits"),
    headroom,
    book: (change: number, quota = QUOTA) => book([quota], change, { resources: ["limits"] }),
    bookAll: book,
  };
}

pure("headroom() is what the quota leaves, nothing where it does not bound the resource", () => {
  const { left, headroom } = stage();
  const { hardLimitsCPU: _none, ...ofMemory } = QUOTA;
  const requests = { ...QUOTA, requestsCPU: { hard: 500, used: 450 } };
  assert.deepEqual([left(), left(ofMemory), left(seen(1300, 10))], [300, undefined, -300]);
  const both = (["limits", "requests"] as const).map((one) => headroom(requests, one));
  assert.deepEqual([headroom(QUOTA, "requests"), ...both], [undefined, 300, 50]);
});

pure("headroom() counts a raise from its booking, and none that was refused", () => {
  const { left, book, time } = stage();
  const first = book(50);
  const second = book(30);
  book(-70);
  assert.equal(left(), 220);
  second(0);
  assert.equal(left(), 250);
  // However long an answer takes.
  time.now = 60_000;
  assert.equal(left(), 250);
  first(20, "15");
  assert.equal(left(), 280);
});

pure("headroom() counts each of several raises until the quota counts it", () => {
  const { left, book } = stage();
  const raises = [50, 30, 40].map((change) => [change, book(change)] as const);
  // The quota's new version is often there before the answer, and a reconcile may have an older one.
  assert.deepEqual([left(seen(750, 11)), left()], [180, 180]);
  for (const [index, [change, settle]] of raises.entries()) settle(change, `${12 + 2 * index}`);
  const copies = [[750, 11], [780, 13], [820, 15], [790, 20]] as const;
  assert.deepEqual(copies.map(([used, version]) => left(seen(used, version))), [
    180,
    180,
    180,
    210,
  ]);
});

pure("headroom() counts a raise that a decrease hides for two seconds at most", () => {
  const { left, book, time } = stage();
  book(50)(50, "12");
  assert.deepEqual([left(seen(600, 11)), left(seen(600, 12))], [350, 400]);
  book(50, seen(600, 12))(50, "30");
  const after = [0, 1999, 2000].map((now) => {
    time.now = now;
    return left(seen(500, 13));
  });
  assert.deepEqual(after, [450, 450, 500]);
});

pure("headroom() counts a raise with an unknown outcome for two seconds", () => {
  const { left, book, time } = stage();
  const settle = book(50);
  time.now = 30_000;
  settle(50);
  assert.equal(left(), 250);
  time.now = 32_000;
  assert.equal(left(), 300);
});

pure("book() counts a raise in each resource that it takes, and in no other", () => {
  const { headroom, bookAll } = stage();
  const both = { ...QUOTA, requestsCPU: { hard: 500, used: 100 } };
  bookAll([both], 60, { resources: ["limits"] });
  bookAll([both], 50, { resources: ["limits", "requests"] });
  assert.deepEqual([headroom(both, "limits"), headroom(both, "requests")], [190, 350]);
});

/** A server that counts raises before it answers, and decreases when it gets round to them. */
pure("headroom() never leaves more than the server would take, whatever is on its way", () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("send" as const), part: fc.integer({ min: 1, max: 10 }) }),
    fc.record({ kind: fc.constantFrom("answer", "watch", "count down") }),
  );
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    const { left, book } = stage();
    let version = 10;
    let used = 700;
    let down = 0;
    let copy = seen(used, version);
    const versions: ResourceQuota[] = [];
    const answers: (() => void)[] = [];
    for (const one of steps) {
      if ("part" in one) {
        const room = left(copy) ?? 0;
        const raise = Math.floor(room * one.part / 10);
        if (raise <= 0) continue;
        const settle = book(raise, copy);
        assert.ok(used + raise <= 1000, `${used} and ${raise}`);
        used += raise;
        down += Math.floor(raise / 2);
        versions.push(seen(used, ++version));
        const pod = `${++version}`;
        answers.push(() => settle(raise, pod));
      } else if (one.kind === "answer") answers.shift()?.();
      else if (one.kind === "watch") copy = versions.shift() ?? copy;
      else if (down > 0) {
        used -= down;
        down = 0;
        versions.push(seen(used, ++version));
      }
    }
  }));
});
