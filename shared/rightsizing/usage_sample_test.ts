import assert from "node:assert/strict";
import { sampleFault } from "./usage_sample.ts";

const WINDOW = { nowMs: 1000, windowMs: 600 } as const;

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("sampleFault() leaves out the window's start and takes its end", () => {
  assert.equal(sampleFault({ atMs: 400, value: 1 }, WINDOW), "too old");
  assert.equal(sampleFault({ atMs: 401, value: 1 }, WINDOW), undefined);
  assert.equal(sampleFault({ atMs: 1000, value: 1 }, WINDOW), undefined);
  assert.equal(sampleFault({ atMs: 1001, value: 1 }, WINDOW), "from the future");
});

pure("sampleFault() takes 0, and nothing that is no amount or has no time", () => {
  assert.equal(sampleFault({ atMs: 900, value: 0 }, WINDOW), undefined);
  for (const value of [NaN, -1, -1e-9, Infinity, -Infinity]) {
    assert.equal(sampleFault({ atMs: 900, value }, WINDOW), "not a quantity", String(value));
  }
  assert.equal(sampleFault({ atMs: NaN, value: 1 }, WINDOW), "not a quantity");
});
