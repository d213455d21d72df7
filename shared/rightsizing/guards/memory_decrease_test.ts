import assert from "node:assert/strict";
import {
  clampsOf,
  MI,
  outcomeOf,
  recommendation,
  templateContainer,
} from "../../../tests/fixtures/rightsizing_facts.ts";
import { leastSafeMemory } from "./memory_decrease.ts";

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

test("unsafeMemoryDecrease() holds a decrease below the recent peak + 15 %, and none above it", () => {
  assert.equal(
    outcomeOf({ recommendations: less, memoryPeaks: peaks(40) }),
    "InPlace: app memory 46Mi",
  );
  assert.match(
    outcomeOf({ recommendations: less, memoryPeaks: peaks(40.5) }),
    /^UnsafeMemoryDecrease UnsafeMemoryDecrease: app to 46Mi: .* 42467328, /,
  );
});

test("unsafeMemoryDecrease() heeds limits, also new ones, and never speaks against raises", () => {
  const more = [recommendation({ cpu: 100, cpuLimit: 200, memory: 70 * MI, memoryLimit: 92 * MI })];
  const given = { recommendations: more, strategy: { ...LIMITS, changeThresholdPercent: 5 } };
  assert.match(
    outcomeOf({ ...given, memoryPeaks: peaks(100) }),
    /UnsafeMemoryDecrease: app to 92Mi/,
  );
  assert.match(
    outcomeOf({ ...given, memoryPeaks: peaks(80) }),
    /^InPlace: .*memory 70Mi \(limit 92Mi\)/,
  );
  const { limitMemory: _none, ...open } = templateContainer();
  const added = outcomeOf({ ...given, containers: [open], memoryPeaks: peaks(100) });
  assert.match(added, /UnsafeMemoryDecrease: app to 92Mi/);
  assert.match(outcomeOf({ memoryPeaks: peaks(4000) }), /^InPlace: app cpu 150m, app memory 96Mi/);
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
