import assert from "node:assert/strict";
import { type ClusterStatus, execExample, residentBytes, statusTable } from "./cluster_status.ts";
import { reasonIn } from "./components/probe.ts";

const status: ClusterStatus = {
  name: "trial",
  ready: false,
  kubeconfig: "/k",
  namespace: "/n",
  etcd: "http://e",
  node: { name: "trial-node", ready: true, reason: "", allocatableCPU: "2" },
  components: [
    { name: "etcd", pid: 42, memoryBytes: 50 * 2 ** 20, ready: true, reason: "", log: "/l" },
    {
      name: "kubelet",
      pid: null,
      memoryBytes: null,
      ready: false,
      reason: "not running",
      log: "/l",
    },
  ],
};

Deno.test({
  name: "statusTable() aligns the columns and says why something is not ready",
  permissions: "none",
  fn() {
    const lines = statusTable(status).split("\n");
    assert.equal(lines[0], "COMPONENT  PID  MEMORY  READY");
    assert.equal(lines[1], "etcd       42   50 MiB  yes");
    assert.equal(lines[2], "kubelet    -    -       no: not running");
    assert.ok(lines.includes("node        trial-node: ready, 2 CPUs allocatable"));
  },
});

Deno.test({
  name: "residentBytes() reads VmRSS, and null where there is none",
  permissions: "none",
  fn() {
    assert.equal(residentBytes("VmPeak:\t  9 kB\nVmRSS:\t  280 kB\n"), 280 * 1024);
    assert.equal(residentBytes("State:\tZ (zombie)\n"), null);
  },
});

Deno.test({
  name: "reasonIn() finds the check that failed among those that passed",
  permissions: "none",
  fn() {
    assert.equal(reasonIn("[+]ping ok\n[-]etcd failed: x\nmore"), "[-]etcd failed: x");
    assert.equal(reasonIn("no\nmore"), "no");
  },
});

Deno.test({
  name: "execExample() names the instance unless it is the default one",
  permissions: "none",
  fn() {
    assert.equal(execExample("coallocator"), "deno task cluster:exec -- kubectl get pods -A");
    assert.match(execExample("b"), /cluster:exec --name b -- kubectl/);
  },
});
