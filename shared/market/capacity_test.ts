import assert from "node:assert/strict";
import { marketCapacity } from "./capacity.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("marketCapacity() leaves a tenth and what unmanaged pods hold", () => {
  assert.equal(marketCapacity({ allocatable: 8000, unmanaged: 500, pressures: 0 }), 6700);
  assert.equal(marketCapacity({ allocatable: 8000, unmanaged: 0, pressures: 0, reserve: 0 }), 8000);
});

pure("marketCapacity() takes a tenth for each pressure, and they multiply", () => {
  const capacity = marketCapacity({ allocatable: 10_000, unmanaged: 0, pressures: 2 });
  assert.ok(Math.abs(capacity - 7290) < 1e-9);
});

pure("marketCapacity() is never negative", () => {
  assert.equal(marketCapacity({ allocatable: 1000, unmanaged: 5000, pressures: 3 }), 0);
});
