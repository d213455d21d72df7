import assert from "node:assert/strict";
import { seededRandom } from "../../shared/random.ts";
import { createModelledService, dealConnections, OFFERED } from "./replicas.ts";

Deno.test({
  name: "dealConnections() deals 32 of them, evenly or each by itself",
  permissions: "none",
  fn() {
    const random = seededRandom(1);
    assert.deepEqual(dealConnections(5, { dealing: "even", random }), [7, 7, 6, 6, 6]);
    const drawn = dealConnections(5, { dealing: "drawn", random });
    assert.equal(drawn.reduce((a, b) => a + b), 32);
    assert.notDeepEqual(drawn, dealConnections(5, { dealing: "drawn", random }));
  },
});

Deno.test({
  name: "createModelledService() answers at once with CPU to spare, and only so often without",
  permissions: "none",
  fn() {
    const [idle] = createModelledService({ costMs: 0.2, dealing: "even", seed: 1 }).runs(8, 1);
    assert.ok(idle !== undefined && Math.abs(idle.completed / OFFERED - 1) < 0.02);
    assert.ok(idle.p99Ms < 5 && idle.meanMs > 0.19, JSON.stringify(idle));
    // 5 ms of each request: one CPU serves 200 a second, 6000 in 30 s.
    const [short] = createModelledService({ costMs: 5, dealing: "even", seed: 1 }).runs(1, 1);
    assert.ok(short !== undefined && short.completed < 6300);
    assert.ok(short.meanMs > 10_000 && short.p99Ms > short.meanMs, JSON.stringify(short));
  },
});

Deno.test({
  name: "createModelledService() gives the same runs for the same seed",
  permissions: "none",
  fn() {
    const runs = (seed: number) =>
      createModelledService({ costMs: 0.3, dealing: "drawn", seed }).runs(16, 3);
    assert.deepEqual(runs(7), runs(7));
    assert.notDeepEqual(runs(7), runs(8));
  },
});
