/**
 * Rightsizing on a real node: running pods get what their workload's policy recommends without a
 * restart, and nothing of a workload changes where a policy only recommends. By the template it is one
 * rollout with the values of all containers.
 */
import assert from "node:assert/strict";
import { listOf, objectOf } from "../../adapters/kube/client/json_fields.ts";
import { podListWatch } from "../../adapters/kube/kinds/pods.ts";
import { createKubectl } from "./kubectl.ts";
import { withAllComponents } from "./scene/all_components.ts";
import { deploymentPods, readyPod } from "./scene/limits.ts";
import { loadDeployment } from "./scene/load_pod.ts";
import {
  CYCLES,
  deploymentText,
  optimizationPolicy,
  recordOf,
  UNDERSIZED,
  whenRecord,
} from "./scene/optimization_policies.ts";
import { openRealNode, type PodName, type RealNode, scratchNamespace } from "./scene/real_node.ts";
import { pause, until } from "./scene/until.ts";

const MI = 2 ** 20;

const kubectl = createKubectl();

/** The CPU request, m, with which another pod of the Deployment is stored first. */
async function firstRequest(
  { connection }: Pick<RealNode, "connection">,
  { namespace, name }: PodName,
  { but }: { readonly but: string },
): Promise<number | undefined> {
  const source = podListWatch(connection, { namespace, labelSelector: `app=${name}` });
  const end = AbortSignal.timeout(CYCLES.timeoutMs);
  const { resourceVersion } = await source.list(end);
  for await (const event of source.watch(resourceVersion, end)) {
    if (event.type === "ADDED" && event.object.metadata.name !== but) {
      return event.object.containers[0]?.requests.cpu;
    }
  }
  return undefined;
}

Deno.test("a policy in mode Auto moves the requests of running pods in place and of new ones as they are made, one in mode Recommend moves none", async () => {
  using node = await openRealNode();
  await using _installed = await withAllComponents(kubectl);
  await using acted = await scratchNamespace(node.connection);
  await using reported = await scratchNamespace(node.connection);
  const web = acted.pod("web");
  const same = reported.pod("web");
  const manifest = (workload: PodName) => loadDeployment({ ...workload, containers: [UNDERSIZED] });
  for (const one of [web, same]) await kubectl.must(["apply", "-f", "-"], manifest(one));
  const pod = await readyPod(node, web, CYCLES);
  const before = await deploymentText(kubectl, web);
  const beforeSame = await deploymentText(kubectl, same);
  for (const [mode, { namespace }] of [["Auto", web], ["Recommend", same]] as const) {
    await kubectl.must(["apply", "-f", "-"], optimizationPolicy({ mode, namespace }));
  }

  const record = await whenRecord(node, web, ({ appliedAtMs }) => appliedAtMs !== undefined);
  const [inForce] = record.inForce;
  assert.equal(record.method, "InPlace");
  assert.ok((inForce?.cpu ?? 0) >= 10, `${inForce?.cpu}`);
  const resized = await until("resized pod", async () => {
    const [first] = await deploymentPods(node, web);
    const [container] = first?.containers ?? [];
    const isThere = container?.applied.requests.cpu === container?.requests.cpu &&
      container?.requests.cpu !== 5;
    return isThere ? first : undefined;
  }, CYCLES);
  const [container] = resized.containers;
  assert.equal(resized.metadata.uid, pod.metadata.uid);
  assert.equal(container?.containerID, pod.containers[0]?.containerID, "not restarted");
  assert.equal(container?.limits.memory, 64 * MI, "requests only");
  // Idle memory is far below the least that the policy allows.
  assert.equal(container?.requests.memory, 16 * MI);

  // A pod that comes later is made with them: the first that the watch shows of it.
  // Its values are those in force before, or after it was made: no two changes are so close.
  const cpuInForce = async (): Promise<number | undefined> =>
    (await recordOf(node, web))?.inForce[0]?.cpu;
  const cpuBefore = await cpuInForce();
  const first = firstRequest(node, web, { but: pod.metadata.name });
  await kubectl.must(["scale", "deployment/web", "-n", web.namespace, "--replicas=2"]);
  const made = await first;
  const cpuAfter = await cpuInForce();
  assert.ok(made === cpuBefore || made === cpuAfter, `${made} of ${cpuBefore}, ${cpuAfter}`);
  const unscaled = (text: string): string =>
    text.replace(/^\d+ /, "").replace(/"replicas":\d+/, "");
  assert.equal(unscaled(await deploymentText(kubectl, web)), unscaled(before));

  const recommended = await whenRecord(node, same, ({ status }) => status === "Recommended");
  assert.deepEqual(recommended.inForce, []);
  assert.ok((recommended.recommendations[0]?.cpu ?? 0) >= 10);
  const [untouched] = await deploymentPods(node, same);
  assert.equal(untouched?.containers[0]?.requests.cpu, 5);
  assert.equal(await deploymentText(kubectl, same), beforeSame);
  const diff = await kubectl.run(["diff", "-f", "-"], manifest(same));
  assert.deepEqual(diff, { ok: true, stdout: "", stderr: "" });
});

/** Three cycles and more. */
const QUIET_MS = 35_000;
const CONTAINERS = [
  UNDERSIZED,
  { name: "log", request: "100m", limit: "200m", memory: "48Mi" },
];
const NAMES = CONTAINERS.map(({ name }) => name);

/** A Deployment's generation and pod template: what rightsizing may write of it, and the rest. */
async function templateOf({ namespace, name }: PodName): Promise<{
  readonly generation: number;
  readonly requests: Readonly<Record<string, unknown>>;
  readonly others: unknown;
}> {
  const get = ["get", `deployment/${name}`, "-n", namespace, "-o", "json"];
  const { metadata, spec: { template } } = JSON.parse(await kubectl.must(get));
  const containers = listOf(template.spec.containers).map(objectOf);
  const rest = containers.map(({ resources, ...one }) => [one, objectOf(resources).limits]);
  return {
    generation: metadata.generation,
    requests: Object.fromEntries(
      containers.map(({ name, resources }) => [name, objectOf(resources).requests]),
    ),
    others: { ...template.spec, containers: rest },
  };
}

Deno.test("recreation rolls a Deployment once with the values of both containers", async () => {
  using node = await openRealNode();
  await using _installed = await withAllComponents(kubectl);
  await using namespace = await scratchNamespace(node.connection);
  const web = namespace.pod("web");
  await node.deploy(loadDeployment({ ...web, containers: CONTAINERS }));
  const pod = await readyPod(node, web, CYCLES);
  const before = await templateOf(web);
  const policy = optimizationPolicy({
    mode: "Auto",
    namespace: namespace.name,
    // One rollout within the test, however usage moves.
    strategy: { allowInPlaceResize: false, allowRecreate: true, cooldown: "30m" },
  });
  await kubectl.must(["apply", "-f", "-"], policy);
  const { method, inForce } = await whenRecord(
    node,
    web,
    ({ appliedAtMs }) => appliedAtMs !== undefined,
  );
  assert.equal(method, "Recreate");
  assert.deepEqual(inForce.map(({ container }) => container), NAMES);
  const containers = await until("pod of the new template", async () => {
    const [only, ...others] = await deploymentPods(node, web);
    const isThere = only?.ready && others.length === 0 && only.metadata.uid !== pod.metadata.uid;
    return isThere ? only.containers : undefined;
  }, CYCLES);
  assert.deepEqual(
    containers.map(({ name, requests: { cpu, memory } }) => [name, cpu, memory]),
    inForce.map(({ container, cpu, memory }) => [container, cpu, memory]),
  );

  await pause(QUIET_MS);
  const after = await templateOf(web);
  assert.deepEqual([after.generation, after.others], [before.generation + 1, before.others]);
  for (const name of NAMES) assert.notDeepEqual(after.requests[name], before.requests[name]);
  const sets = ["get", "replicasets", "-n", web.namespace, "-l", "app=web", "-o", "name"];
  assert.equal((await kubectl.must(sets)).trim().split("\n").length, 2, "rolled once");
});
