/** `kubectl coalloc` against a real API server and kubelet: what it changes, and what it says. */
import { patchRequest } from "../../adapters/kube/client/connection.ts";
import assert from "node:assert/strict";
import { newAllocation } from "../../controller/allocation/bounds/publish_bounds.ts";
import { connectKubeconfig } from "../../adapters/kube/client/connect.ts";
import { parsePod } from "../../adapters/kube/kinds/pods.ts";
import type { Pod } from "../../shared/api/pod.ts";
import { createKubectl } from "./kubectl.ts";
import { coalloc } from "./scene/product.ts";

const kubectl = createKubectl();
const namespace = `coalloc-cli-${crypto.randomUUID().slice(0, 8)}`;
const MANAGED = "mbcas.io/managed";

function manifest(name: string, limit = "200m"): unknown {
  return {
    apiVersion: "v1",
    kind: "Pod",
    // Out of the market of an installation that may run here: no other client changes its limits.
    metadata: { name, namespace, annotations: { [MANAGED]: "false" } },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [{
        name: "app",
        image: "busybox:stable",
        imagePullPolicy: "IfNotPresent",
        command: ["sleep", "1d"],
        resources: { requests: { cpu: "50m" }, limits: { cpu: limit } },
      }],
    },
  };
}

async function podOf(name: string): Promise<Pod> {
  const args = ["get", "pod", name, "-n", namespace, "-o", "json", "--show-managed-fields"];
  return parsePod(JSON.parse(await kubectl.must(args)));
}

async function limitOf(name: string) {
  const { containers: [container] } = await podOf(name);
  return {
    limit: container?.limits.cpu,
    applied: container?.applied.limits.cpu,
    managers: container?.limitManagers,
  };
}

async function run(name: string, limit?: string): Promise<Pod> {
  await kubectl.must(["create", "-f", "-"], manifest(name, limit));
  await kubectl.must(["wait", "-n", namespace, `pod/${name}`, "--for=condition=Ready"]);
  return await podOf(name);
}

/** Makes the pod look as the market leaves it: a record of its original limit, and another limit. */
async function takeIn(pod: Pod, limit: string): Promise<void> {
  const connection = await connectKubeconfig();
  try {
    const base = `/apis/allocation.mbcas.io/v1alpha1/namespaces/${namespace}/podallocations`;
    const { metadata: { uid: _uid, resourceVersion: _version, ...metadata }, ...rest } =
      newAllocation({ pod });
    // A controller that may run here leaves an allocation alone that speaks of another node.
    const spec = { ...rest.spec, nodeName: "elsewhere" };
    await connection.request({ method: "POST", path: base, body: { ...rest, metadata, spec } });
    await connection.request(
      patchRequest("merge", {
        path: `${base}/${metadata.name}/status`,
        body: { status: { originalLimits: [{ name: "app", cpu: "200m" }] } },
      }),
    );
  } finally {
    connection.close();
  }
  const patch = { spec: { containers: [{ name: "app", resources: { limits: { cpu: limit } } }] } };
  await kubectl.must([
    ...["patch", "pod", pod.metadata.name, "-n", namespace, "--subresource=resize"],
    ...["--field-manager=mbcas", "-p", JSON.stringify(patch)],
  ]);
}

Deno.test("kubectl coalloc on a real cluster", async (t) => {
  await kubectl.must(["create", "namespace", namespace]);
  try {
    await t.step("resize sets a limit that the kubelet confirms, as another manager", async () => {
      await run("resized");
      const { code, stdout } = await coalloc(
        "resize",
        "resized",
        "-n",
        namespace,
        "--cpu-limit=300m",
      );
      assert.ok(stdout.startsWith(`${namespace}/resized  app 200m → 300m: `), stdout);
      assert.equal(code, 0);
      assert.deepEqual(await limitOf("resized"), {
        limit: 300,
        applied: 300,
        managers: ["kubectl-coalloc"],
      });
      const refused = await coalloc("resize", "resized", "-n", namespace, "--cpu-limit=20m");
      assert.equal(refused.code, 1);
      assert.match(refused.stdout, /Refused: Pod "resized" is invalid: .*cpu limit/);
    });

    await t.step("restore brings one pod's original limit back, without a controller", async () => {
      await takeIn(await run("one"), "450m");
      const { code, stdout } = await coalloc("restore", `${namespace}/one`, "-o", "json");
      assert.equal(code, 0, stdout);
      const { results: [result] } = JSON.parse(stdout);
      assert.deepEqual([result.outcome, result.steps], [
        "Restored",
        [{ container: "app", from: 450, to: 200 }],
      ]);
      const managers = ["mbcas-restore"];
      assert.deepEqual(await limitOf("one"), { limit: 200, applied: 200, managers });
    });

    await t.step("restore names what the API refuses, and goes on with the others", async () => {
      await takeIn(await run("blocked"), "100m");
      await takeIn(await run("other", "60m"), "70m");
      await kubectl.must(["create", "-f", "-"], {
        apiVersion: "v1",
        kind: "LimitRange",
        metadata: { name: "small", namespace },
        spec: { limits: [{ type: "Container", max: { cpu: "150m" }, default: { cpu: "150m" } }] },
      });
      const { code, stdout } = await coalloc("restore", "-n", namespace, "--yes");
      assert.equal(code, 1, stdout);
      assert.match(stdout, /^RestoreBlocked +\S+\/blocked +.*\bmaximum\b.*\b150m\b/m);
      const dry = await coalloc("restore", "-n", namespace, "--dry-run");
      assert.match(dry.stdout, /\/blocked {2}app 100m → 200m/);
      await kubectl.must(["delete", "limitrange", "small", "-n", namespace]);
      const again = await coalloc("restore", "-n", namespace, "--yes");
      assert.equal(again.code, 0, again.stdout);
      assert.equal((await limitOf("blocked")).applied, 200);
      const value = await kubectl.must([
        ...["get", "namespace", namespace],
        ...["-o", `jsonpath={.metadata.annotations.mbcas\\.io/managed}`],
      ]);
      assert.equal(value, "false");
    });

    await t.step("top and explain read allocations and, where they run, agents", async () => {
      const top = await coalloc("top", "-n", namespace, "-o", "json");
      assert.equal(top.code, 0, top.stderr);
      const names = JSON.parse(top.stdout).pods.map(({ pod }: { pod: string }) => pod);
      assert.deepEqual(names.sort(), ["blocked", "one", "other"]);
      const { code, stdout } = await coalloc("explain", "one", "-n", namespace);
      assert.equal(code, 0);
      assert.match(stdout, /^[^:\n]+: OptedOut: /m);
      assert.match(stdout, /^ {2}app +limit 200m\b.*\b200m applied; request 50m$/m);
    });

    await t.step("completion names pods, for kubectl too", async () => {
      const { stdout } = await coalloc("__complete", "explain", "-n", namespace, "o");
      assert.equal(stdout, "one\nother\n:4\n");
    });

    await t.step("a context that is not there is a sentence and exit code 1", async () => {
      const { code, stderr } = await coalloc("top", "--context", "nowhere");
      assert.equal(code, 1);
      assert.match(stderr, /^Cannot .*nowhere/);
    });
  } finally {
    await kubectl.must(["delete", "namespace", namespace, "--wait=false"]);
  }
});
