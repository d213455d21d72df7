import assert from "node:assert/strict";
import { parseTraces, resultsOf } from "./machine_traces.ts";

Deno.test({
  name: "parseTraces() keeps known settings and folders, whatever else the file names",
  permissions: "none",
  fn() {
    const text = JSON.stringify({
      settings: { "kernel/panic": "1", "kernel/hostname": "x", "vm/panic_on_oom": 5 },
      absent: ["/var/lib/kubelet", "/etc", "/var/lib/kubelet/device-plugins"],
    });
    assert.deepEqual(parseTraces(text), {
      settings: { "kernel/panic": "1" },
      // What lies in another one comes before it.
      absent: ["/var/lib/kubelet/device-plugins", "/var/lib/kubelet"],
    });
    assert.deepEqual(parseTraces(`{"controllers":["cpu",5]}`).controllers, ["cpu"]);
    for (const broken of ["null", "5", "{}", `{"settings":null,"absent":"/"}`]) {
      assert.deepEqual(parseTraces(broken), { settings: {}, absent: [] }, broken);
    }
  },
});

Deno.test({
  name: "resultsOf() finds a network's files and the loopback devices of the same containers",
  permissions: "none",
  fn() {
    const mine = ["net-a-0aff-eth0", "cni-loopback-0aff-lo"];
    const others = ["net-ab-0bff-eth0", "cni-loopback-0bff-lo", "else"];
    assert.deepEqual(resultsOf("net-a", [...mine, ...others]), mine);
  },
});
