import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { feedFor, feedRival } from "../../../tests/fixtures/lab/fed_rival.ts";
import { hpa } from "./hpa.ts";

/** Looks of 5 s; replicas of 250 m, four of them at the start, one to sixteen. */
const LOOKS = 3;

pure("hpa() asks for replicas by utilisation and target, and has them 10 s later", () => {
  const look = feedRival(hpa(0.5));
  const busy = { usage: 1000 };
  // 4 × (1000 / 1000) / 0.5 = 8 replicas at 15 s, which serve from 25 s on.
  const limits = [5, 10, 15, 20, 25].map(() => look(busy)[0]);
  assert.deepEqual(limits, [1000, 1000, 1000, 1000, 8 * 250]);
});

pure("hpa() at most doubles in 15 s", () => {
  const look = feedRival(hpa(0.5));
  // 4000 m are 32 replicas of 125 m each; the ceiling allows 16.
  feedFor(look, { looks: LOOKS, pods: [{ usage: 4000 }] });
  assert.deepEqual(feedFor(look, { looks: LOOKS, pods: [{ usage: 4000 }] }), [8 * 250]);
  assert.deepEqual(feedFor(look, { looks: LOOKS, pods: [{ usage: 4000 }] }), [16 * 250]);
});

pure("hpa() may add four replicas where doubling is less", () => {
  const look = feedRival(hpa(0.5), { pods: [{ originalLimit: 250 }] });
  // 1 × (1000 / 250) / 0.5 = 8, but 1 + 4 = 5.
  assert.deepEqual(feedFor(look, { looks: LOOKS + 2, pods: [{ usage: 1000 }] }), [5 * 250]);
});

pure("hpa() leaves what is within a tenth of the target", () => {
  const within = feedRival(hpa(0.5));
  // 0.545 / 0.5 = 1.09
  assert.deepEqual(feedFor(within, { looks: LOOKS + 2, pods: [{ usage: 545 }] }), [1000]);
  const beyond = feedRival(hpa(0.5));
  // 0.555 / 0.5 = 1.11, ⌈4 × 1.11⌉ = 5
  assert.deepEqual(feedFor(beyond, { looks: LOOKS + 2, pods: [{ usage: 555 }] }), [5 * 250]);
});

pure("hpa() scales down to the highest number desired in 300 s, at once", () => {
  const look = feedRival(hpa(0.5));
  // The four at 0 s count until 300 s: 20 decisions.
  assert.deepEqual(feedFor(look, { looks: 20 * LOOKS, pods: [{ usage: 200 }] }), [1000]);
  // ⌈200 / 125⌉ = 2
  assert.deepEqual(feedFor(look, { looks: LOOKS, pods: [{ usage: 200 }] }), [2 * 250]);
});

pure("hpa() keeps between the replicas of floor and ceiling", () => {
  const pods = [{ floor: 600, ceiling: 1100 }];
  const busy = feedRival(hpa(0.5), { pods });
  assert.deepEqual(feedFor(busy, { looks: LOOKS + 2, pods: [{ usage: 1000 }] }), [4 * 250]);
  const idle = feedRival(hpa(0.5), { pods });
  assert.deepEqual(feedFor(idle, { looks: 21 * LOOKS, pods: [{}] }), [3 * 250]);
});
