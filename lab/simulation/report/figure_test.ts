import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { formatCores, formatCount, formatFigure, formatMillicores, formatTime } from "./figure.ts";

pure("formatFigure() keeps three significant digits and has a sign for what is missing", () => {
  const cases: [number | undefined, string][] = [
    [0, "0"],
    [0.00012, "1.2e-4"],
    [0.0456, "0.046"],
    [4.561, "4.56"],
    [45.61, "45.6"],
    [456.1, "456"],
    [4561.2, "4561"],
    [-4.561, "-4.56"],
    [NaN, "–"],
    [Infinity, "–"],
    [undefined, "–"],
  ];
  for (const [value, text] of cases) assert.equal(formatFigure(value), text);
});

pure(
  "formatCores(), formatMillicores(), formatCount() and formatTime() write units as people do",
  () => {
    assert.equal(formatCores(8000), "8");
    assert.equal(formatCores(7654), "7.65");
    assert.equal(formatMillicores(91.6), "92");
    assert.equal(formatMillicores(NaN), "–");
    assert.equal(formatCount(1, "pod"), "1 pod");
    assert.equal(formatCount(0, "pod"), "0 pods");
    assert.equal(formatTime(754.9), "12:34");
    assert.equal(formatTime(5), "0:05");
  },
);
