import assert from "node:assert/strict";
import { instanceNamed } from "./instance.ts";
import { networkName, nodeFiles, type NodeOptions } from "./node_files.ts";

const OPTIONS: NodeOptions = {
  cpuManager: "none",
  cpuQuota: "on",
  cniFolder: "/cni",
  snapshotter: "native",
};
const second = instanceNamed("second");

function kubelet(options: NodeOptions): Record<string, unknown> {
  return JSON.parse(nodeFiles(second, options)["kubelet.json"] ?? "");
}

Deno.test({
  name: "nodeFiles() gives the kubelet the instance's cgroup root and the cluster's DNS",
  permissions: "none",
  fn() {
    const config = kubelet(OPTIONS);
    assert.equal(config["cgroupRoot"], "/coallocator-second");
    assert.deepEqual(config["clusterDNS"], ["10.0.0.10"]);
    assert.equal(config["failCgroupV1"], false);
    assert.equal(config["cpuManagerPolicy"], undefined);
    assert.equal(config["cpuCFSQuota"], true);
    assert.equal(kubelet({ ...OPTIONS, cpuQuota: "off" })["cpuCFSQuota"], false);
  },
});

Deno.test({
  name: "nodeFiles() reserves some CPU with the static CPU manager, which demands it",
  permissions: "none",
  fn() {
    const config = kubelet({ ...OPTIONS, cpuManager: "static" });
    assert.equal(config["cpuManagerPolicy"], "static");
    assert.deepEqual(config["kubeReserved"], { cpu: "500m" });
  },
});

Deno.test({
  name: "nodeFiles() leads containerd to the folders of the instance",
  permissions: "none",
  fn() {
    const text = nodeFiles(second, OPTIONS)["containerd.toml"] ?? "";
    assert.match(text, /^root = "\/var\/tmp\/coallocator-cluster\/second\/containerd\/root"$/m);
    assert.match(text, /^ {2}bin_dir = "\/cni"$/m);
    assert.match(text, /^ {2}snapshotter = "native"$/m);
    assert.match(text, /^ {2}restrict_oom_score_adj = true$/m);
  },
});

Deno.test({
  name: "nodeFiles() names the pod network after the instance, with room for 300 pods",
  permissions: "none",
  fn() {
    const config = JSON.parse(nodeFiles(second, OPTIONS)["cni/10-coallocator.conflist"] ?? "");
    assert.equal(config.name, networkName("second"));
    const subnet: string = config.plugins[0].ipam.ranges[0][0].subnet;
    assert.ok(2 ** (32 - Number(subnet.split("/")[1])) - 3 >= 300, subnet);
  },
});
