import assert from "node:assert/strict";
import { DEFAULT_PACE } from "../shared/pacing/pace_options.ts";
import { createLatestRound } from "./latest_round.ts";

const NODE = {
  metadata: { name: "node-1", uid: "n", resourceVersion: "1" },
  allocatableCPU: 2000,
  ready: true,
  pressures: [],
} as const;
const ROUND = {
  now: 0,
  state: { state: "ample", since: 0 },
  mode: "uncongested",
  price: 0,
  capacity: 1800,
  committed: 0,
  seats: [],
  freeShare: 0.97,
  waitMs: 75,
} as const;
const INPUT = {
  node: NODE,
  sample: { at: 0, containers: new Map(), unmanaged: 0 },
  limitsIgnored: false,
  clearMs: 1,
} as const;

function scene() {
  const world = { now: 0, synced: false };
  const latest = createLatestRound({
    clock: { wall: () => Date.UTC(2026, 0, 1) + world.now, monotonic: () => world.now },
    pace: DEFAULT_PACE,
    stuckAfterMs: 30_000,
    synced: () => world.synced,
  });
  return { world, latest };
}

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("unhealthy() is the time for which the loop has stood still", () => {
  const { world, latest } = scene();
  world.now = 30_000;
  assert.equal(latest.unhealthy(), undefined);
  world.now = 30_001;
  assert.match(latest.unhealthy() ?? "", / loop .* 30s$/);
  assert.equal(latest.unready(), latest.unhealthy());
  latest.alive();
  assert.equal(latest.unhealthy(), undefined);
});

test("unready() names what is missing: the allocations, then the node", () => {
  const { world, latest } = scene();
  assert.match(latest.unready() ?? "", /^the allocations/);
  world.synced = true;
  assert.match(latest.unready() ?? "", / node /);
  latest.observe(ROUND, INPUT);
  assert.equal(latest.unready(), undefined);
});

test("view() shows the last round, stamped with the time of the round", () => {
  const { world, latest } = scene();
  assert.equal(latest.view(), undefined);
  latest.observe(ROUND, INPUT);
  world.now = 5000;
  const view = latest.view();
  assert.deepEqual([view?.node, view?.at], ["node-1", "2026-01-01T00:00:00.000Z"]);
});
