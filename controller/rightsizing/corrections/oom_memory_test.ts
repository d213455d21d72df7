import type { ContainerFields } from "../../../tests/fixtures/container_fields.ts";
import assert from "node:assert/strict";
import type { Pod } from "../../../shared/api/pod.ts";
import {
  MI,
  templateContainer,
  workloadPod,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { createOOMMemory } from "./oom_memory.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const KEY = "Deployment/shop/web";

const podWith = (fields: ContainerFields): Pod => workloadPod("web-1", [templateContainer(fields)]);

test("killsOf() remembers what the container had at first sight, though its limit is raised meanwhile", () => {
  const memory = createOOMMemory();
  const killed = { oomKilledAtMs: 100, requests: {}, limits: { memory: 128 * MI } };
  memory.killsOf(KEY, [podWith(killed)], { sinceMs: 0 });
  const raised = podWith({ ...killed, limits: { ...killed.limits, memory: 256 * MI } });
  const kills = memory.killsOf(KEY, [raised], { sinceMs: 0 });
  assert.deepEqual([...kills], [["app", [{ hadBytes: 128 * MI }]]]);
});

test("killsOf() takes the request where there is no limit, and says that none bound it", () => {
  const memory = createOOMMemory();
  const unlimited = { ...templateContainer({ oomKilledAtMs: 100 }), limits: {} };
  const pod = workloadPod("web-1", [unlimited]);
  const kills = memory.killsOf(KEY, [pod], { sinceMs: 0 });
  assert.deepEqual(kills.get("app"), [{ hadBytes: 64 * MI, unlimited: true }]);
  const bare = { ...unlimited, requests: {} };
  const others = createOOMMemory().killsOf(KEY, [workloadPod("web-1", [bare])], { sinceMs: 0 });
  assert.deepEqual(others.get("app"), [{ hadBytes: 0, unlimited: true }]);
});

test("killsOf() knows kills of pods that are gone until they are out of the window", () => {
  const memory = createOOMMemory();
  memory.killsOf(KEY, [podWith({ oomKilledAtMs: 100 })], { sinceMs: 0 });
  assert.equal(memory.killsOf(KEY, [], { sinceMs: 99 }).size, 1);
  assert.equal(memory.killsOf(KEY, [], { sinceMs: 100 }).size, 0);
  assert.equal(memory.killsOf(KEY, [], { sinceMs: 0 }).size, 0);
});

test("killsOf() takes a kill from before the last application for what that came from", () => {
  const pod = podWith({
    oomKilledAtMs: 5000,
    requests: { memory: 356 * MI },
    limits: { memory: 400 * MI },
  });
  const kills = (lastAppliedMs: number): unknown =>
    createOOMMemory().killsOf(KEY, [pod], { sinceMs: 0, lastAppliedMs }).get("app");
  assert.deepEqual(kills(6000), [{ hadBytes: 256 * MI }]);
  // The kubelet tells whole seconds: this one may have come after it.
  assert.deepEqual(kills(5999), [{ hadBytes: 400 * MI }]);
  // What no raise can have led to.
  const small = podWith({ oomKilledAtMs: 5000, requests: { memory: 64 * MI } });
  const none = createOOMMemory().killsOf(KEY, [small], { sinceMs: 0, lastAppliedMs: 6000 });
  assert.equal(none.size, 0);
});

test("keepOnly() forgets the other workloads", () => {
  const memory = createOOMMemory();
  for (const key of [KEY, "Deployment/shop/db"]) {
    memory.killsOf(key, [podWith({ oomKilledAtMs: 100 })], { sinceMs: 0 });
  }
  memory.keepOnly((key) => key === KEY);
  assert.equal(memory.killsOf(KEY, [], { sinceMs: 0 }).size, 1);
  assert.equal(memory.killsOf("Deployment/shop/db", [], { sinceMs: 0 }).size, 0);
});
