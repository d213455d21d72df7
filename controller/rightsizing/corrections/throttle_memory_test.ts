import assert from "node:assert/strict";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import {
  sampleAllocation,
  sampleDesired,
  samplePod,
} from "../../../tests/contract/sample_objects.ts";
import { createThrottleMemory } from "./throttle_memory.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** An allocation of one container with this limit, of which the market says that it wants `demand`. */
function allocation(limit: number, demand: number): PodAllocation {
  const blank = sampleAllocation(samplePod("web"));
  const { market, ...desired } = sampleDesired(`${limit}m`);
  assert.ok(market !== undefined);
  return { ...blank, spec: { ...blank.spec, ...desired, market: { ...market, demand } } };
}

test("throttlingOf() tells how often a container wanted more than it had, and how much", () => {
  const memory = createThrottleMemory();
  const demands = [100, 300, 250, 200, 500, 100, 100, 100];
  for (const [minute, demand] of demands.entries()) {
    memory.look("web", [allocation(200, demand), allocation(200, 50)], minute);
  }
  // 300, 250 and 500 of eight looks; what is just enough holds nobody back.
  assert.deepEqual(
    memory.throttlingOf("web", -1),
    new Map([["app", { share: 3 / 8, demand: 300 }]]),
  );
  assert.deepEqual(memory.throttlingOf("web", 1).get("app"), { share: 2 / 6, demand: 250 });
  assert.deepEqual(memory.throttlingOf("db", -1), new Map());
});

test("throttlingOf() says nothing after a few looks, nor of who was never held back", () => {
  const memory = createThrottleMemory();
  for (let minute = 0; minute < 3; minute++) memory.look("web", [allocation(200, 400)], minute);
  assert.deepEqual(memory.throttlingOf("web", -1), new Map());
  for (let minute = 0; minute < 9; minute++) memory.look("calm", [allocation(200, 100)], minute);
  assert.deepEqual(memory.throttlingOf("calm", -1), new Map());
});

test("look() divides the demand of a pod over its containers as their limits are", () => {
  const memory = createThrottleMemory();
  const { spec, ...rest } = allocation(400, 800);
  const containers = [{ name: "app", cpuLimit: "300m" }, { name: "log", cpuLimit: "100m" }];
  for (let minute = 0; minute < 4; minute++) {
    memory.look("web", [{ ...rest, spec: { ...spec, containers } }], minute);
  }
  assert.deepEqual(
    memory.throttlingOf("web", -1),
    new Map([["app", { share: 1, demand: 600 }], ["log", { share: 1, demand: 200 }]]),
  );
});

test("look() passes over pods that were not cleared yet, and forgets the oldest looks", () => {
  const memory = createThrottleMemory();
  for (let minute = 0; minute < 9; minute++) {
    memory.look("new", [sampleAllocation(samplePod("web"))], minute);
  }
  assert.deepEqual(memory.throttlingOf("new", -1), new Map());
  memory.look("web", [allocation(200, 999)], 0);
  for (let minute = 1; minute <= 480; minute++) memory.look("web", [allocation(200, 300)], minute);
  assert.deepEqual(memory.throttlingOf("web", -1).get("app"), { share: 1, demand: 300 });
  memory.keepOnly(() => false);
  assert.deepEqual(memory.throttlingOf("web", -1), new Map());
});
