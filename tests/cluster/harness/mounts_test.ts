import assert from "node:assert/strict";
import { instanceNamed } from "./instance.ts";
import { cgroupMounts, mountsBelow, parseMounts } from "./mounts.ts";
import { ownedCgroups } from "./pod_cgroups.ts";

const MOUNTS = parseMounts(
  `/dev/vda / ext4 rw 0 0
cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0
tmpfs /state/a/kubelet tmpfs rw 0 0
overlay /state/a/kubelet/b\\040c overlay rw 0 0
tmpfs /state/ab tmpfs rw 0 0
`,
);

Deno.test({
  name: "mountsBelow() lists the innermost first, unescaped, and no neighbours",
  permissions: "none",
  fn() {
    assert.deepEqual(mountsBelow(MOUNTS, "/state/a"), [
      "/state/a/kubelet/b c",
      "/state/a/kubelet",
    ]);
  },
});

Deno.test({
  name: "ownedCgroups() of the default instance are kubepods and nothing else of the machine's",
  permissions: "none",
  fn() {
    const { roots, pods } = ownedCgroups(instanceNamed("coallocator"), cgroupMounts(MOUNTS));
    assert.deepEqual(roots, ["/sys/fs/cgroup/cpu/kubepods", "/sys/fs/cgroup/unified/kubepods"]);
    assert.deepEqual(pods, roots);
  },
});

Deno.test({
  name: "ownedCgroups() of another instance are a root of its own, on cgroup v2 alike",
  permissions: "none",
  fn() {
    assert.deepEqual(ownedCgroups(instanceNamed("b"), ["/sys/fs/cgroup"]), {
      roots: ["/sys/fs/cgroup/coallocator-b"],
      pods: ["/sys/fs/cgroup/coallocator-b/kubepods"],
    });
  },
});
