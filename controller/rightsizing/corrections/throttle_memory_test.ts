import assert from "node:assert/strict";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import {
  sampleAllocation,
  sampleDesired,
  samplePod,
} from "../../../tests/contract/support/sample_objects.ts";
import { createThrottleMemory } from "./throttle_memory.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** A look each millisecond is none too many. */
const WINDOW_MS = 480;

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
    memory.look("web", [allocation(200, demand), allocation(200, 50)], {
      nowMs: minute,
      windowMs: WINDOW_MS,
    });
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
  for (let minute = 0; minute < 3; minute++) {
    memory.look("web", [allocation(200, 400)], { nowMs: minute, windowMs: WINDOW_MS });
  }
  assert.deepEqual(memory.throttlingOf("web", -1), new Map());
  for (let minute = 0; minute < 9; minute++) {
    memory.look("calm", [allocation(200, 100)], { nowMs: minute, windowMs: WINDOW_MS });
  }
  assert.deepEqual(memory.throttlingOf("calm", -1), new Map());
});

test("look() divides the demand of a pod over its containers as their limits are", () => {
  const memory = createThrottleMemory();
  const { spec, ...rest } = allocation(400, 800);
  const containers = [{ name: "app", cpuLimit: "300m" }, { name: "log", cpuLimit: "100m" }];
  for (let minute = 0; minute < 4; minute++) {
    memory.look("web", [{ ...rest, spec: { ...spec, containers } }], {
      nowMs: minute,
      windowMs: WINDOW_MS,
    });
  }
  assert.deepEqual(
    memory.throttlingOf("web", -1),
    new Map([["app", { share: 1, demand: 600 }], ["log", { share: 1, demand: 200 }]]),
  );
});

test("look() passes over pods that were not cleared yet, and forgets the oldest looks", () => {
  const memory = createThrottleMemory();
  for (let minute = 0; minute < 9; minute++) {
    memory.look("new", [sampleAllocation(samplePod("web"))], {
      nowMs: minute,
      windowMs: WINDOW_MS,
    });
  }
  assert.deepEqual(memory.throttlingOf("new", -1), new Map());
  memory.look("web", [allocation(200, 999)], { nowMs: 0, windowMs: WINDOW_MS });
  for (let minute = 1; minute <= 480; minute++) {
    memory.look("web", [allocation(200, 300)], { nowMs: minute, windowMs: WINDOW_MS });
  }
  assert.deepEqual(memory.throttlingOf("web", -1).get("app"), { share: 1, demand: 300 });
  memory.keepOnly(() => false);
  assert.deepEqual(memory.throttlingOf("web", -1), new Map());
});

test("look() spreads its looks over the window, however often it is asked", () => {
  const memory = createThrottleMemory();
  // Throttled for the first half of a window, and asked twenty times as often as looks are kept.
  for (let nowMs = 0; nowMs < 20 * WINDOW_MS; nowMs++) {
    const demand = nowMs < 10 * WINDOW_MS ? 400 : 100;
    memory.look("web", [allocation(200, demand)], { nowMs, windowMs: 20 * WINDOW_MS });
  }
  assert.deepEqual(memory.throttlingOf("web", -1).get("app"), { share: 1 / 2, demand: 400 });
});

test("look() goes on when the clock was set back", () => {
  const memory = createThrottleMemory();
  for (const nowMs of [1000, 3, 4, 5, 6]) {
    memory.look("web", [allocation(200, 400)], { nowMs, windowMs: WINDOW_MS });
  }
  assert.equal(memory.contents().get("web")?.length, 5);
});
