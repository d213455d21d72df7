import assert from "node:assert/strict";
import { bareContainer, MI, NOW_MS } from "../../tests/fixtures/rightsizing_facts.ts";
import { type AppliedRecord, withLateWrites } from "./late_writes.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const CPU = { container: "app", resource: "cpu", pair: { request: 180 } } as const;
const MEMORY = { container: "app", resource: "memory", pair: { request: 96 * MI } } as const;
const NOW = [
  bareContainer("app", { requestCPU: 180, requestMemory: 96 * MI, limitMemory: 128 * MI }),
];
const BEFORE: AppliedRecord = {
  inForce: [
    {
      container: "app",
      cpu: 120,
      cpuLimit: 150,
      memory: 70 * MI,
      adoptedOn: { cpu: 100, memory: 64 * MI },
    },
    { container: "log", cpu: 10 },
  ],
  appliedAtMs: NOW_MS - 9000,
  method: "InPlace",
};

test("withLateWrites() leaves a record as it is where nothing was written late", () => {
  assert.equal(withLateWrites(BEFORE, { late: [], containers: NOW, nowMs: NOW_MS }), BEFORE);
});

test("withLateWrites() takes them for applied as they are seen, on what stands there", () => {
  const adoptedOn = { cpu: 180, memory: 96 * MI, memoryLimit: 128 * MI };
  const late = [CPU, MEMORY];
  const noted = withLateWrites(BEFORE, { late, containers: NOW, nowMs: NOW_MS });
  assert.deepEqual(noted, {
    inForce: [
      { container: "log", cpu: 10 },
      { container: "app", cpu: 180, memory: 96 * MI, adoptedOn },
    ],
    appliedAtMs: NOW_MS,
    method: "Recreate",
  });
  const first = withLateWrites({ inForce: [] }, { late, containers: NOW, nowMs: NOW_MS });
  assert.deepEqual(first.inForce, [{ container: "app", cpu: 180, memory: 96 * MI, adoptedOn }]);
});

test("withLateWrites() leaves the other resource on what it was adopted on", () => {
  const { inForce } = withLateWrites(BEFORE, { late: [CPU], containers: NOW, nowMs: NOW_MS });
  assert.deepEqual(inForce.at(-1), {
    container: "app",
    cpu: 180,
    memory: 70 * MI,
    adoptedOn: { cpu: 180, memory: 64 * MI },
  });
});
