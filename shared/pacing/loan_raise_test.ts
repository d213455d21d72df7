import assert from "node:assert/strict";
import { followLoan } from "./loan_raise.ts";
import { DEFAULT_PACE } from "./pace_options.ts";
import { pacedSample } from "../../tests/fixtures/paced_sample.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function play(targets: readonly number[]): (number | undefined)[] {
  let container = pacedSample();
  return targets.map((target, second) => {
    const { loan, limit } = followLoan({ ...container, target }, second * 1000, DEFAULT_PACE);
    container = { ...container, memory: { ...container.memory, loan } };
    return limit;
  });
}

pure("followLoan() raises after 30 s, to the lowest target of that time", () => {
  const limits = play(Array.from({ length: 31 }, (_, second) => second === 12 ? 700 : 900));
  assert.deepEqual(limits.slice(0, 30), Array(30).fill(undefined));
  assert.equal(limits[30], 700);
});

pure("followLoan() begins again when the offer was gone for a moment", () => {
  const limits = play(Array.from({ length: 60 }, (_, second) => second === 29 ? 550 : 900));
  assert.deepEqual(limits, Array(60).fill(undefined));
});
