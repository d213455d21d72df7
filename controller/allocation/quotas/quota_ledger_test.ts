import assert from "node:assert/strict";
import fc from "fast-check";
import type { ResourceQuota } from "../../../shared/api/namespace.ts";
import { sampleQuota } from "../../../tests/contract/support/sample_objects.ts";
import { createQuotaLedger, type QuotaLedger } from "./quota_ledger.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function quota(change: Partial<ResourceQuota> = {}): ResourceQuota {
  return seen(700, 10, change);
}

function seen(
  usedLimitsCPU: number,
  version: number,
  change: Partial<ResourceQuota> = {},
): ResourceQuota {
  const { metadata } = sampleQuota();
  return sampleQuota({
    metadata: { ...metadata, resourceVersion: `${version}` },
    usedLimitsCPU,
    ...change,
  });
}

const LIMITS = { resources: ["limits"] } as const;

function stage(): { ledger: QuotaLedger; time: { now: number } } {
  const time = { now: 0 };
  return { ledger: createQuotaLedger({ monotonic: () => time.now }), time };
}

test("headroom() is what the quota leaves, nothing where it does not bound the resource", () => {
  const { ledger } = stage();
  const { hardLimitsCPU: _none, ...ofMemory } = quota();
  assert.equal(ledger.headroom(ofMemory, "limits"), undefined);
  assert.equal(ledger.headroom(quota(), "limits"), 300);
  assert.equal(ledger.headroom(quota({ usedLimitsCPU: 1300 }), "limits"), -300);
  const requests = quota({ requestsCPU: { hard: 500, used: 450 } });
  assert.equal(ledger.headroom(quota(), "requests"), undefined);
  assert.equal(ledger.headroom(requests, "requests"), 50);
  assert.equal(ledger.headroom(requests, "limits"), 300);
});

test("headroom() counts a raise from the moment that it is booked, and not one that was refused", () => {
  const { ledger, time } = stage();
  const first = ledger.book([quota()], 50, LIMITS);
  const second = ledger.book([quota()], 30, LIMITS);
  ledger.book([quota()], -70, LIMITS);
  assert.equal(ledger.headroom(quota(), "limits"), 220);
  second.refused();
  assert.equal(ledger.headroom(quota(), "limits"), 250);
  // However long an answer takes.
  time.now = 60_000;
  assert.equal(ledger.headroom(quota(), "limits"), 250);
  first.accepted(20, "15");
  assert.equal(ledger.headroom(quota(), "limits"), 280);
});

test("headroom() counts each of several raises until the quota counts it, one version after another", () => {
  const { ledger } = stage();
  const raises = [50, 30, 40].map((change) => ledger.book([quota()], change, LIMITS));
  // The quota's new version is often there before the answer.
  assert.equal(ledger.headroom(seen(750, 11), "limits"), 180);
  raises[0]?.accepted(50, "12");
  raises[1]?.accepted(30, "14");
  raises[2]?.accepted(40, "16");
  assert.equal(ledger.headroom(seen(750, 11), "limits"), 180);
  assert.equal(ledger.headroom(seen(780, 13), "limits"), 180);
  assert.equal(ledger.headroom(seen(820, 15), "limits"), 180);
  assert.equal(ledger.headroom(seen(790, 20), "limits"), 210);
});

test("headroom() counts a raise that a decrease hides until the quota is newer than the pod, or two seconds", () => {
  const { ledger, time } = stage();
  ledger.book([quota()], 50, LIMITS).accepted(50, "12");
  assert.equal(ledger.headroom(seen(600, 11), "limits"), 350);
  assert.equal(ledger.headroom(seen(600, 12), "limits"), 400);
  ledger.book([seen(600, 12)], 50, LIMITS).accepted(50, "30");
  assert.equal(ledger.headroom(seen(500, 13), "limits"), 450);
  time.now = 1999;
  assert.equal(ledger.headroom(seen(500, 13), "limits"), 450);
  time.now = 2000;
  assert.equal(ledger.headroom(seen(500, 13), "limits"), 500);
});

test("headroom() goes by the newest copy, even if a reconcile has an older one", () => {
  const { ledger } = stage();
  ledger.book([quota()], 50, LIMITS);
  ledger.book([quota()], 20, LIMITS);
  assert.equal(ledger.headroom(seen(750, 11), "limits"), 230);
  assert.equal(ledger.headroom(quota(), "limits"), 230);
});

test("headroom() counts a raise with an unknown outcome for two seconds", () => {
  const { ledger, time } = stage();
  const lost = ledger.book([quota()], 50, LIMITS);
  time.now = 30_000;
  lost.unknown();
  assert.equal(ledger.headroom(quota(), "limits"), 250);
  time.now = 32_000;
  assert.equal(ledger.headroom(quota(), "limits"), 300);
});

test("book() counts a raise in each resource that it takes, and in no other", () => {
  const { ledger } = stage();
  const both = quota({ requestsCPU: { hard: 500, used: 100 } });
  ledger.book([both], 60, { resources: ["limits"] });
  ledger.book([both], 50, { resources: ["limits", "requests"] });
  assert.equal(ledger.headroom(both, "limits"), 190);
  assert.equal(ledger.headroom(both, "requests"), 350);
});

/** A server that counts raises before it answers, and decreases when it gets round to them. */
test("headroom() never leaves more than the server would take, whatever is on its way", () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("send" as const), part: fc.integer({ min: 1, max: 10 }) }),
    fc.record({ kind: fc.constantFrom("answer", "watch", "count down") }),
  );
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    const { ledger } = stage();
    let version = 10;
    let used = 700;
    let down = 0;
    let copy = seen(used, version);
    const versions: ResourceQuota[] = [];
    const answers: (() => void)[] = [];
    for (const one of steps) {
      if ("part" in one) {
        const room = ledger.headroom(copy, "limits") ?? 0;
        const raise = Math.floor(room * one.part / 10);
        if (raise <= 0) continue;
        const booking = ledger.book([copy], raise, LIMITS);
        assert.ok(used + raise <= 1000, `${used} and ${raise}`);
        used += raise;
        down += Math.floor(raise / 2);
        versions.push(seen(used, ++version));
        const pod = `${++version}`;
        answers.push(() => booking.accepted(raise, pod));
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
