import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { findLayout } from "./layout.ts";
import { createMemoryTree } from "../../tests/fixtures/memory_tree.ts";
import { listPods } from "./pod_cgroups.ts";

const UID = "0a4f7c1e-5d0b-4f6e-9a51-1c0f6a7b8d01";
const U = UID.replaceAll("-", "_");
const C = "c0".repeat(32);
const STATIC = "5f".repeat(16);

/** Each layout: the container's directory, and what is to be found. */
interface Case {
  readonly directory: string;
  readonly uid?: string;
  /** Where the container is read; absent: the directory itself. */
  readonly read?: string;
  /** Absent: the directory above the container's. `null`: the pod has none. */
  readonly pod?: string | null;
  /** Directories beside it that are none of its. */
  readonly beside?: readonly string[];
}

const SYSTEMD = `kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${U}.slice`;

const CASES: readonly Case[] = [
  ...["cri-containerd-", "crio-", "docker-", "pouch-"].map((prefix) => ({
    directory: `${SYSTEMD}/${prefix}${C}.scope`,
  })),
  {
    directory:
      `kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod${U}.slice/cri-containerd-${C}.scope`,
  },
  { directory: `kubepods.slice/kubepods-pod${U}.slice/cri-containerd-${C}.scope` },
  { directory: `kubepods/burstable/pod${UID}/${C}` },
  { directory: `kubepods/besteffort/pod${UID}/${C}` },
  { directory: `kubepods/pod${UID}/${C}` },
  { directory: `kubepods/pod${UID}/crio-${C}` },
  {
    directory: "kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/" +
      `kubelet-kubepods-burstable-pod${U}.slice/cri-containerd-${C}.scope`,
  },
  {
    directory: "kubelet.slice/kubelet-kubepods.slice/" +
      `kubelet-kubepods-pod${U}.slice/cri-containerd-${C}.scope`,
  },
  { directory: `kubelet/kubepods/burstable/pod${UID}/${C}` },
  {
    directory: `${SYSTEMD}/crio-${C}.scope`,
    read: `${SYSTEMD}/crio-${C}.scope/container`,
    beside: [`${SYSTEMD}/crio-${C}.scope/container`, `${SYSTEMD}/crio-conmon-${C}.scope`],
  },
  {
    directory:
      `system.slice/containerd.service/kubepods-burstable-pod${U}.slice:cri-containerd:${C}`,
    pod: SYSTEMD,
    beside: [SYSTEMD],
  },
  {
    directory: `system.slice/crio.service/kubepods-pod${U}.slice:crio:${C}`,
    pod: null,
    beside: ["kubepods.slice"],
  },
  {
    directory: `kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${STATIC}.slice/` +
      `cri-containerd-${C}.scope`,
    uid: STATIC,
  },
  { directory: `kubepods/burstable/pod${STATIC}/${C}`, uid: STATIC },
  {
    directory: "system.slice/docker-NODE.scope/kubelet.slice/kubelet-kubepods.slice/" +
      `kubelet-kubepods-burstable.slice/kubelet-kubepods-burstable-pod${U}.slice/` +
      `cri-containerd-${C}.scope`,
  },
  {
    directory: "system.slice/docker-NODE.scope/system.slice/containerd.service/" +
      `kubelet-kubepods-burstable-pod${U}.slice:cri-containerd:${C}`,
    pod: null,
    beside: ["system.slice/docker-NODE.scope/kubelet.slice/kubelet-kubepods.slice"],
  },
  { directory: `docker/${"ab".repeat(32)}/kubelet/kubepods/burstable/pod${UID}/${C}` },
];

const MOUNTS = [
  { name: "v2", cpu: "", others: [""] },
  { name: "v1 apart", cpu: "cpu/", others: ["cpuacct/", "memory/"] },
  { name: "v1 joined", cpu: "cpu,cpuacct/", others: ["memory/"] },
  { name: "hybrid", cpu: "cpu/", others: ["cpuacct/", "unified/"] },
];

for (const { name, cpu, others } of MOUNTS) {
  pure(`listPods() finds pod and container in every known layout (${name})`, () => {
    for (const { directory, uid = UID, read = directory, pod, beside = [] } of CASES) {
      const tree = createMemoryTree();
      for (const mount of [cpu, ...others]) {
        for (const path of [directory, ...beside]) tree.write(`${mount}${path}/cpu.stat`, "");
        tree.write(`${mount}system.slice/ssh.service/cpu.stat`, "");
      }
      const above = directory.slice(0, directory.lastIndexOf("/"));
      const own = pod === null ? {} : { directory: pod ?? above };
      const expected = [{ uid, ...own, containers: [{ id: C, directory: read }] }];
      assert.deepEqual(listPods(tree, findLayout(tree)), expected, directory);
    }
  });
}

pure("listPods() lists several containers, and pods that have none yet", () => {
  const tree = createMemoryTree({
    [`kubepods/pod${UID}/${C}/cpu.stat`]: "",
    [`kubepods/pod${UID}/${"d1".repeat(32)}/cpu.stat`]: "",
    [`kubepods/burstable/pod${STATIC}/cpu.stat`]: "",
    "kubepods/burstable/cpu.stat": "",
    "kubepods/besteffort/podless/not-an-id/cpu.stat": "",
    "kubepods/other/cpu.stat": "",
  });
  const pods = listPods(tree, findLayout(tree));
  assert.deepEqual(
    pods.map(({ uid, containers }) => [uid, containers.length]).sort(),
    [[UID, 2], [STATIC, 0]].sort(),
  );
});

pure("listPods() gives nothing when all pods vanished", () => {
  const tree = createMemoryTree({ [`kubepods/pod${UID}/${C}/cpu.stat`]: "" });
  const layout = findLayout(tree);
  tree.remove("kubepods");
  assert.deepEqual(listPods(tree, layout), []);
});
