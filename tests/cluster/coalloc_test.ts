/**
 * `kubectl coalloc` against a real API server and kubelet: its doctor on a healthy node, and what the
 * other commands change and say.
 */
import assert from "node:assert/strict";
import { allocationPath, allocationsPath } from "../../adapters/kube/kinds/allocations.ts";
import { createPodResizer } from "../../adapters/kube/writers/pod_writers.ts";
import type { Diagnosis } from "../../cli/coalloc/doctor/check.ts";
import { newAllocation } from "../../controller/allocation/bounds/publish_bounds.ts";
import type { Pod } from "../../shared/api/pod.ts";
import { resizePatch } from "../../shared/resize/patch.ts";
import { SETTLED, thePod } from "./scene/limits.ts";
import { loadPod } from "./scene/load_pod.ts";
import { coalloc } from "./scene/product.ts";
import { onNode, type RealNode, requestToken, tokenKubeconfig } from "./scene/real_node.ts";
import { until } from "./scene/until.ts";

async function diagnosis(...flags: string[]): Promise<Diagnosis & { readonly code: number }> {
  const { code, stdout, stderr } = await coalloc("doctor", "-o", "json", ...flags);
  assert.equal(stderr, "");
  return { code, ...JSON.parse(stdout) };
}

/** Waits until the doctor has these warnings and errors and no others, has checked all, and ends well. */
async function whenDiagnosed(codes: readonly string[]): Promise<void> {
  await until(`a node with ${codes}`, async () => {
    const { findings, unchecked, code } = await diagnosis();
    const faults = findings.filter(({ severity }) => severity !== "info").map(({ code }) => code);
    assert.deepEqual([faults, unchecked, code], [codes, [], 0]);
    return true;
  }, { ...SETTLED, everyMs: 2000 });
}

Deno.test(
  "doctor finds nothing on a healthy node, and a pod of the market that a new limit would restart",
  onNode(async (node, { name: namespace }) => {
    await whenDiagnosed([]);
    const resizePolicy = "RestartContainer";
    const containers = [{ name: "load", request: "10m", limit: "20m", resizePolicy }] as const;
    await node.run(loadPod({ name: "restarting", namespace, containers }));
    await whenDiagnosed(["RestartsOnCPU"]);
  }),
);

Deno.test(
  "doctor says which rights a user lacks",
  onNode(async ({ connection }, { name: namespace }) => {
    const token = await requestToken(connection, { namespace, account: "default" });
    await using kubeconfig = await tokenKubeconfig(token);
    const { unchecked, code } = await diagnosis("--kubeconfig", kubeconfig.path);
    assert.equal(code, 3);
    assert.match(JSON.stringify(unchecked), /\blist nodes\b/);
  }),
);

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

Deno.test(
  "resize and restore change limits that the kubelet confirms, or say what the API refuses",
  onNode(async (node, scratch) => {
    const at = ["-n", scratch.name];
    const run = (name: string, limit = "200m"): Promise<Pod> =>
      node.run(loadPod({
        ...scratch.pod(name),
        // Out of the market of an installation that may run here: no other client changes its limits.
        annotations: { "mbcas.io/managed": "false" },
        containers: [{ name: "app", request: "50m", limit }],
      }));
    const assertLimit = async (name: string, limit: number, manager: string): Promise<void> => {
      const { containers: [app] } = await thePod(node, scratch.pod(name));
      assert.deepEqual([app?.limits.cpu, app?.applied.limits.cpu], [limit, limit]);
      assert.deepEqual(app?.limitManagers, [manager]);
    };

    await run("resized");
    const set = await coalloc("resize", "resized", ...at, "--cpu-limit=300m");
    assert.ok(set.stdout.startsWith(`${scratch.name}/resized  app 200m → 300m: `), set.stdout);
    assert.equal(set.code, 0);
    await assertLimit("resized", 300, "kubectl-coalloc");
    const invalid = await coalloc("resize", "resized", ...at, "--cpu-limit=20m");
    assert.equal(invalid.code, 1);
    assert.match(invalid.stdout, /Refused: Pod "resized" is invalid: .*cpu limit/);

    await leave(node, await run("blocked"), 100);
    await leave(node, await run("other", "60m"), 70);
    const ranges = `/api/v1/namespaces/${scratch.name}/limitranges`;
    await node.create(ranges, {
      metadata: { name: "small" },
      spec: { limits: [{ type: "Container", max: { cpu: "150m" }, default: { cpu: "150m" } }] },
    });
    const refused = await coalloc("restore", ...at, "--yes");
    assert.equal(refused.code, 1, refused.stdout);
    assert.match(refused.stdout, /^RestoreBlocked +\S+\/blocked +.*\bmaximum\b.*\b150m\b/m);
    const dry = await coalloc("restore", ...at, "--dry-run");
    assert.match(dry.stdout, /\/blocked {2}app 100m → 200m/);
    await node.remove(`${ranges}/small`);
    const restored = await coalloc("restore", ...at, "--yes");
    assert.equal(restored.code, 0, restored.stdout);
    await assertLimit("blocked", 200, "mbcas-restore");

    const top = await coalloc("top", ...at, "-o", "json");
    const names = JSON.parse(top.stdout).pods.map(({ pod }: { pod: string }) => pod);
    assert.deepEqual(names.sort(), ["blocked", "other"], top.stderr);
    const { stdout } = await coalloc("explain", "blocked", ...at);
    assert.match(stdout, /^[^:\n]+: OptedOut: /m);
    assert.match(stdout, /^ {2}app +limit 200m\b.*\b200m applied; request 50m$/m);
  }),
);
