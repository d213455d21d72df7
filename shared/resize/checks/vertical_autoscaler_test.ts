import assert from "node:assert/strict";
import { setsCPU } from "./vertical_autoscaler.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const policy = (container: string, controlled: boolean) => ({ container, controlled });

test("setsCPU() takes a VPA without policies for one of all containers, unless it is Off", () => {
  assert.equal(setsCPU({ updateMode: "Auto" }, ["app"]), true);
  assert.equal(setsCPU({ updateMode: "Auto", cpuPolicies: [] }, ["app"]), true);
  assert.equal(setsCPU({ updateMode: "Off" }, ["app"]), false);
  assert.equal(setsCPU({ updateMode: "Off", cpuPolicies: [policy("app", true)] }, ["app"]), false);
});

test("setsCPU() asks each container's own policy first, then the one for all others", () => {
  const of = (...cpuPolicies: ReturnType<typeof policy>[]) =>
    setsCPU({ updateMode: "Recreate", cpuPolicies }, ["app", "proxy"]);
  assert.equal(of(policy("*", false)), false);
  assert.equal(of(policy("*", false), policy("proxy", true)), true);
  assert.equal(of(policy("app", false), policy("proxy", false), policy("*", true)), false);
  // A container that no policy names is controlled.
  assert.equal(of(policy("app", false)), true);
  // Policies of containers that the pod has not got say nothing.
  assert.equal(of(policy("*", false), policy("db", true)), false);
});
