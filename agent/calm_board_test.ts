import assert from "node:assert/strict";
import type { CgroupTree } from "../shared/cgroup/tree.ts";
import { rowsOf } from "../tests/fixtures/counter_rows.ts";
import { createMemoryTree } from "../tests/fixtures/memory_tree.ts";
import { CALM_SAMPLE_MS } from "./calm_board.ts";
import { createNodeSampler } from "./node_sampler.ts";

const ID = "a".repeat(64);
const PAUSE = "c".repeat(64);
const POD = "kubepods/burstable/pod0a4f7c1e-5d0b-4f6e-9a51-1c0f6a7b8d01";

interface Group {
  readonly usage?: number;
  readonly periods?: number;
  readonly throttled?: number;
  readonly quota?: number;
}

/** A version 1 node of one pod, limit 200 m, that counts what is read of it. */
function node({ counter = true } = {}) {
  const tree = createMemoryTree();
  const put = (
    directory: string,
    { usage = 0, periods = 0, throttled = 0, quota = 20_000 }: Group = {},
  ): void => {
    tree.write(
      `cpu/${directory}/cpu.stat`,
      `nr_periods ${periods}\nnr_throttled ${periods}\nthrottled_time ${throttled * 1e6}\n`,
    );
    tree.write(`cpu/${directory}/cpu.cfs_quota_us`, `${quota}\n`);
    tree.write(`cpu/${directory}/cpu.cfs_period_us`, "100000\n");
    tree.write(`cpu/${directory}/cpu.shares`, "102\n");
    tree.write(`cpuacct/${directory}/cpuacct.usage`, `${usage * 1e6}\n`);
  };
  const reads: string[] = [];
  const read = (file: string): string | undefined => {
    reads.push(file.replace(/^.*\//, ""));
    return tree.read(file);
  };
  const watched: CgroupTree = { ...tree, read };
  const counterOf = (file: string): number | undefined => {
    const text = read(file);
    return text === undefined ? undefined : Number(text);
  };
  const fast: CgroupTree = {
    ...watched,
    counter: counterOf,
    counterRows: () => rowsOf({ read }),
  };
  put(POD);
  put(`${POD}/${ID}`);
  put(`${POD}/${PAUSE}`, { quota: -1 });
  const sampler = createNodeSampler({ tree: counter ? fast : watched, cores: 2 });
  const named = new Set([ID]);
  const look = (at: number, group: Group) => {
    put(POD, group);
    put(`${POD}/${ID}`, group);
    reads.length = 0;
    return sampler.sample(at, named).containers.get(ID);
  };
  return { look, reads, tree, sampler, named };
}

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("createCalmBoard() reads one counter of a pod that is far from its quota", () => {
  const { look, reads } = node();
  // After two looks there is a sample; the first thorough look of its own turn comes within 5 s.
  const lengths: number[] = [];
  for (let at = 0; at < 8000; at += 250) {
    look(at, { usage: at * 0.01 });
    lengths.push(reads.length);
  }
  assert.ok(lengths.slice(2).filter((length) => length > 1).length <= 2, lengths.join(" "));
  const sample = look(8000, { usage: 80 });
  assert.deepEqual(reads, ["cpuacct.usage"]);
  const { usage, heldBack, quota } = sample ?? {};
  assert.deepEqual([usage, heldBack, quota], [10, 0, 200]);
  assert.ok(8000 - (sample?.at ?? 0) < CALM_SAMPLE_MS, "it is told once a second");
});

test("createCalmBoard() leaves a burst, a reset and a vanished file to the whole look", () => {
  const { look, reads } = node();
  for (const at of [0, 250, 500]) look(at, { usage: 1 });
  // 20 ms in 250, as much as one period's quota: it may have been throttled.
  const burst = look(750, { usage: 21, periods: 2, throttled: 50 });
  assert.ok(reads.includes("cpu.stat"));
  assert.equal(burst?.rising, true);
  assert.ok((burst?.heldBack ?? 0) > 0);
  assert.equal(look(1000, { usage: 2 }), undefined, "the counter went back");
});

test("createCalmBoard() tells once a second what the whole look tells each time, and bursts at once", () => {
  const [short, long] = [node(), node({ counter: false })];
  let usage = 0;
  let throttled = 0;
  const told = { calm: 0, whole: 0, heldBack: 0 };
  let heldBack = 0;
  const usedMs: { readonly at: number; readonly ms: number }[] = [];
  for (let step = 0; step < 200; step++) {
    const at = step * 250;
    // Idle, then more and more, then held back, over and over.
    const millicores = step % 40 < 20 ? 3 : (step % 40 - 20) * 10;
    usage += millicores / 4;
    if (millicores > 150) throttled += 60;
    const group = { usage, throttled, periods: Math.floor(throttled / 30) };
    const [sample, whole] = [short.look(at, group), long.look(at, group)];
    if (whole !== undefined) usedMs.push({ at, ms: whole.usage * whole.intervalMs / 1000 });
    heldBack += whole?.heldBack ?? 0;
    if (sample?.at !== at || whole === undefined) continue;
    told.heldBack += whole.heldBack;
    if (sample.intervalMs === whole.intervalMs) {
      assert.deepEqual(sample, whole, `at ${at}`);
      told.whole++;
      continue;
    }
    told.calm++;
    assert.equal(whole.heldBack, 0, "what is held back is never told late");
    assert.ok(sample.intervalMs <= CALM_SAMPLE_MS, `${sample.intervalMs}`);
    const inIt = usedMs.filter((one) => one.at > at - sample.intervalMs && one.at <= at);
    const sum = inIt.reduce((total, { ms }) => total + ms, 0);
    assert.ok(Math.abs(sample.usage * sample.intervalMs / 1000 - sum) < 1e-6, `at ${at}`);
  }
  assert.ok(told.calm > 10 && told.whole > 20 && told.heldBack > 0, JSON.stringify(told));
  assert.equal(told.heldBack, heldBack, "nothing that is held back goes untold");
});

test("createCalmBoard() notices within a look that a container is gone", () => {
  const { look, tree, sampler, named } = node();
  for (const at of [0, 250, 500]) look(at, { usage: 1 });
  tree.remove(`cpu/${POD}/${ID}`);
  tree.remove(`cpuacct/${POD}/${ID}`);
  assert.equal(sampler.sample(750, named).containers.has(ID), false);
  assert.deepEqual(sampler.pods()[0]?.formerIDs, [ID]);
});
