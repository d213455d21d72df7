import { pure } from "../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { areaSize, countLines, nearestRank } from "./source_size.ts";

pure("countLines() distinguishes lines that are only a comment from the rest", () => {
  const text = "/**\n * Doc.\n */\nconst a = 1; // beside code\n\n// alone\n/* one line */\nf();\n";
  assert.deepEqual(countLines(text), { lines: 8, commentLines: 5 });
  assert.deepEqual(countLines("f();"), { lines: 1, commentLines: 0 });
});

pure("nearestRank() is the value at the rounded-up rank", () => {
  assert.equal(nearestRank([5, 1, 3], 0.5), 3);
  assert.equal(nearestRank([1, 2, 3, 4], 0.5), 2);
  assert.equal(nearestRank([1, 2, 3, 4], 0.95), 4);
  assert.equal(nearestRank([], 0.5), 0);
});

pure("areaSize() sums sources and sets tests against them", () => {
  const files = [
    { area: "shared", test: false, lines: 100, commentLines: 20 },
    { area: "shared", test: false, lines: 300, commentLines: 60 },
    { area: "shared", test: true, lines: 600, commentLines: 0 },
  ];
  assert.deepEqual(areaSize("shared", files), {
    area: "shared",
    files: 2,
    lines: 400,
    median: 100,
    p95: 300,
    max: 300,
    commentShare: 0.2,
    testRatio: 1.5,
  });
  assert.equal(areaSize("none", []).testRatio, 0);
});
