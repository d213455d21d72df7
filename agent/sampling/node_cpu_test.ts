import assert from "node:assert/strict";
import { seededRandom } from "../../shared/random.ts";
import { createMemoryTree } from "../../tests/fixtures/memory_tree.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { createNodeCPU, type NodeReading } from "./node_cpu.ts";
import { createNodeSampler } from "./node_sampler.ts";

/**
 * Takes readings of a node with two CPUs; gives its idle CPU, what others use, and idle CPU by the
 * shorter mean, in whole millicores.
 */
function reader(usual: Partial<NodeReading> = {}) {
  const nodeCPU = createNodeCPU();
  return (at: number, usedMs: number | undefined, change: Partial<NodeReading> = {}) => {
    const read = { cores: 2, managed: 0, yielding: 0, ...usual, ...change, at, usedMs };
    const found = nodeCPU(read);
    return found && [found.idle, found.others, found.idle400ms].map((one) => Math.round(one));
  };
}

pure("createNodeCPU() gives idle CPU, fading with 1 s, from the second reading on", () => {
  const read = reader();
  assert.equal(read(1000, 500), undefined);
  // 0.4 of 2 CPUs in the first interval; then 2 for a second: 1600 / e, and 1600 / e^2.5.
  assert.equal(read(1500, 700)?.[0], 1600);
  const full = read(2500, 2700);
  assert.deepEqual([full?.[0], full?.[2]], [589, 131]);
  // A counter that begins anew, and a reading at once, change nothing.
  assert.equal(read(3500, 0)?.[0], 589);
  assert.equal(read(3505, 10)?.[0], 589);
  assert.equal(read(4500, 0)?.[0], Math.round(2000 - 1411 / Math.E));
  // Without a counter nothing is known, until there are two again.
  assert.deepEqual([read(6500, undefined), read(7500, 0)], [undefined, undefined]);
  const anew = read(8500, 1000);
  assert.deepEqual([anew?.[0], anew?.[2]], [1000, 1000]);
});

pure(
  "createNodeCPU() finds no idle CPU on a full node, read late and with a coarse counter",
  () => {
    const random = seededRandom(1);
    const read = reader({ cores: 8 });
    let sum = 0;
    for (let i = 1; i <= 3000; i++) {
      const at = 100 * i;
      const readAt = at + 5 * random.next();
      // A counter of ticks, 4 ms on all CPUs at once.
      sum += read(at, 8 * 4 * Math.floor(readAt / 4))?.[0] ?? 0;
    }
    assert.ok(sum / 3000 < 20, `${sum / 3000} of 8000`);
  },
);

pure("createNodeCPU() finds no idle CPU where more is used than it knows CPUs", () => {
  const read = reader();
  read(0, 0);
  read(1000, 500);
  for (let second = 2; second <= 8; second++) read(1000 * second, 4000 * second);
  const found = read(9000, 36_000);
  assert.deepEqual([found?.[0], found?.[2]], [0, 0]);
});

pure("createNodeCPU() counts CPU as idle that pods use which give way", () => {
  const read = reader({ yielding: 700 });
  read(0, 0);
  assert.deepEqual(read(1000, 900), [1800, 200, 1800]);
});

pure("createNodeCPU() keeps what others use in bursts, and not what the market uses", () => {
  const read = reader({ managed: 300 });
  let usedMs = 0;
  let last: number[] | undefined;
  for (let second = 0; second <= 200; second++) {
    usedMs += 300 + (second % 20 < 10 ? 1000 : 100);
    last = read(1000 * second, usedMs);
  }
  const others = last?.[1] ?? 0;
  assert.ok(others > 850 && others <= 1000, `${others}`);
});

const ID = "a".repeat(64);
const HOT = `kubepods/burstable/pod0a4f7c1e-5d0b-4f6e-9a51-1c0f6a7b8d01/${ID}`;

pure("sample() reads the root's usage, and the CPUs that containers share", () => {
  const tree = createMemoryTree({ [`${HOT}/cpu.stat`]: "usage_usec 0\n" });
  const sampler = createNodeSampler({ tree, cores: 8 });
  const nodeAt = (at: number, usedMs: number | string) => {
    tree.write("cpu.stat", typeof usedMs === "string" ? usedMs : `usage_usec ${usedMs * 1000}\n`);
    return sampler.sample(at, new Set([ID])).node;
  };
  nodeAt(0, 0);
  assert.deepEqual(nodeAt(2000, 2000), {
    ...{ shared: 8000, idle: 7000, idle400ms: 7000, others: 1000 },
  });
  // A static CPU manager gave four CPUs to another container, which leaves them idle.
  tree.write(`${HOT}/cpuset.cpus.effective`, "0-1,6-7\n");
  const { shared, idle = 0 } = nodeAt(20_000, 20_000) ?? {};
  assert.deepEqual([shared, Math.round(idle)], [4000, 3000]);
  assert.equal(nodeAt(21_000, "usage\n"), undefined);
});
