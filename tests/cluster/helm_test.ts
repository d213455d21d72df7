/**
 * The files of `deno task release:dry` on a real node, as docs/install.md has it: the chart is installed
 * into a namespace of its user's choice, tested, upgraded and uninstalled; then install.yaml is applied, from
 * which the chart does not differ, taken over by Helm, and deleted. Nothing of the product is left, and after
 * the chart every pod has the limits that it came with. The overlay of the other tests is taken away before,
 * and is back in the end.
 */
import assert from "node:assert/strict";
import { listOf, objectOf } from "../../adapters/kube/client/json_fields.ts";
import { goProgram } from "../../tools/release/go_program.ts";
import { CHART_FILE, RELEASE_FOLDER } from "../../tools/release/release_names.ts";
import { loadImage } from "./harness/install/image_archive.ts";
import { run } from "./harness/shell.ts";
import { createKubectl } from "./kubectl.ts";
import { parseObjects } from "./rendered_manifests.ts";
import { clusterInstance } from "./scene/harness_access.ts";
import { appliedAllocation, SETTLED, thePod } from "./scene/limits.ts";
import { loadPod } from "./scene/load_pod.ts";
import { enforcedLimits, podDirectories } from "./scene/node_cgroups.ts";
import {
  CLUSTER_KINDS,
  coalloc,
  leftovers,
  PRODUCT_NAMESPACE,
  whenReady,
} from "./scene/product.ts";
import {
  openRealNode,
  type PodName,
  type RealNode,
  type ScratchNamespace,
  scratchNamespace,
} from "./scene/real_node.ts";
import { until } from "./scene/until.ts";

const root = new URL("../../", import.meta.url).pathname;
const kubectl = createKubectl();
const overlay = `${root}manifests/overlays/kind`;
const PART_OF = "app.kubernetes.io/part-of=coallocator";
const definitions = ["crd", "-l", PART_OF];
/** Where the chart is installed first. */
const OTHER_NAMESPACE = "cpu-market";

async function whenLeft(expected: readonly string[]): Promise<void> {
  await until(`end of all but ${expected}`, async () => {
    assert.deepEqual(await leftovers(), expected);
    return true;
  }, SETTLED);
}

Deno.test("installed from a release's files, the product works; uninstalled, nothing is left", async () => {
  await run([Deno.execPath(), "task", "-q", "release:dry"], { directory: root });
  const release = `${root}${RELEASE_FOLDER}`;
  for (const program of ["mbcas-agent", "mbcas-controller"]) {
    await loadImage(clusterInstance(), `${release}/${program}.tar`);
  }
  const defined = await kubectl.must(["get", "crd", "-o", "name"]);
  await kubectl.must(["delete", "-k", overlay, "--timeout=120s"]);
  // With what another version has left.
  await kubectl.must(["delete", CLUSTER_KINDS, "-l", PART_OF, "--ignore-not-found"]);
  await kubectl.must(["delete", "-k", `${root}manifests/crds`, "--ignore-not-found"]);
  await whenLeft([]);
  using node = await openRealNode();
  const chart = `${release}/${CHART_FILE}`;
  const manifest = `${release}/install.yaml`;
  try {
    await helmOnly(chart, node);
    await kubectl.must(["apply", "-f", manifest]);
    await whenReady(node, "mbcas-controller", 2);
    await whenReady(node, "mbcas-agent", 1);
    const helm = helmIn(PRODUCT_NAMESPACE);
    const objects = parseObjects(await helm("template", "coallocator", chart, "--skip-tests"));
    const list = { apiVersion: "v1", kind: "List", items: objects };
    assert.equal(await kubectl.must(["diff", "-f", "-"], list), "");
    const taking = ["--take-ownership", "--force-conflicts", ...WAIT];
    await helm("install", "coallocator", chart, ...taking);
    await helm("test", "coallocator");
    await kubectl.must(["delete", "-f", manifest, "--timeout=120s"]);
    await whenLeft([]);
  } finally {
    // A release that a failure has left would be in the way of this overlay and of other tests.
    await helmIn(OTHER_NAMESPACE)("uninstall", "coallocator", "--ignore-not-found", ...WAIT);
    await kubectl.must(["delete", "namespace", OTHER_NAMESPACE, ...GONE]);
    await kubectl.must(["apply", "-k", overlay]);
    if (/optipod/.test(defined)) await kubectl.must(["apply", "-k", `${root}manifests/crds`]);
    await whenReady(node, "mbcas-controller", 2);
    await whenReady(node, "mbcas-agent", 1);
  }
});

function helmIn(namespace: string): (...args: string[]) => Promise<string> {
  return async (...args) => await run([await goProgram("helm"), "--namespace", namespace, ...args]);
}

const WAIT = ["--wait", "--timeout", "3m"];
const GONE = ["--ignore-not-found", "--timeout=120s"];

/** Original limits by pod and container; small, so that they are raised beside each other. */
const ORIGINAL: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  alone: { load: 100 },
  pair: { load: 80, side: 60 },
  idle: { load: 110 },
};

/** Limits by container: what spec, kubelet and kernel say, which must be the same three times. */
async function limitsOf(node: RealNode, name: PodName): Promise<Record<string, number>> {
  const pod = await thePod(node, name);
  const { containers } = enforcedLimits(podDirectories(pod));
  return Object.fromEntries(pod.containers.map(({ name, limits, applied }) => {
    const kernel = containers.get(name) ?? 0;
    const others = [limits.cpu, applied.limits.cpu];
    assert.deepEqual(others, [kernel, kernel], `three limits of ${name}`);
    return [name, kernel];
  }));
}

/** Runs the pods, and all but the idle one under load until their limits are raised. */
async function runRaised(node: RealNode, namespace: ScratchNamespace): Promise<void> {
  const pods = await Promise.all(
    Object.entries(ORIGINAL).map(([name, limits]) =>
      node.run(loadPod({
        ...namespace.pod(name),
        containers: Object.entries(limits).map(([container, limit]) => ({
          ...{ name: container, request: "30m", limit: `${limit}m`, burstSeconds: 300 },
        })),
      }))
    ),
  );
  for (const pod of pods) await appliedAllocation(node, pod);
  const loaded = ["alone", "pair"].map(namespace.pod);
  for (const name of loaded) await node.signal(name, "load");
  await until("limits other than their own", async () => {
    const now = await Promise.all(loaded.map((name) => limitsOf(node, name)));
    assert.ok(now.every(({ load = 0 }) => load > 160), JSON.stringify(now));
    return true;
  }, SETTLED);
}

async function helmOnly(chart: string, node: RealNode): Promise<void> {
  const helm = helmIn(OTHER_NAMESPACE);
  const controller = ["deployment/mbcas-controller", "-n", OTHER_NAMESPACE];
  const notes = await helm("install", "coallocator", chart, "--create-namespace", ...WAIT);
  assert.ok(notes.includes(`COALLOC_SYSTEM_NAMESPACE=${OTHER_NAMESPACE} `), notes);
  await helm("test", "coallocator");
  await kubectl.must(["scale", ...controller, "--replicas=0"]);
  await kubectl.must(["rollout", "status", ...controller]);
  // A controller that ends goes on answering for a moment.
  const pods = ["pod", "-l", "app.kubernetes.io/name=mbcas-controller", "-n", OTHER_NAMESPACE];
  await kubectl.must(["wait", "--for=delete", ...pods, "--timeout=60s"]);
  await assert.rejects(helm("test", "coallocator"));
  await kubectl.must(["scale", ...controller, "--replicas=2"]);

  const on = "components.webhook=true,components.rightsizing=true,components.placement=true";
  await helm("upgrade", "coallocator", chart, "--set", on, ...WAIT);
  await helm("test", "coallocator");
  const crds = (await kubectl.must(["get", ...definitions, "-o", "name"])).trim().split("\n");
  assert.equal(crds.length, 3, crds.join());

  await using namespace = await scratchNamespace(node.connection);
  await runRaised(node, namespace);
  Deno.env.set("COALLOC_SYSTEM_NAMESPACE", OTHER_NAMESPACE);
  try {
    // From the agent's view: without access to it the source would be the allocation.
    const top = await coalloc("top", "-n", namespace.name, "-o", "json");
    assert.equal(JSON.parse(top.stdout).pods[0]?.source, "agent", top.stdout + top.stderr);
    const restored = await coalloc("restore", "--all", "--yes");
    assert.equal(restored.code, 0, restored.stdout + restored.stderr);
  } finally {
    Deno.env.delete("COALLOC_SYSTEM_NAMESPACE");
  }
  await until("end of all allocations", async () => {
    const { stdout, stderr } = await kubectl.run(["get", "podallocations", "-A"]);
    return /No resources found/.test(stdout + stderr) || undefined;
  }, SETTLED);
  await helm("uninstall", "coallocator", ...WAIT);
  for (const [pod, limits] of Object.entries(ORIGINAL)) {
    assert.deepEqual(await limitsOf(node, namespace.pod(pod)), limits, pod);
  }
  const raw = await node.items(`/api/v1/namespaces/${namespace.name}/pods`);
  const statuses = raw.flatMap(({ status }) => listOf(objectOf(status).containerStatuses));
  for (const one of statuses) assert.equal(objectOf(one).restartCount, 0, "never restarted");
  await kubectl.must(["delete", "namespace", OTHER_NAMESPACE, "--timeout=120s"]);
  await whenLeft(crds.filter((name) => name.includes("mbcas")));
  await kubectl.must(["delete", ...definitions]);
  await whenLeft([]);
}
