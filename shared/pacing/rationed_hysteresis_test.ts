import assert from "node:assert/strict";
import { pacedSample } from "../../tests/fixtures/paced_sample.ts";
import { rationedHysteresis } from "./rationed_hysteresis.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("rationedHysteresis() is the usual one for who has a share of all that it needs", () => {
  const container = pacedSample({ share: 600, need: 600 }, { changedAt: 0 });
  assert.equal(rationedHysteresis(container, 0.15, { now: 1e9 }), 0.15);
});

pure("rationedHysteresis() shrinks while a rationed container rests, to two hundredths", () => {
  const container = pacedSample({ share: 600, need: 601 }, { changedAt: 0 });
  const after = (seconds: number) => rationedHysteresis(container, 0.15, { now: seconds * 1000 });
  assert.equal(after(0), 0.15);
  assert.ok(Math.abs(after(60) - 0.15 / Math.E) < 1e-12);
  assert.equal(after(600), 0.02);
  const never = pacedSample({ share: 600, need: 601 });
  assert.equal(rationedHysteresis(never, 0.15, { now: 0 }), 0.02);
});

pure("rationedHysteresis() never exceeds the usual one, which may be 0", () => {
  const container = pacedSample({ share: 600, need: 700 }, { changedAt: 0 });
  assert.equal(rationedHysteresis(container, 0, { now: 0 }), 0);
  assert.equal(rationedHysteresis(container, 0.01, { now: 1e6 }), 0.01);
});
