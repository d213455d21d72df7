import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { cpuWeight } from "./cpu_weight.ts";

pure("cpuWeight() maps requests as kubelet and runtime do", () => {
  assert.deepEqual([0, 1, 100, 1000, 4000, 255_000, 1e9].map(cpuWeight), [
    1,
    1,
    4,
    39,
    157,
    9960,
    10_000,
  ]);
});
