import assert from "node:assert/strict";
import fc from "fast-check";
import { recommendation } from "../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import {
  ANNOTATED_VALUES,
  annotationPatch,
  isOwnAnnotation,
  recommendationAnnotation,
  workloadAnnotations,
} from "./workload_annotations.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const told = workloadAnnotations({
  policy: "shop/web",
  recommendedAtMs: Date.UTC(2026, 0, 2, 3, 4, 5),
  recommendations: [recommendation({ memory: 88_617_123 })],
});

test("workloadAnnotations() tells policy, times and each value in plain quantities", () => {
  assert.deepEqual(told, {
    "optipod.io/managed": "true",
    "optipod.io/policy": "shop/web",
    "optipod.io/last-recommendation": "2026-01-02T03:04:05.000Z",
    "optipod.io/recommendation.app.cpu-request": "150m",
    "optipod.io/recommendation.app.memory-request": "88617123",
    "optipod.io/recommendation.app.cpu-limit": "180m",
    "optipod.io/recommendation.app.memory-limit": "112Mi",
  });
  const { cpuLimit: _cpu, memoryLimit: _memory, ...requests } = recommendation();
  const applied = workloadAnnotations({
    policy: "shop/web",
    recommendedAtMs: 0,
    appliedAtMs: 1000,
    recommendations: [requests],
  });
  assert.equal(applied["optipod.io/last-applied"], "1970-01-01T00:00:01.000Z");
  assert.ok(!Object.keys(applied).some((name) => name.endsWith("-limit")));
});

test("recommendationAnnotation() shortens long names with a hash that stays the same", () => {
  const long = "a".repeat(34);
  assert.equal(
    recommendationAnnotation("a".repeat(33), "memory-request"),
    `optipod.io/recommendation.${"a".repeat(33)}.memory-request`,
  );
  assert.match(
    recommendationAnnotation(long, "memory-request"),
    /^optipod\.io\/recommendation\.a{16}_[0-9a-f]{16}\.memory-request$/,
  );
  // FNV-1a of 64 bits, computed by other means.
  assert.match(recommendationAnnotation(long, "cpu-limit"), /_9a5f68fe5a051217\.cpu-limit$/);
});

test("recommendationAnnotation() is a valid name, and another one for each container and value", () => {
  const NAME = /^[a-z0-9A-Z]([-a-z0-9A-Z_.]*[a-z0-9A-Z])?$/;
  const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
  // Names that differ in their end alone are those that shortening could confuse.
  const alike = fc.tuple(fc.integer({ min: 20, max: 60 }), fc.stringMatching(/^[a-z]{1,3}$/))
    .map(([length, end]) => `${"x".repeat(length)}${end}`.slice(0, 63));
  const names = fc.uniqueArray(fc.oneof(label, alike), { minLength: 2, maxLength: 20 });
  fc.assert(
    fc.property(names, (containers) => {
      const all = containers.flatMap((container) =>
        ANNOTATED_VALUES.map((value) => recommendationAnnotation(container, value))
      );
      assert.equal(new Set(all).size, all.length);
      for (const name of all) {
        const [prefix, own = ""] = name.split("/");
        assert.equal(prefix, "optipod.io");
        assert.ok(own.length <= 63 && NAME.test(own), own);
        assert.ok(isOwnAnnotation(name));
      }
    }),
  );
});

test("annotationPatch() sets what differs, removes what is gone, and leaves others alone", () => {
  const others = { "optipod.io/something-else": "x", "team": "shop", "mbcas.io/managed": "true" };
  assert.equal(annotationPatch({ ...others, ...told }, told), undefined);
  const stale = { "optipod.io/recommendation.gone.cpu-request": "5m" };
  const { "optipod.io/policy": _policy, ...rest } = told;
  assert.deepEqual(annotationPatch({ ...others, ...rest, ...stale }, told), {
    metadata: {
      annotations: {
        "optipod.io/policy": "shop/web",
        "optipod.io/recommendation.gone.cpu-request": null,
      },
    },
  });
});

test("annotationPatch() writes no new time of the same recommendation, but along with something else", () => {
  const time = "optipod.io/last-recommendation";
  const later = { ...told, [time]: "2026-01-02T03:09:05.000Z" };
  assert.equal(annotationPatch(told, later), undefined);
  const { [time]: _time, ...without } = told;
  assert.deepEqual(annotationPatch(without, later)?.metadata.annotations, { [time]: later[time] });
  const applied = { ...later, "optipod.io/last-applied": "2026-01-02T03:09:06.000Z" };
  assert.deepEqual(annotationPatch(told, applied)?.metadata.annotations, {
    [time]: later[time],
    "optipod.io/last-applied": "2026-01-02T03:09:06.000Z",
  });
});

test("annotationPatch() takes all away when no policy applies, once", () => {
  const patch = annotationPatch({ ...told, team: "shop" }, {});
  assert.deepEqual(
    patch?.metadata.annotations,
    Object.fromEntries(
      Object.keys(told).map((name) => [name, null]),
    ),
  );
  assert.equal(annotationPatch({ team: "shop" }, {}), undefined);
});
