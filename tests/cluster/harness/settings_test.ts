import assert from "node:assert/strict";
import { parseSettings } from "./settings.ts";

const settings = {
  cpuManager: "static",
  cpuQuota: "off",
  cniFolder: "/cni",
  snapshotter: "native",
  binaries: { etcd: "/bin/etcd" },
};

Deno.test({
  name: "parseSettings() reads settings and refuses what an older harness wrote",
  permissions: "none",
  fn() {
    assert.deepEqual(parseSettings(JSON.stringify(settings)), settings);
    const { cpuQuota: _quota, ...before } = settings;
    assert.equal(parseSettings(JSON.stringify(before)).cpuQuota, "on");
    for (const wrong of [{}, { ...settings, more: 1 }, { ...settings, cpuManager: "x" }]) {
      assert.throws(() => parseSettings(JSON.stringify(wrong)), SyntaxError);
    }
  },
});
