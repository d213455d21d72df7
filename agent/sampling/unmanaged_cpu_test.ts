import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { createMemoryTree } from "../../tests/fixtures/memory_tree.ts";
import { createNodeSampler } from "./node_sampler.ts";

const A = "a".repeat(64);
const B = "b".repeat(64);
const PAUSE = "c".repeat(64);
const POD = "kubepods/burstable/pod0a4f7c1e-5d0b-4f6e-9a51-1c0f6a7b8d01";

/** Version 1 files of one cgroup; usage in milliseconds. */
function files(directory: string, { usage = 0, shares = 2, quota = -1 } = {}) {
  return {
    [`cpu/${directory}/cpu.stat`]: "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n",
    [`cpu/${directory}/cpu.cfs_quota_us`]: `${quota}\n`,
    [`cpu/${directory}/cpu.cfs_period_us`]: "100000\n",
    [`cpu/${directory}/cpu.shares`]: `${shares}\n`,
    [`cpuacct/${directory}/cpuacct.usage`]: `${usage * 1e6}\n`,
  };
}

type Changing = (at: number) => Record<string, string>;

/** Samples a node with files that are a function of time; returns the unmanaged CPU at the end. */
function unmanaged(changing: Changing, named: readonly string[], { forMs = 5000 } = {}): number {
  const tree = createMemoryTree(changing(0));
  const sampler = createNodeSampler({ tree, cores: 8 });
  let held = NaN;
  for (let at = 0; at <= forMs; at += 250) {
    for (const [path, text] of Object.entries(changing(at))) tree.write(path, text);
    held = sampler.sample(at, new Set(named)).unmanaged;
  }
  return Math.round(held * 100) / 100;
}

/** A pod that requests 500 m and uses the given millicores, with a sandbox. */
const pod = (millicores: number): Changing => (at) => ({
  ...files(POD, { usage: millicores * at / 1000, shares: 512 }),
  ...files(`${POD}/${A}`, { usage: millicores * at / 1000, shares: 512, quota: 100_000 }),
  ...files(`${POD}/${PAUSE}`),
});

pure("unmanagedCPU() of a pod outside the market is the larger of request and usage", () => {
  assert.equal(unmanaged(pod(200), []), 500);
  assert.equal(unmanaged(pod(800), []), 800);
});

pure(
  "unmanagedCPU() leaves out usage that goes as soon as pods with requests use their CPU",
  () => {
    const [other, third] = [POD.replace(/1$/, "2"), POD.replace(/1$/, "3")];
    const busy = (shares: number): Changing => (at) => ({
      ...files(POD, { usage: 6 * at, shares }),
      ...files(other, { shares: 1024 }),
      ...files(third, { shares: 512 }),
    });
    // Of 8 CPUs weights leave it a quarter, or nothing worth speaking of.
    assert.equal(unmanaged(busy(512), []), 2000 + 1500);
    assert.equal(unmanaged(busy(2), []), 1500);
  },
);

pure("unmanagedCPU() of a managed pod is nothing: it bids", () => {
  assert.equal(unmanaged(pod(800), [A]), 0);
});

pure(
  "unmanagedCPU() counts no request of a managed Guaranteed pod, however the market moves it",
  () => {
    const uid = "5c1d2f6e-1d0b-4f6e-9a51-1c0f6a7b8d02";
    for (
      const root of [
        `kubepods/pod${uid}`,
        `kubepods.slice/kubepods-pod${uid.replaceAll("-", "_")}.slice`,
      ]
    ) {
      const container = root.endsWith(".slice")
        ? `${root}/cri-containerd-${B}.scope`
        : `${root}/${B}`;
      // 300 m of 300 m at first, of 900 m from the third second on.
      const moving: Changing = (at) => {
        const [shares, quota] = at < 3000 ? [307, 30_000] : [921, 90_000];
        const usage = 0.3 * at;
        return {
          ...files(root, { usage, shares, quota }),
          ...files(container, { usage, shares, quota }),
          ...files(`${root}/${PAUSE}`),
        };
      };
      assert.equal(unmanaged(moving, [B]), 0);
      assert.equal(unmanaged(moving, [B], { forMs: 130_000 }), 0);
      // Outside of the market it is the demand at present.
      const left = unmanaged(moving, [], { forMs: 130_000 });
      assert.ok(Math.abs(left - 900) <= 1, `${left}`);
    }
  },
);

pure("unmanagedCPU() counts an unlimited sibling that the bounds do not name", () => {
  const sibling = (millicores: number): Changing => (at) => ({
    ...pod(100)(at),
    ...files(`${POD}/${B}`, { usage: millicores * at / 1000, shares: 256 }),
  });
  assert.equal(unmanaged(sibling(100), [A]), 250);
  assert.equal(unmanaged(sibling(400), [A]), 400);
  assert.equal(unmanaged(sibling(400), [A, B]), 0);
});

pure("unmanagedCPU() leaves out a container with a quota that the bounds do not name yet", () => {
  const restarted: Changing = (at) => ({
    ...pod(100)(at),
    ...files(`${POD}/${B}`, { usage: at, shares: 256, quota: 50_000 }),
  });
  assert.equal(unmanaged(restarted, [A]), 0);
});

pure(
  "isManaged() holds while a pod's only container restarts and its bounds name the old one",
  () => {
    const tree = createMemoryTree(pod(800)(0));
    const sampler = createNodeSampler({ tree, cores: 8 });
    assert.equal(sampler.sample(0, new Set([A])).unmanaged, 0);
    tree.remove(`cpu/${POD}/${A}`);
    tree.remove(`cpuacct/${POD}/${A}`);
    for (const [path, text] of Object.entries(files(`${POD}/${B}`, { quota: 100_000 }))) {
      tree.write(path, text);
    }
    assert.equal(sampler.sample(1000, new Set([A])).unmanaged, 0);
    assert.equal(sampler.sample(2000, new Set([B])).unmanaged, 0);
    // Its bounds are gone: the pod left the market.
    assert.equal(sampler.sample(3000, new Set()).unmanaged, 500);
  },
);

pure("unmanagedCPU() does not follow a neighbour's short bursts", () => {
  // 2000 m in one second of 40: below the 95th percentile.
  const bursty: Changing = (at) => {
    const burstMs = Math.floor(at / 40_000) * 1000 + Math.min(1000, at % 40_000);
    return files(POD, { usage: burstMs * 2 + at * 0.1, shares: 2 });
  };
  assert.equal(unmanaged(bursty, [], { forMs: 120_000 }), 100);
});

pure("unmanagedCPU() adds containers that lie outside of their pod's cgroup", () => {
  const orphan = "system.slice/containerd.service/" +
    `kubepods-burstable-pod0a4f7c1e_5d0b_4f6e_9a51_1c0f6a7b8d01.slice:cri-containerd:${A}`;
  const changing: Changing = (at) => ({
    ...files(POD, { shares: 102 }),
    ...files(orphan, { usage: at * 0.3, shares: 102 }),
  });
  assert.equal(unmanaged(changing, []), 300);
});

pure("unmanagedCPU() reports by the sum which formula the runtime used for weights", () => {
  // Pod 600 m = 614 shares = weight 24 by the line; containers 500 m and 100 m.
  const v2 = (weights: readonly [number, number]): Changing => () => {
    const group = (directory: string, weight: number, quota = "max") => ({
      [`${directory}/cpu.stat`]: "usage_usec 0\n",
      [`${directory}/cpu.max`]: `${quota} 100000\n`,
      [`${directory}/cpu.weight`]: `${weight}\n`,
    });
    return {
      ...group(POD, 24),
      ...group(`${POD}/${A}`, weights[0], "60000"),
      ...group(`${POD}/${B}`, weights[1]),
      ...group(`${POD}/${PAUSE}`, 1),
    };
  };
  const line = unmanaged(v2([20, 4]), [A]);
  const curve = unmanaged(v2([59, 17]), [A]);
  assert.ok(Math.abs(line - 100) < 26, String(line));
  assert.ok(Math.abs(curve - 100) < 26, String(curve));
});
