import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import {
  cgroupFiles,
  readCounters,
  readQuota,
  readRequest,
} from "../../../shared/cgroup/cgroup_files.ts";
import { findLayout } from "../../../shared/cgroup/layout.ts";
import { readNodeCores } from "../../../shared/cgroup/node_files.ts";
import { listPods } from "../../../shared/cgroup/pod_cgroups.ts";
import { seededRandom } from "../../../shared/random.ts";
import { busyLoop } from "../../../tests/fixtures/lab/busy_loop.ts";
import { cgroupView } from "./cgroup_view.ts";
import { createSimulatedNode } from "./simulated_node.ts";

const UID = "0a4f7c1e-5d0b-4f6e-9a51-1c0f6a7b8d01";
const ID = "1f".repeat(32);
const POD = "kubepods.slice/kubepods-burstable.slice/" +
  "kubepods-burstable-pod0a4f7c1e_5d0b_4f6e_9a51_1c0f6a7b8d01.slice";

function busyNode() {
  const node = createSimulatedNode({ cores: 2, random: seededRandom(1) });
  node.addPod({
    uid: UID,
    podLimit: 400,
    phaseMs: 0,
    containers: [{ id: ID, request: 100, limit: 200, threads: 1, workload: busyLoop(1) }],
  });
  node.advance(310);
  return node;
}

pure("cgroupView() shows each file of a container with the kernel's keys and units", () => {
  const node = busyNode();
  const tree = cgroupView(node);
  const read = (file: string) => tree.read(`${POD}/cri-containerd-${ID}.scope/${file}`);
  // Three whole periods of 20 ms at 1 thread, 10 ms of the fourth, and up to a tick on credit.
  const { usageUs } = node.container(ID);
  assert.ok(usageUs >= 70_000 && usageUs < 74_000);
  const heldUs = 310_000 - usageUs;
  assert.equal(
    read("cpu.stat"),
    `usage_usec ${usageUs}\nuser_usec ${usageUs}\nsystem_usec 0\nnr_periods 3\nnr_throttled 3\n` +
      `throttled_usec ${heldUs}\nnr_bursts 0\nburst_usec 0\n`,
  );
  assert.equal(read("cpu.max"), "20000 100000\n");
  assert.equal(read("cpu.weight"), "4\n");
  assert.match(
    read("cpu.pressure") ?? "",
    new RegExp(`^some avg10=0\\.00 .* total=${heldUs}\nfull `),
  );
  assert.equal(tree.read(`${POD}/cpu.max`), "40000 100000\n");
  assert.match(tree.read(`${POD}/cpu.stat`) ?? "", /nr_periods 3\nnr_throttled 0\n/);
  assert.equal(tree.read(`${POD}/memory.max`), undefined);
});

pure("cgroupView() lists the directories and follows pods that come and go", () => {
  const node = busyNode();
  const tree = cgroupView(node);
  assert.deepEqual(tree.children(""), ["kubepods.slice"]);
  assert.deepEqual(tree.children(POD), [`cri-containerd-${ID}.scope`]);
  assert.deepEqual(tree.children(`${POD}/cri-containerd-${ID}.scope`), []);
  assert.notEqual(tree.read("cgroup.controllers"), undefined);
  node.setContainerQuota(ID, undefined);
  assert.equal(tree.read(`${POD}/cri-containerd-${ID}.scope/cpu.max`), "max 100000\n");
  node.removePod(UID);
  assert.equal(tree.children(POD), undefined);
  assert.equal(tree.read(`${POD}/cpu.max`), undefined);
  assert.deepEqual(tree.children("kubepods.slice/kubepods-burstable.slice"), []);
});

pure("cgroupView() is read by the agent's own readers, both levels and the node's CPUs", () => {
  const node = busyNode();
  const tree = cgroupView(node);
  assert.equal(readNodeCores(tree), 2);
  const layout = findLayout(tree);
  assert.equal(layout.version, 2);
  const pods = listPods(tree, layout);
  assert.deepEqual(pods.map(({ uid }) => uid), [UID]);
  const container = pods[0]?.containers[0] ?? assert.fail("no container");
  assert.equal(container.id, ID);
  const files = cgroupFiles(layout, container.directory);
  const { usageUs } = node.container(ID);
  assert.deepEqual(readCounters(tree, files, { at: 310, pressure: true }), {
    at: 310,
    usageMs: usageUs / 1000,
    periods: 3,
    throttledPeriods: 3,
    throttledMs: (310_000 - usageUs) / 1000,
    pressureMs: (310_000 - usageUs) / 1000,
  });
  assert.equal(readQuota(tree, files), 200);
  const podFiles = cgroupFiles(layout, pods[0]?.directory ?? "");
  assert.equal(readQuota(tree, podFiles), 400);
  // 100 m is weight 4, which reads back as at most 26 m less.
  const request = readRequest(tree, podFiles)?.linear ?? NaN;
  assert.ok(request <= 100 && request > 74, `${request}`);
});
