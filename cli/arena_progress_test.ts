import { pure } from "../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { arenaProgressLine, nextArenaProgress } from "./arena_progress.ts";

pure("arenaProgressLine() estimates what is left from what is gone", () => {
  assert.equal(
    arenaProgressLine({ share: 0.25, elapsedS: 61 }),
    "25 % · 1:01 gone · about 3:03 left",
  );
  assert.equal(arenaProgressLine({ share: 0.001, elapsedS: 1 }), "0 % · 0:01 gone");
  assert.equal(arenaProgressLine({ share: 1, elapsedS: 600 }), "100 % · 10:00 gone");
});

pure("nextArenaProgress() writes a line per tenth, and on a terminal one that is rewritten", () => {
  const now = { share: 0.15, elapsedS: 10 };
  assert.equal(nextArenaProgress(0.11, { now, isTerminal: false }), "");
  assert.match(nextArenaProgress(0.09, { now, isTerminal: false }), /^15 %.*left\n$/);
  assert.match(nextArenaProgress(0.11, { now, isTerminal: true }), /^\r.*15 %[^\n]*$/);
  assert.equal(nextArenaProgress(0.151, { now, isTerminal: true }), "");
});
