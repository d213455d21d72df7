import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import { createEvictionLog } from "./eviction_memory.ts";
import type { EvictionAnswer } from "../../shared/api/ports.ts";

const BLOCKED: EvictionAnswer = { is: "blocked", message: "a budget" };
const DENIED: EvictionAnswer = { is: "forbidden", message: "a webhook" };

function evictionStage(cooldownMs = 10_000) {
  let nowMs = 0;
  const log = createEvictionLog({ clock: { monotonic: () => nowMs }, config: { cooldownMs } });
  return { log, at: (ms: number) => void (nowMs = ms) };
}

pure("createEvictionLog() has a pod from the request until a refusal or the caches", () => {
  const { log, at } = evictionStage();
  for (const uid of ["a", "b"]) log.requested(uid);
  log.answered("a", BLOCKED);
  assert.deepEqual([log.has("a"), log.has("b"), log.has("c")], [false, true, false]);
  at(59_999);
  log.expire();
  assert.equal(log.has("b"), true);
  at(60_000);
  log.expire();
  assert.equal(log.has("b"), false);
});

pure("createEvictionLog() retries after the cooldown, and backs off when denied", () => {
  for (
    const [answer, seconds] of [[BLOCKED, [10, 10]], [DENIED, [10, 20, 40, 80, 160, 180]]] as const
  ) {
    const { log, at } = evictionStage();
    let nowMs = 0;
    for (const wait of seconds) {
      log.answered("a", answer);
      assert.equal(log.retryAfterMs("a"), wait * 1000);
      at(nowMs += wait * 1000);
      assert.equal(log.retryAfterMs("a"), undefined);
    }
  }
  assert.equal(evictionStage().log.retryAfterMs("b"), undefined);
});

pure("createEvictionLog() bounds the wait, whatever the cooldown", () => {
  for (const [cooldownMs, waitMs] of [[0, 1000], [86_400_000, 60_000]] as const) {
    const { log } = evictionStage(cooldownMs);
    log.answered("a", BLOCKED);
    assert.equal(log.retryAfterMs("a"), waitMs);
  }
});

pure("createEvictionLog() knows a repeated refusal for half an hour", () => {
  const { log, at } = evictionStage();
  const again = (...answers: readonly EvictionAnswer[]) =>
    answers.map((answer) => log.answered("a", answer));
  const answers = [BLOCKED, BLOCKED, DENIED, BLOCKED, { is: "evicted" }, BLOCKED] as const;
  assert.deepEqual(again(...answers), [false, true, false, false, false, false]);
  at(1_799_999);
  log.expire();
  assert.deepEqual(again(BLOCKED), [true]);
  at(2 * 1_800_000);
  log.expire();
  assert.deepEqual(again(BLOCKED), [false]);
});

pure("createEvictionLog() has the reason of a denial for half an hour", () => {
  const { log, at } = evictionStage();
  log.answered("a", DENIED);
  log.answered("b", BLOCKED);
  at(1_799_999);
  assert.deepEqual([log.denial("a"), log.denial("b")], ["a webhook", undefined]);
  at(1_800_000);
  assert.equal(log.denial("a"), undefined);
});
