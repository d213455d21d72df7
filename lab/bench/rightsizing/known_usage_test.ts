import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { podNamePattern } from "../../../controller/rightsizing/sources/prometheus_usage.ts";
import { podName, valueAt, workloadName } from "./known_usage.ts";

const NOON_MS = Date.UTC(2026, 0, 1, 12);
const place = { workload: 3, pod: 0, container: 1 };

pure("valueAt() changes with each scrape and no sooner, and from series to series", () => {
  for (const resource of ["cpu", "memory"] as const) {
    const at = (atMs: number, of = place): number => valueAt(of, { resource, atMs });
    assert.equal(at(NOON_MS), at(NOON_MS + 29_999));
    assert.notEqual(at(NOON_MS), at(NOON_MS + 30_000));
    for (const other of [{ workload: 4 }, { pod: 1 }, { container: 2 }]) {
      assert.notEqual(at(NOON_MS), at(NOON_MS, { ...place, ...other }));
    }
  }
});

pure("valueAt() is the mean of three intervals for CPU, and stays in its range", () => {
  const rates = Array.from(
    { length: 2880 },
    (_, scrape) => valueAt(place, { resource: "cpu", atMs: NOON_MS + scrape * 30_000 }),
  );
  assert.ok(Math.min(...rates) > 0.02 && Math.max(...rates) < 2.5);
  // A counter's growth over three intervals: what is new less what has left, in whole microcores.
  const change = 3e6 * ((rates[1] ?? NaN) - (rates[0] ?? NaN));
  assert.ok(Math.abs(change - Math.round(change)) < 1e-6);
  const bytes = valueAt(place, { resource: "memory", atMs: NOON_MS });
  assert.ok(Number.isInteger(bytes) && bytes >= 0.8 * 64 * 2 ** 20 && bytes <= 512 * 2 ** 20);
});

pure("podName() is by the rule of a Deployment's pods", () => {
  const pattern = new RegExp(
    `^(?:${podNamePattern({ kind: "Deployment", name: workloadName(3) })})$`,
  );
  assert.match(podName(place), pattern);
  assert.match(podName({ workload: 3, pod: 98_765 }), pattern);
  assert.doesNotMatch(podName({ workload: 31, pod: 0 }), pattern);
});
