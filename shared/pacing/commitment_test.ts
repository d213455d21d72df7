import assert from "node:assert/strict";
import { committed, committedAt } from "./commitment.ts";
import { pacedSample } from "../../tests/fixtures/paced_sample.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("committedAt() counts a limit above the floor whole, and one at the floor as its bid", () => {
  const container = pacedSample({ floor: 100, least: 20 });
  assert.equal(committedAt(container, 110), 110);
  assert.equal(committedAt(container, 100), 20);
});

pure("committed() is the highest of limit, quota in force and limits of the last seconds", () => {
  assert.equal(committed(pacedSample(), 0), 500);
  assert.equal(committed(pacedSample({ quota: 700 }), 0), 700);
  assert.equal(committed(pacedSample({ quota: 300 }), 0), 500);
  const lowered = pacedSample({}, { recent: [{ until: 2000, limit: 900 }] });
  assert.equal(committed(lowered, 1999), 900);
  assert.equal(committed(lowered, 2000), 500);
});

pure("committed() frees a floor only once nothing above it can be in force", () => {
  const idle = pacedSample({ floor: 100, least: 10, quota: 500 }, { limit: 100 });
  assert.equal(committed(idle, 0), 500);
  assert.equal(committed({ ...idle, quota: 100 }, 0), 10);
});

pure(
  "committed() frees what was lowered once the quota shows it, if no other change can follow",
  () => {
    const lowered = pacedSample({}, { recent: [{ until: 2000, limit: 900 }] });
    assert.equal(committed({ ...lowered, quota: 510 }, 100), 900);
    assert.equal(committed({ ...lowered, quota: 500 }, 100), 500);
    // From 500 to 900 and back: a quota of 500 may be the one before both.
    const twice = pacedSample({}, {
      recent: [{ until: 1900, limit: 500 }, { until: 2000, limit: 900 }],
    });
    assert.equal(committed({ ...twice, quota: 500 }, 100), 900);
    assert.equal(committed({ ...twice, quota: 500 }, 1950), 500);
  },
);
