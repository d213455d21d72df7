import assert from "node:assert/strict";
import {
  isQuotaOff,
  lacksQuota,
  QUOTA_OFF_MS,
  quotaAfter,
  type QuotaMemory,
  sayQuota,
} from "./quota_off.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function after(...samples: readonly { at: number; quota?: number }[]): QuotaMemory | undefined {
  return samples.reduce<QuotaMemory | undefined>(quotaAfter, undefined);
}

test("quotaAfter() keeps nothing of a container that has its quota", () => {
  assert.equal(after({ at: 0, quota: 500 }, { at: 250, quota: 500 }), undefined);
  assert.equal(after({ at: 0 }, { at: 250, quota: 500 }), undefined);
});

test("lacksQuota() is true from the first sample without one, isQuotaOff() after a while", () => {
  const begun = after({ at: 1000, quota: 500 }, { at: 2000 });
  assert.deepEqual([lacksQuota(begun), isQuotaOff(begun)], [true, false]);
  const almost = after({ at: 2000 }, { at: 2000 + QUOTA_OFF_MS - 1 });
  assert.deepEqual([lacksQuota(almost), isQuotaOff(almost)], [true, false]);
  const off = after({ at: 2000 }, { at: 2000 + QUOTA_OFF_MS });
  assert.deepEqual([lacksQuota(off), isQuotaOff(off)], [true, true]);
  assert.deepEqual([lacksQuota(undefined), isQuotaOff(undefined)], [false, false]);
});

test("isQuotaOff() counts anew after a sample with a quota", () => {
  const again = after({ at: 0 }, { at: QUOTA_OFF_MS - 1, quota: 500 }, { at: QUOTA_OFF_MS });
  assert.equal(isQuotaOff(again), false);
});

test("sayQuota() says each once: that there is none, and that it is back", () => {
  assert.equal(sayQuota(undefined), undefined);
  assert.equal(sayQuota(after({ at: 0 }, { at: QUOTA_OFF_MS - 1 }) ?? { sampledAt: 0 }), undefined);
  const off = sayQuota(after({ at: 0 }, { at: QUOTA_OFF_MS }));
  assert.equal(off?.reason, "QuotaOff");
  const later = quotaAfter(off.memory, { at: QUOTA_OFF_MS + 250 });
  assert.equal(sayQuota(later), undefined);
  const back = sayQuota(quotaAfter(later, { at: QUOTA_OFF_MS + 500, quota: 500 }));
  assert.deepEqual(back, { reason: "FirstClearing", memory: undefined });
  // Gone again before that was said: it is no news while it may come.
  const flicker = quotaAfter(off.memory, { at: QUOTA_OFF_MS + 500, quota: 500 });
  assert.equal(sayQuota(quotaAfter(flicker, { at: QUOTA_OFF_MS + 750 })), undefined);
});
