/**
 * `kubectl coalloc` against a real API server and kubelet: its doctor on a healthy node, and what the
 * other commands change and say.
 *
 * @module
 */
import { objectOf } from "../../adapters/kube/client/json_fields.ts";
import type { Diagnosis } from "../../cli/coalloc/doctor/check.ts";
import { requestToken, tokenKubeconfig } from "./scene/account_token.ts";
import { SETTLED, thePod } from "./scene/limits.ts";
import { loadPod } from "./scene/load_pod.ts";
import { coalloc } from "./scene/product.ts";
import { onNode, openRealNode, type RealNode, scratchNamespace } from "./scene/real_node.ts";
import { until } from "./scene/until.ts";
import { allocationPath, allocationsPath } from "../../adapters/kube/kinds/allocations.ts";
import { createPodResizer } from "../../adapters/kube/writers/pod_writers.ts";
import { resizePatch } from "../../shared/resize/patch.ts";
import { newAllocation } from "../../controller/allocation/bounds/publish_bounds.ts";
import type { Pod } from "../../shared/api/pod.ts";
import assert from "node:assert/strict";

async function diagnosis(...flags: string[]): Promise<Diagnosis & { readonly code: number }> {
  const { code, stdout, stderr } = await coalloc("doctor", "-o", "json", ...flags);
  assert.equal(stderr, "");
  return { code, ...JSON.parse(stdout) };
}

/** Codes of warnings and errors: the node's version of cgroups and the like are worth knowing only. */
function faultsOf({ findings }: Diagnosis): readonly string[] {
  return findings.filter(({ severity }) => severity !== "info").map(({ code }) => code).sort();
}

Deno.test(
  "doctor finds nothing on a healthy node, and a pod of the market that a new limit would restart",
  onNode(async (node, { name: namespace }) => {
    // Programs that a test before has restarted may not be ready yet.
    await until("a node without findings", async () => {
      const healthy = await diagnosis();
      assert.deepEqual([faultsOf(healthy), healthy.unchecked, healthy.code], [[], [], 0]);
      return true;
    }, { ...SETTLED, everyMs: 2000 });
    const resizePolicy = "RestartContainer";
    const containers = [{ name: "load", request: "10m", limit: "20m", resizePolicy }] as const;
    await node.run(loadPod({ name: "restarting", namespace, containers }));
    await until("finding", async () => {
      const found = await diagnosis();
      assert.deepEqual([faultsOf(found), found.code], [["RestartsOnCPU"], 0]);
      return true;
    }, { ...SETTLED, everyMs: 2000 });
  }),
);

Deno.test(
  "doctor says which rights a user lacks",
  onNode(async ({ connection }, { name: namespace }) => {
    const token = await requestToken(connection, { namespace, account: "default" });
    await using kubeconfig = await tokenKubeconfig(token);
    const { unchecked, code } = await diagnosis("--kubeconfig", kubeconfig.path);
    assert.equal(code, 3);
    const reasons = unchecked.map(({ why }) => why);
    assert.ok(
      reasons.some((why) => why.includes("the right to list nodes is missing")),
      reasons.join(),
    );
  }),
);

const MANAGED = "mbcas.io/managed";

/** Makes the pod look as the market leaves it: a record of its original limit, and another limit. */
async function leave(node: RealNode, pod: Pod, limit: number): Promise<void> {
  const { metadata: { uid: _uid, resourceVersion: _version, ...metadata }, ...rest } =
    newAllocation({ pod });
  const { namespace, name, uid } = pod.metadata;
  // A controller that may run here leaves an allocation alone that speaks of another node.
  const spec = { ...rest.spec, nodeName: "elsewhere" };
  await node.create(allocationsPath(namespace), { ...rest, metadata, spec });
  const originalLimits = [{ name: "app", cpu: "200m" }];
  await node.merge(`${allocationPath(metadata)}/status`, { status: { originalLimits } });
  const change = { name: "app", sidecar: false, requests: {}, limits: { cpu: limit } };
  await createPodResizer(node.connection).resize(namespace, name, resizePatch(uid, [change]));
}

Deno.test("kubectl coalloc on a real cluster", async (t) => {
  using node = await openRealNode();
  await using scratch = await scratchNamespace(node.connection);
  const { name: namespace } = scratch;
  const run = (name: string, limit = "200m"): Promise<Pod> =>
    node.run(loadPod({
      ...scratch.pod(name),
      // Out of the market of an installation that may run here: no other client changes its limits.
      annotations: { [MANAGED]: "false" },
      containers: [{ name: "app", request: "50m", limit }],
    }));
  const limitOf = async (name: string) => {
    const { containers: [container] } = await thePod(node, scratch.pod(name));
    return {
      limit: container?.limits.cpu,
      applied: container?.applied.limits.cpu,
      managers: container?.limitManagers,
    };
  };

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
    await leave(node, await run("one"), 450);
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
    await leave(node, await run("blocked"), 100);
    await leave(node, await run("other", "60m"), 70);
    const ranges = `/api/v1/namespaces/${namespace}/limitranges`;
    await node.create(ranges, {
      metadata: { name: "small" },
      spec: { limits: [{ type: "Container", max: { cpu: "150m" }, default: { cpu: "150m" } }] },
    });
    const { code, stdout } = await coalloc("restore", "-n", namespace, "--yes");
    assert.equal(code, 1, stdout);
    assert.match(stdout, /^RestoreBlocked +\S+\/blocked +.*\bmaximum\b.*\b150m\b/m);
    const dry = await coalloc("restore", "-n", namespace, "--dry-run");
    assert.match(dry.stdout, /\/blocked {2}app 100m → 200m/);
    await node.remove(`${ranges}/small`);
    const again = await coalloc("restore", "-n", namespace, "--yes");
    assert.equal(again.code, 0, again.stdout);
    assert.equal((await limitOf("blocked")).applied, 200);
    const { metadata } = objectOf(await node.find(`/api/v1/namespaces/${namespace}`));
    assert.equal(objectOf(objectOf(metadata).annotations)[MANAGED], "false");
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
});
