import assert from "node:assert/strict";
import { createMemoryTree } from "../../tests/fixtures/memory_tree.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { createNodeSampler, type NodeSamplerOptions } from "./node_sampler.ts";

const ID = { hot: "a".repeat(64) };
const HOT = `kubepods/burstable/pod0a4f7c1e-5d0b-4f6e-9a51-1c0f6a7b8d01/${ID.hot}`;
const NONE: ReadonlySet<string> = new Set();

function node(options: Partial<NodeSamplerOptions> = {}) {
  const tree = createMemoryTree({ [`${HOT}/cpu.stat`]: "usage_usec 0\n" });
  return { tree, sampler: createNodeSampler({ tree, cores: 2, ...options }) };
}

pure("sample() gives the node's idle CPU, fading with 1 s, where the root has a counter", () => {
  const { tree, sampler } = node();
  assert.equal(sampler.sample(0, NONE).node, undefined);
  const idleAt = (at: number, usedMs: number | string) => {
    const text = typeof usedMs === "string" ? usedMs : `usage_usec ${usedMs * 1000}\n`;
    tree.write("cpu.stat", text);
    const { shared, idle } = sampler.sample(at, NONE).node ?? {};
    return idle === undefined ? undefined : [shared, Math.round(idle)];
  };
  assert.equal(idleAt(1000, 500), undefined);
  // 0.4 of 2 CPUs in the first interval; then 2 for a second: 1600 / e.
  assert.deepEqual(idleAt(1500, 700), [2000, 1600]);
  assert.deepEqual(idleAt(2500, 2700), [2000, 589]);
  // A counter that begins anew, and text that is malformed, change nothing.
  assert.deepEqual(idleAt(3500, 0), [2000, 589]);
  assert.equal(idleAt(4500, "usage\n"), undefined);
  // Idle since 3500, two seconds: 2000 less 1411 / e².
  assert.deepEqual(idleAt(5500, 0), [2000, 1809]);
});

pure("sample() counts the idle CPU of the CPUs that managed containers share", () => {
  const { tree, sampler } = node({ cores: 8 });
  const managed = new Set([ID.hot]);
  const idleAt = (at: number, usedMs: number) => {
    tree.write("cpu.stat", `usage_usec ${usedMs * 1000}\n`);
    return sampler.sample(at, managed).node;
  };
  idleAt(0, 0);
  assert.deepEqual(idleAt(2000, 2000), { shared: 8000, idle: 7000 });
  // A static CPU manager gave four CPUs to another container, which leaves them idle.
  tree.write(`${HOT}/cpuset.cpus.effective`, "0-1,6-7\n");
  const { shared, idle = 0 } = idleAt(20_000, 20_000) ?? {};
  assert.deepEqual([shared, Math.round(idle)], [4000, 3000]);
});
