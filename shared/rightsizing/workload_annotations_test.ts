import assert from "node:assert/strict";
import fc from "fast-check";
import { pure } from "../../tests/fixtures/pure.ts";
import { recommendation } from "../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { annotationPatch, isOwnAnnotation, workloadAnnotations } from "./workload_annotations.ts";
import type { WorkloadRecord } from "./workload_record.ts";

const RECORD: WorkloadRecord = {
  workload: { kind: "Deployment", namespace: "shop", name: "web" },
  policy: { namespace: "shop", name: "web" },
  status: "Recommended",
  recommendedAtMs: Date.UTC(2026, 0, 2, 3, 4, 5),
  recommendations: [recommendation({ memory: 88_617_123 })],
  inForce: [],
};
const TIME = "optipod.io/last-recommendation";
const written = workloadAnnotations(RECORD);

/** The names of one container's values. */
function namesOf(container: string): readonly string[] {
  const recommendations = [recommendation({ container })];
  return Object.keys(workloadAnnotations({ ...RECORD, recommendations })).slice(3);
}

pure("workloadAnnotations() has policy, times and each value as plain quantities", () => {
  assert.deepEqual(written, {
    "optipod.io/managed": "true",
    "optipod.io/policy": "shop/web",
    [TIME]: "2026-01-02T03:04:05.000Z",
    "optipod.io/recommendation.app.cpu-request": "150m",
    "optipod.io/recommendation.app.memory-request": "88617123",
    "optipod.io/recommendation.app.cpu-limit": "180m",
    "optipod.io/recommendation.app.memory-limit": "112Mi",
  });
  const { cpuLimit: _cpu, memoryLimit: _memory, ...requests } = recommendation();
  const applied = workloadAnnotations({
    ...RECORD,
    appliedAtMs: 1000,
    recommendations: [requests],
  });
  assert.equal(applied["optipod.io/last-applied"], "1970-01-01T00:00:01.000Z");
  assert.ok(!Object.keys(applied).some((name) => name.endsWith("-limit")));
  const { recommendedAtMs: _time, ...none } = RECORD;
  assert.deepEqual([workloadAnnotations(none), workloadAnnotations(undefined)], [{}, {}]);
});

pure("workloadAnnotations() shortens long names with a hash that stays the same", () => {
  const value = (length: number) => namesOf("a".repeat(length))[2];
  assert.equal(value(33), `optipod.io/recommendation.${"a".repeat(33)}.cpu-limit`);
  // FNV-1a of 64 bits, computed by other means.
  assert.equal(value(34), `optipod.io/recommendation.${"a".repeat(16)}_9a5f68fe5a051217.cpu-limit`);
});

pure("workloadAnnotations() has valid names, and another one for each container and value", () => {
  const NAME = /^[a-z0-9A-Z]([-a-z0-9A-Z_.]*[a-z0-9A-Z])?$/;
  const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
  // Names that differ in their end alone are those that shortening could confuse.
  const alike = fc.tuple(fc.integer({ min: 20, max: 60 }), fc.stringMatching(/^[a-z]{1,3}$/))
    .map(([length, end]) => `${"x".repeat(length)}${end}`.slice(0, 63));
  const names = fc.uniqueArray(fc.oneof(label, alike), { minLength: 2, maxLength: 20 });
  fc.assert(fc.property(names, (containers) => {
    const all = containers.flatMap(namesOf);
    assert.equal(new Set(all).size, 4 * containers.length);
    for (const name of all) {
      const [prefix, own = ""] = name.split("/");
      assert.equal(prefix, "optipod.io");
      assert.ok(own.length <= 63 && NAME.test(own), own);
      assert.ok(isOwnAnnotation(name));
    }
  }));
});

pure("annotationPatch() sets what differs, removes what is gone, and leaves others alone", () => {
  const others = { "optipod.io/something-else": "x", "team": "shop", "mbcas.io/managed": "true" };
  const stale = { "optipod.io/recommendation.gone.cpu-request": "5m" };
  const { "optipod.io/policy": _policy, ...rest } = written;
  const { [TIME]: _time, ...untimed } = written;
  const later = { ...written, [TIME]: "2026-01-02T03:09:05.000Z" };
  const applied = { "optipod.io/last-applied": "2026-01-02T03:09:06.000Z" };
  const all = Object.fromEntries(Object.keys(written).map((name) => [name, null]));
  const rows = [
    [{ ...others, ...written }, written, undefined],
    [
      { ...others, ...rest, ...stale },
      written,
      { "optipod.io/policy": "shop/web", "optipod.io/recommendation.gone.cpu-request": null },
    ],
    // No new time of the same recommendation, but along with something else.
    [written, later, undefined],
    [untimed, later, { [TIME]: later[TIME] }],
    [written, { ...later, ...applied }, { [TIME]: later[TIME], ...applied }],
    // All go when no policy applies, once.
    [{ ...written, team: "shop" }, {}, all],
    [{ team: "shop" }, {}, undefined],
  ] as const;
  for (const [present, next, expected] of rows) {
    assert.deepEqual(annotationPatch(present, next)?.metadata.annotations, expected);
  }
});
