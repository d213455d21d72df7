/**
 * The harness leaves nothing behind. Tried with a second cluster beside the one of the other tests;
 * skipped where there is none, without root, and where the tests run against another cluster.
 *
 * @module
 */
import assert from "node:assert/strict";
import { folderEntries } from "./harness/shell.ts";
import { instanceNamed } from "./harness/instance.ts";
import { cgroupMounts, readMounts } from "./harness/cgroups.ts";
import { canRunHarness, harness } from "./scene/harness_access.ts";

const NAME = "selftest";
const instance = instanceNamed(NAME);

const POD = JSON.stringify({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "trial" },
  spec: {
    automountServiceAccountToken: true,
    containers: [{
      name: "busy",
      image: "busybox:stable",
      imagePullPolicy: "IfNotPresent",
      command: ["sh", "-c", "while :; do :; done"],
      resources: { limits: { cpu: "50m", memory: "32Mi" } },
    }],
  },
});

/** What names the instance: mounts, cgroups, processes and files of the machine. */
async function traces(): Promise<readonly string[]> {
  const folders = [];
  for (const path of [instance.namespace, instance.directory]) {
    const [folder, wanted] = parentAndName(path);
    if ((await folderEntries(folder)).some(({ name }) => name === wanted)) folders.push(path);
  }
  const mounts = await readMounts();
  const results = (await folderEntries("/var/lib/cni/results")).map(({ name }) => name);
  const processes = [];
  for (const { name } of await folderEntries("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const line = await Deno.readTextFile(`/proc/${name}/cmdline`).catch(() => "");
    if (line.includes(`${instance.directory}/`)) processes.push(`process ${name}`);
  }
  const cgroups = [];
  for (const hierarchy of cgroupMounts(mounts)) {
    for (const { name } of await folderEntries(hierarchy)) {
      if (`/${name}` === instance.cgroupRoot) cgroups.push(`${hierarchy}/${name}`);
    }
  }
  return [
    ...folders,
    ...mounts.map(({ path }) => path).filter((path) => path.startsWith(instance.directory)),
    ...results.filter((name) => name.includes(`-${NAME}-`)),
    ...processes,
    ...cgroups,
  ];
}

function parentAndName(path: string): readonly [string, string] {
  const at = path.lastIndexOf("/");
  return [path.slice(0, at), path.slice(at + 1)];
}

Deno.test({
  name: "bringDown() leaves no process, mount, cgroup, namespace or file of a cluster with a pod",
  ignore: !canRunHarness(NAME),
  async fn() {
    await harness("down", "--name", NAME);
    assert.deepEqual(await traces(), []);
    try {
      await harness("up", "--name", NAME);
      const kubectl = (...args: string[]): Promise<string> =>
        harness("exec", "--name", NAME, "--", "kubectl", ...args);
      await Deno.writeTextFile(`${instance.directory}/trial.json`, POD);
      await kubectl("apply", "-f", `${instance.directory}/trial.json`);
      await kubectl("wait", "--for=condition=Ready", "pod/trial", "--timeout=30s");
      const kinds = (await traces()).map((trace) => trace.replace(/\d+$/, "").split("/")[1] ?? "p");
      for (const kind of ["var", "sys", "p"]) assert.ok(kinds.includes(kind), kinds.join());
      assert.match(await harness("up", "--name", NAME), /is up already/);
    } finally {
      await harness("down", "--name", NAME);
    }
    assert.deepEqual(await traces(), []);
    assert.match(await harness("down", "--name", NAME), /is not up/);
  },
});

Deno.test({
  name: "startComponent() brings back the API server that stopComponent() ended",
  ignore: !canRunHarness(NAME),
  async fn() {
    try {
      await harness("up", "--name", NAME);
      await harness("stop-component", "--name", NAME, "kube-apiserver");
      const status = harness("status", "--name", NAME);
      await assert.rejects(status, /exit code 1/);
      await harness("start-component", "--name", NAME, "kube-apiserver");
      const answer = await harness("exec", "--name", NAME, "--", "kubectl", "get", "namespaces");
      assert.match(answer, /kube-system/);
    } finally {
      await harness("down", "--name", NAME);
    }
  },
});
