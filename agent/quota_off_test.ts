import assert from "node:assert/strict";
import {
  isQuotaOff,
  lacksQuota,
  limitWithoutQuota,
  QUOTA_OFF_MS,
  quotaAfter,
  type QuotaMemory,
  quotaMemoryAfter,
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
  assert.equal(sayQuota(after({ at: 0 }, { at: QUOTA_OFF_MS - 1 })), undefined);
  const off = sayQuota(after({ at: 0 }, { at: QUOTA_OFF_MS }));
  assert.equal(off?.reason, "QuotaOff");
  const later = quotaAfter(off.memory, { at: QUOTA_OFF_MS + 250 });
  assert.equal(sayQuota(later), undefined);
  const back = sayQuota(quotaAfter(later, { at: QUOTA_OFF_MS + 500, quota: 500 }));
  assert.deepEqual(back, { reason: "QuotaBack", memory: undefined });
  // Gone again before that was said: it is no news while it may come.
  const flicker = quotaAfter(off.memory, { at: QUOTA_OFF_MS + 500, quota: 500 });
  assert.equal(sayQuota(quotaAfter(flicker, { at: QUOTA_OFF_MS + 750 })), undefined);
});

test("quotaMemoryAfter() knows what an agent before this one has said", () => {
  assert.equal(quotaMemoryAfter("Throttled"), undefined);
  assert.equal(quotaMemoryAfter(undefined), undefined);
  const told = quotaMemoryAfter("QuotaOff");
  assert.equal(sayQuota(told), undefined, "nothing is known before the first sample");
  assert.equal(sayQuota(quotaAfter(told, { at: 0, quota: 500 }))?.reason, "QuotaBack");
  const still = [0, QUOTA_OFF_MS].reduce((memory, at) => quotaAfter(memory, { at }), told);
  assert.equal(isQuotaOff(still), true);
  assert.equal(sayQuota(still), undefined, "it was said already");
});

/** Limits on the way from `present`, each step due. */
function way(
  bounds: Parameters<typeof limitWithoutQuota>[0],
  { present, ownLimit }: { present: number; ownLimit: number },
): number[] {
  const limits: number[] = [];
  for (let limit = present; limits.length < 20; limits.push(limit)) {
    const next = limitWithoutQuota(bounds, { present: limit, ownLimit, isStepDue: true });
    if (next === limit) break;
    limit = next;
  }
  return limits;
}

test("limitWithoutQuota() goes to the user's own limit, as holds let it", () => {
  const bounds = { floor: 100, ceiling: 2000 };
  const above = { present: 800, ownLimit: 500 };
  const below = { present: 300, ownLimit: 500 };
  assert.deepEqual(way(bounds, above), [500]);
  assert.deepEqual(way({ ...bounds, held: "half" }, above), [650, 580, 540, 520, 500]);
  assert.deepEqual(way({ ...bounds, held: "lower" }, above), []);
  assert.deepEqual(way({ ...bounds, held: "both" }, above), []);
  for (const held of [undefined, "half", "lower"] as const) {
    assert.deepEqual(way({ ...bounds, ...(held && { held }) }, below), [500], held);
  }
  assert.deepEqual(way({ ...bounds, held: "both" }, below), []);
});

test("limitWithoutQuota() reaches an own limit off the grid, by half steps too, and then stays", () => {
  for (let present = 500; present <= 1000; present++) {
    for (const ownLimit of [495, 500, 503, 510]) {
      const limits = way({ floor: 100, ceiling: 2000, held: "half" }, { present, ownLimit });
      assert.equal(limits.at(-1) ?? present, ownLimit, `${present} to ${ownLimit}`);
      assert.ok(limits.length < 10);
    }
  }
});

test("limitWithoutQuota() stays within the bounds, and takes half steps only when they are due", () => {
  const present = 800;
  const limit = (bounds: Parameters<typeof limitWithoutQuota>[0], isStepDue = true) =>
    limitWithoutQuota(bounds, { present, ownLimit: 500, isStepDue });
  assert.equal(limit({ floor: 600, ceiling: 2000 }), 600);
  assert.equal(limit({ floor: 100, ceiling: 400 }), 400);
  assert.equal(limit({ floor: 100, ceiling: 2000, held: "half" }, false), 800);
  assert.equal(limit({ floor: 100, ceiling: 2000 }, false), 500);
});
