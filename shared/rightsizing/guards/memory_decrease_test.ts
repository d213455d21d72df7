import assert from "node:assert/strict";
import fc from "fast-check";
import {
  bareContainer,
  clampsOf,
  MI,
  outcomeOf,
  recommendation,
  templateContainer,
  workloadPod,
} from "../../../tests/fixtures/rightsizing_facts.ts";
import { leastSafeMemory, safeMemory } from "./memory_decrease.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const LIMITS = { updateRequestsOnly: false };
const less = [recommendation({ cpu: 100, memory: 46 * MI, memoryLimit: 92 * MI })];
const peaks = (mebibytes: number) => new Map([["app", mebibytes * MI]]);

test("leastSafeMemory() is the peak and 15 %, in whole bytes", () => {
  assert.equal(leastSafeMemory(40 * MI), 46 * MI);
  assert.equal(leastSafeMemory(1), 2);
});

test("unsafeMemoryDecrease() leaves what is below the recent peak + 15 % already, and lowers to above it", () => {
  assert.equal(
    outcomeOf({ recommendations: less, memoryPeaks: peaks(40) }),
    "InPlace: app memory 46Mi",
  );
  assert.match(
    outcomeOf({ recommendations: less, memoryPeaks: peaks(40.5) }),
    /^InPlace: app memory 48837428$/,
  );
  assert.match(
    outcomeOf({ recommendations: less, memoryPeaks: peaks(60) }),
    /^UnsafeMemoryDecrease UnsafeMemoryDecrease: app to 46Mi: .* 60Mi, .* 69Mi$/,
  );
});

test("unsafeMemoryDecrease() lets a request rise whose limit would fall too far, and clamps the limit", () => {
  const given = {
    containers: [templateContainer({ requestMemory: 128 * MI, limitMemory: 1024 * MI })],
    recommendations: [
      recommendation({ cpu: 100, cpuLimit: 200, memory: 240 * MI, memoryLimit: 264 * MI }),
    ],
    memoryPeaks: peaks(300),
    strategy: LIMITS,
  };
  assert.equal(outcomeOf(given), "InPlace: app memory 240Mi (limit 345Mi)");
  assert.match(
    clampsOf(given)[0] ?? "",
    /^UnsafeMemoryDecrease .*: app to 264Mi: .* 300Mi, .* 345Mi$/,
  );
  // A limit where there was none lowers it, too; what is not known is not guessed.
  const open = [bareContainer("app", { requestMemory: 128 * MI })];
  assert.match(outcomeOf({ ...given, containers: open }), /app memory 240Mi \(limit 345Mi\)$/);
  const unknown = { ...given, memoryPeaks: new Map() };
  assert.equal(outcomeOf(unknown), "InPlace: app memory 240Mi");
  assert.match(outcomeOf({ memoryPeaks: peaks(4000) }), /^InPlace: app cpu 150m, app memory 96Mi/);
});

test("unsafeMemoryDecrease() lowers to what is safe, no further", () => {
  const given = {
    containers: [templateContainer({ requestMemory: 4096 * MI, limitMemory: 4096 * MI })],
    recommendations: [
      recommendation({ cpu: 100, cpuLimit: 200, memory: 1018 * MI, memoryLimit: 1119 * MI }),
    ],
    memoryPeaks: peaks(1060),
  };
  assert.equal(outcomeOf(given), "InPlace: app memory 1219Mi");
  assert.match(clampsOf(given)[0] ?? "", /^UnsafeMemoryDecrease .*app to 1018Mi: .*1219Mi$/);
  // The limit keeps its ratio to the request.
  assert.equal(
    outcomeOf({ ...given, strategy: LIMITS }),
    "InPlace: app memory 1219Mi (limit 1405031067)",
  );
  const guaranteed = [
    templateContainer({ limitCPU: 100, requestMemory: 4096 * MI, limitMemory: 4096 * MI }),
  ];
  const recommendations = [
    recommendation({ cpu: 100, cpuLimit: 100, memory: 1018 * MI, memoryLimit: 1119 * MI }),
  ];
  assert.equal(
    outcomeOf({ ...given, containers: guaranteed, recommendations, strategy: LIMITS }),
    "InPlace: app memory 1219Mi (limit 1219Mi)",
  );
});

test("unsafeMemoryDecrease() and another guard that pull to and fro leave the pair out, CPU goes on", () => {
  // The safe value is more than a new pod's limit, which stays.
  const given = {
    pods: [workloadPod("web-1", [
      templateContainer({ requestMemory: 512 * MI, limitMemory: 512 * MI }),
    ])],
    recommendations: [recommendation({ memory: 100 * MI })],
    memoryPeaks: peaks(200),
  };
  assert.equal(outcomeOf(given), "InPlace: app cpu 150m");
});

test("unsafeMemoryDecrease() takes no decrease for safe where the peak is not known", () => {
  const held = outcomeOf({ recommendations: less, memoryPeaks: new Map() });
  assert.match(held, /^UnsafeMemoryDecrease .*: app to 46Mi: .*not known$/);
});

test("unsafeMemoryDecrease() leaves other containers and CPU to go on", () => {
  const containers = [templateContainer(), templateContainer({ name: "log" })];
  const recommendations = [
    recommendation({ memory: 46 * MI }),
    recommendation({ container: "log", memory: 46 * MI }),
  ];
  const memoryPeaks = new Map([["app", 60 * MI], ["log", 20 * MI]]);
  const choice = { containers, recommendations, memoryPeaks };
  assert.equal(outcomeOf(choice), "InPlace: app cpu 150m, log cpu 150m, log memory 46Mi");
  assert.match(clampsOf(choice).join(), /UnsafeMemoryDecrease: app to 46Mi/);
});

test("safeMemory() gives whole numbers at least as large as asked, also for a request of 0", () => {
  const bytes = fc.option(fc.oneof(fc.constant(0), fc.nat(2 ** 33)), { nil: undefined });
  const pair = fc.record({ request: bytes, limit: bytes }).map(({ request, limit }) => ({
    ...(request === undefined ? {} : { request }),
    ...(limit === undefined ? {} : { limit: Math.max(limit, request ?? 0) }),
  }));
  fc.assert(fc.property(pair, pair, bytes, fc.nat(30), (asked, had, peak, thresholdPercent) => {
    const safe = safeMemory(asked, { present: [had], peak, thresholdPercent });
    for (const side of ["request", "limit"] as const) {
      const value = safe[side];
      if (value === undefined) continue;
      assert.ok(Number.isSafeInteger(value) && value >= (asked[side] ?? 0), `${side}: ${value}`);
    }
  }));
});
