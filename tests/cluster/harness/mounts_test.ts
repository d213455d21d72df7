import assert from "node:assert/strict";
import { cgroupMounts, mountsBelow, parseMounts } from "./mounts.ts";

const MOUNTS = parseMounts(
  `/dev/vda / ext4 rw 0 0
cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0
cgroup /srv/part/cpu cgroup rw,cpu 0 0
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
  name: "cgroupMounts() are those of both versions, in their place",
  permissions: "none",
  fn() {
    assert.deepEqual(cgroupMounts(MOUNTS), ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/unified"]);
  },
});
