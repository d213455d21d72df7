import assert from "node:assert/strict";
import { BURST_S, burstTurns, TURN_S } from "./burst_turns.ts";

Deno.test("burstTurns() gives each app its turn in each round, and no two at once", () => {
  const bursts = burstTurns({ seed: 7, minutes: 3 });
  assert.equal(bursts.length, 12);
  const rounds = [0, 3, 6, 9].map((first) => bursts.slice(first, first + 3));
  for (const round of rounds) {
    assert.deepEqual(round.map(({ app }) => app).sort(), ["deno", "nginx", "redis"]);
  }
  for (const [turn, { atS }] of bursts.entries()) {
    const inTurnS = atS - turn * TURN_S;
    assert.ok(inTurnS >= 0 && inTurnS + BURST_S < TURN_S, `${inTurnS} s`);
  }
});

Deno.test("burstTurns() keeps the second half's bursts in it, and is the same for one seed", () => {
  const [one, other] = [3, 4].map((seed) => burstTurns({ seed, minutes: 2 }));
  assert.deepEqual(burstTurns({ seed: 3, minutes: 2 }), one);
  assert.notDeepEqual(other, one);
  assert.deepEqual(one?.map(({ atS }) => atS >= 60), [false, false, false, true, true, true]);
});
