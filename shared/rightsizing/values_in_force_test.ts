import assert from "node:assert/strict";
import { valuesInTemplate } from "./values_in_force.ts";

Deno.test({
  name: "valuesInTemplate() tells what was written into the template from what was set in place",
  permissions: "none",
  fn() {
    const written = valuesInTemplate([
      { container: "app", cpu: 180, memory: 96, adoptedOn: { cpu: 180, memory: 64 } },
      { container: "log", cpu: 20, cpuLimit: 40, adoptedOn: { cpuLimit: 40 } },
      { container: "old", cpu: 20 },
    ]);
    assert.deepEqual(
      written,
      new Map([["app", { requestCPU: 180 }], ["log", { limitCPU: 40 }], ["old", {}]]),
    );
  },
});
