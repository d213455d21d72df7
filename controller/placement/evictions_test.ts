import assert from "node:assert/strict";
import { createRefusedEvictions, type EvictionRefusal } from "./evictions.ts";

const BLOCKED: EvictionRefusal = { is: "blocked", message: "a budget" };
const DENIED: EvictionRefusal = { is: "forbidden", message: "a webhook" };
const SECOND = { cooldownMs: 10_000, nowMs: 0 };

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure(
  "createRefusedEvictions() leaves a pod alone for the cooldown, and for longer if it is denied",
  () => {
    const refused = createRefusedEvictions();
    for (
      const [refusal, waits] of [[BLOCKED, [10, 10, 10]], [DENIED, [
        10,
        20,
        40,
        80,
        160,
        180,
      ]]] as const
    ) {
      let nowMs = 0;
      for (const wait of waits) {
        refused.note("a", refusal, { ...SECOND, nowMs });
        nowMs += wait * 1000;
        assert.equal(refused.of("a", nowMs - 1)?.untilMs, nowMs);
        assert.equal(refused.of("a", nowMs), undefined);
      }
    }
    assert.equal(refused.of("b", 0), undefined);
  },
);

pure("createRefusedEvictions() asks neither all the time nor never, whatever the cooldown", () => {
  const refused = createRefusedEvictions();
  for (const [cooldownMs, waitMs] of [[0, 1000], [86_400_000, 60_000]] as const) {
    refused.note("a", BLOCKED, { cooldownMs, nowMs: 0 });
    assert.equal(refused.of("a", 0)?.untilMs, waitMs);
  }
});

pure("createRefusedEvictions() knows what was said before, until it is forgotten", () => {
  const refused = createRefusedEvictions();
  const note = (refusal: EvictionRefusal): boolean => refused.note("a", refusal, SECOND);
  assert.deepEqual([note(BLOCKED), note(BLOCKED), note(DENIED), note(BLOCKED)], [
    false,
    true,
    false,
    false,
  ]);
  refused.forget("a");
  assert.deepEqual([refused.of("a", 0), note(BLOCKED)], [undefined, false]);
  refused.expire(1_799_999);
  assert.equal(note(BLOCKED), true);
  refused.expire(1_800_000);
  assert.equal(note(BLOCKED), false);
});

pure("createRefusedEvictions() knows for half an hour that a pod's eviction was denied", () => {
  const refused = createRefusedEvictions();
  refused.note("a", DENIED, SECOND);
  refused.note("b", BLOCKED, SECOND);
  const at = (nowMs: number) => [refused.denial("a", nowMs), refused.denial("b", nowMs)];
  assert.deepEqual(at(1_799_999), ["a webhook", undefined]);
  assert.deepEqual(at(1_800_000), [undefined, undefined]);
});
