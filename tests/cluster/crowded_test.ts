/**
 * A crowded node: three namespaces with quotas, one with a LimitRange, an autoscaler, eight equal
 * workers, a pod that is opted out and one that is never Ready.
 *
 * All requests and original limits fit, with every replica that the autoscaler may ask for and a pod
 * more of the largest. What the market would like to raise limits to does not fit: each quota is met.
 *
 * @module
 */
import assert from "node:assert/strict";
import { allocationsPath } from "../../adapters/kube/kinds/allocations.ts";
import {
  type JSONObject,
  listOf,
  objectOf,
  textOf,
} from "../../adapters/kube/client/json_fields.ts";
import type { KubeConnection } from "../../adapters/kube/client/connection.ts";
import { parsePod } from "../../adapters/kube/kinds/pods.ts";
import { MANAGED } from "../../shared/api/market_keys.ts";
import type { Pod } from "../../shared/api/pod.ts";
import { parseCPU } from "../../shared/quantity.ts";
import { markAudit, readAuditSince, type ResizeAnswer } from "../../lab/bench/audit_log.ts";
import { auditLog } from "./harness/component.ts";
import { clusterInstance } from "./scene/harness_access.ts";
import { deploymentPods, quotaOf, readyPod } from "./scene/limits.ts";
import { autoscalerOf, autoscalersPath, loadDeployment, loadPod } from "./scene/load_pod.ts";
import { processOne } from "./scene/node_cgroups.ts";
import { productMetrics } from "./scene/product.ts";
import {
  openRealNode,
  type RealNode,
  type ScratchNamespace,
  scratchNamespace,
} from "./scene/real_node.ts";
import { pause, until } from "./scene/until.ts";

/** The autoscaler has scaled up by then. */
const SECONDS = 90;
/** Bounds that the scene is made for. */
const RULES = ["QuotaExceeded", "LimitRange", "HPAFloor", "PodNotReady"];
const WORKERS = Array.from({ length: 8 }, (_, index) => `worker-${index}`);
/** Original limit of the pod that is opted out, millicores. */
const ASIDE = 200;

interface Scene {
  readonly node: RealNode;
  readonly shop: string;
  readonly batch: string;
  readonly lab: string;
}

/** What is read every second. */
interface Looks {
  /** Limits of a namespace, what its quota counts, and what that allows; millicores. */
  readonly quotas: { limits: number; used: number; hard: number }[];
  /** Limits of the pod that is never Ready, in its spec and in the kernel, and that of the opted-out pod. */
  readonly unready: { spec: number; kernel: number }[];
  readonly aside: Set<number>;
  readonly replicas: Set<unknown>;
  /** Reasons of bounds. */
  readonly rules: Set<string | undefined>;
}

Deno.test(
  "a crowded node keeps its quotas, and what is not the market's is left as it is",
  crowded,
);

async function crowded(test: Deno.TestContext): Promise<void> {
  using node = await openRealNode();
  await using shop = await namespaceWith(node, { limits: "1", requests: "400m" });
  await using batch = await namespaceWith(node, { limits: "750m", requests: "300m" });
  await using lab = await namespaceWith(node, { limits: "820m", requests: "300m" });
  const scene = { node, shop: shop.name, batch: batch.name, lab: lab.name };
  const mark = await markAudit(auditLog(clusterInstance()));
  const refusedBefore = await refusalsCounted(node);
  await putUp(scene);
  const before = await dumpCluster(scene);
  const looks = await play(scene);
  const after = await dumpCluster(scene);
  const answers = await readAuditSince(mark);
  await test.step("quotas, LimitRange, autoscaler and readiness set bounds, and limits change", () => {
    assert.deepEqual(RULES.filter((rule) => !looks.rules.has(rule)), []);
    assert.ok(answers.some(({ code }) => code === 200));
  });
  await test.step("no write is refused that a check could have foreseen", async () => {
    assert.deepEqual(answers.filter(isRefusal), []);
    assert.equal(await refusalsCounted(node) - refusedBefore, 0);
  });
  await test.step("limits and what is counted of them stay within each quota", () => {
    assert.equal(looks.quotas.length, 3 * SECONDS);
    assert.deepEqual(
      looks.quotas.filter(({ limits, used, hard }) => Math.max(limits, used) > hard),
      [],
    );
  });
  await test.step("no object is changed, made or removed that is not the market's", () => {
    for (const key of new Set([...before.keys(), ...after.keys()])) {
      const isReplica = key.startsWith(`pods. ${scene.shop}/web-`);
      const both = [before.get(key), after.get(key)];
      if (isReplica && both.includes(undefined)) continue;
      // Secrets are not shown.
      if (key.startsWith("secrets.")) assert.ok(both[0] === both[1], key);
      else assert.equal(both[1], both[0], key);
    }
  });
  await test.step("the opted-out pod's limit stays, and no other one is asked for", () => {
    assert.deepEqual([...looks.aside], [ASIDE]);
    assert.deepEqual(answers.filter(({ pod }) => pod === "aside"), []);
  });
  await test.step("the limit of the pod that is never Ready is not lowered", () => {
    for (const where of ["spec", "kernel"] as const) {
      const limits = looks.unready.map((look) => look[where]);
      assert.deepEqual(limits, limits.toSorted((a, b) => a - b));
    }
  });
  await test.step("the autoscaler scales up", () => assert.ok(looks.replicas.size > 1));
}

async function namespaceWith(
  { connection, create }: RealNode,
  { limits, requests }: { readonly limits: string; readonly requests: string },
): Promise<ScratchNamespace> {
  const namespace = await scratchNamespace(connection);
  const path = `/api/v1/namespaces/${namespace.name}/resourcequotas`;
  const hard = { "limits.cpu": limits, "requests.cpu": requests };
  await create(path, { metadata: { name: "cpu" }, spec: { hard } });
  // Before its first count the server refuses every pod.
  await until("counted quota", async () => {
    const { status } = objectOf(await connection.request({ path: `${path}/cpu` }));
    return objectOf(status)["hard"] === undefined ? undefined : true;
  });
  return namespace;
}

/** Makes the pods, and waits until all run and the autoscaler has figures. */
async function putUp({ node, shop, batch, lab }: Scene): Promise<void> {
  const steady = { name: "load", request: "60m", limit: "120m", burstSeconds: 60 };
  const labPods = `/api/v1/namespaces/${lab}/pods`;
  await node.create(`/api/v1/namespaces/${lab}/limitranges`, {
    metadata: { name: "cpu" },
    spec: {
      limits: [{
        type: "Container",
        ...{ min: { cpu: "30m" }, max: { cpu: "220m" } },
        ...{ defaultRequest: { cpu: "30m" }, default: { cpu: "220m" } },
      }],
    },
  });
  for (const name of ["web", "cart"]) {
    const pod = { name, namespace: shop, containers: [steady] };
    await node.deploy(loadDeployment(pod));
  }
  const worker = { name: "load", request: "30m", limit: "60m", burstSeconds: 12 };
  await Promise.all(
    WORKERS.map((name) => node.run(loadPod({ name, namespace: batch, containers: [worker] }))),
  );
  await node.run(loadPod({
    name: "aside",
    namespace: lab,
    annotations: { [MANAGED]: "false" },
    containers: [{
      ...{ name: "load", request: "100m", limit: `${ASIDE}m` },
      beat: { count: 4000, sleepMs: 100 },
    }],
  }));
  const report = { name: "load", request: "60m", limit: "150m", burstSeconds: 8 };
  await node.run(loadPod({ name: "report", namespace: lab, containers: [report] }));
  const unready = { ...report, request: "50m", limit: "200m", readyFile: "/tmp/never" };
  await node.create(labPods, loadPod({ name: "unready", namespace: lab, containers: [unready] }));
  await until("running pod unready", async () => {
    const pod = await node.pod({ namespace: lab, name: "unready" });
    return pod?.phase === "Running" || undefined;
  });
  await readyPod(node, { namespace: shop, name: "web" });
  await readyPod(node, { namespace: shop, name: "cart" });
  // After its Deployment: what the HPA first sees of it is then one replica that is Ready.
  await node.create(autoscalersPath(shop), autoscalerOf("web", 70, { most: 5 }));
  await until("figures for the autoscaler", async () => {
    const { status } = objectOf(await node.find(`${autoscalersPath(shop)}/web`));
    return listOf(objectOf(status)["conditions"]).map(objectOf).some((one) =>
      one["type"] === "ScalingActive" && one["status"] === "True"
    ) || undefined;
  }, { timeoutMs: 120_000, everyMs: 500 });
}

/** Loads pods, and looks at everything each second. */
async function play({ node, shop, batch, lab }: Scene): Promise<Looks> {
  const burst = async (namespace: string, names: readonly string[]): Promise<void> => {
    for (const name of names) {
      const pod = await node.pod({ namespace, name });
      if (pod !== undefined) Deno.kill(processOne(pod, "load"), "SIGUSR1");
    }
  };
  const acts = new Map<number, () => Promise<void>>([
    [5, () => burst(lab, ["unready"])],
    [10, async () => {
      const pods = await deploymentPods(node, { namespace: shop, name: "web" });
      await burst(shop, pods.map(({ metadata }) => metadata.name));
    }],
    // All together, in the midst of the wave: more than their quota has left.
    [30, () => burst(batch, WORKERS)],
    [45, () => burst(lab, ["report"])],
    [60, () => burst(lab, ["unready"])],
  ]);
  const looks: Looks = {
    ...{ quotas: [], unready: [] },
    ...{ aside: new Set(), replicas: new Set(), rules: new Set() },
  };
  const beganMs = performance.now();
  for (let second = 0; second < SECONDS; second++) {
    await pause(Math.max(0, beganMs + 1000 * second - performance.now()));
    await acts.get(second)?.();
    await look({ node, shop, batch, lab }, looks);
  }
  return looks;
}

async function look({ node, shop, batch, lab }: Scene, looks: Looks): Promise<void> {
  const [pods, quotas] = await Promise.all([
    node.items("/api/v1/pods").then((items) => items.map(parsePod)),
    node.items("/api/v1/resourcequotas"),
  ]);
  for (const namespace of [shop, batch, lab]) {
    const quota = quotas.find(({ metadata }) => objectOf(metadata)["namespace"] === namespace);
    const { used, hard } = objectOf(quota?.["status"]);
    const counted = (counts: unknown): number =>
      parseCPU(textOf(objectOf(counts)["limits.cpu"]) ?? "0");
    looks.quotas.push({
      ...{ used: counted(used), hard: counted(hard) },
      limits: limitsOf(pods.filter(({ metadata }) => metadata.namespace === namespace)),
    });
    for (const { status } of await node.items(allocationsPath(namespace))) {
      for (const rule of listOf(objectOf(objectOf(status)["bounds"])["rules"]).map(objectOf)) {
        looks.rules.add(textOf(rule["reason"]));
      }
    }
  }
  looks.unready.push({
    spec: limitsOf(
      pods.filter(({ metadata: { namespace, name } }) => namespace === lab && name === "unready"),
    ),
    kernel: await quotaOf(node, { namespace: lab, name: "unready" }),
  });
  looks.aside.add(await quotaOf(node, { namespace: lab, name: "aside" }));
  const path = `/apis/apps/v1/namespaces/${shop}/deployments/web`;
  const { spec } = objectOf(await node.find(path));
  looks.replicas.add(objectOf(spec)["replicas"]);
}

/** Limits of all pods that have not ended, terminating ones too; millicores. */
function limitsOf(pods: readonly Pod[]): number {
  return pods.filter(({ phase }) => phase !== "Succeeded" && phase !== "Failed")
    .flatMap(({ containers }) => containers)
    .reduce((sum, { limits: { cpu = 0 } }) => sum + cpu, 0);
}

/** Not a conflict, a pod that is gone, or a server that is busy. */
function isRefusal({ code, message }: ResizeAnswer): boolean {
  return code >= 300 && code < 500 && ![404, 409, 429].includes(code) &&
    !/\buid\b.*immutable/is.test(message);
}

/** Refusals that the controllers have counted, for reasons that a check could have foreseen. */
async function refusalsCounted(node: RealNode): Promise<number> {
  const counters = await productMetrics(node, "mbcas-controller");
  return [...counters].filter(([name]) =>
    /^mbcas_resizes_total.*outcome="refused"/.test(name) &&
    /reason="(QuotaExceeded|LimitRange|NodeCapacity)"/.test(name)
  ).reduce((sum, [, count]) => sum + count, 0);
}

/** Kinds that are written all the time, and the product's own records. */
const LEFT_OUT: readonly string[] = [
  ...["events.", "events.events.k8s.io", "componentstatuses.", "endpoints."],
  ...["endpointslices.discovery.k8s.io", "leases.coordination.k8s.io"],
  ...["leasecandidates.coordination.k8s.io", "podallocations.allocation.mbcas.io"],
];

/** All objects of the cluster without what may change, as JSON, by kind, namespace and name. */
async function dumpCluster(scene: Scene): Promise<ReadonlyMap<string, string>> {
  const { connection } = scene.node;
  const dump = new Map<string, string>();
  for (const [kind, path] of await kindsOf(connection)) {
    for (const item of listOf(objectOf(await connection.request({ path }))["items"])) {
      const { namespace, name } = objectOf(objectOf(item)["metadata"]);
      dump.set(
        `${kind} ${namespace ?? ""}/${name}`,
        JSON.stringify(lasting(objectOf(item), scene)),
      );
    }
  }
  return dump;
}

/** Each kind that can be listed once, in the version that the server prefers, with its path. */
async function kindsOf(connection: KubeConnection): Promise<readonly [string, string][]> {
  const { groups } = objectOf(await connection.request({ path: "/apis" }));
  const bases = [
    ["", "/api/v1"],
    ...listOf(groups).map(objectOf).map((group) => [
      String(group["name"]),
      `/apis/${objectOf(group["preferredVersion"])["groupVersion"]}`,
    ]),
  ].filter(([group]) => group !== "metrics.k8s.io");
  const kinds: [string, string][] = [];
  for (const [group, path = ""] of bases) {
    const { resources } = objectOf(await connection.request({ path }));
    for (const { name, verbs } of listOf(resources).map(objectOf)) {
      const kind = `${name}.${group}`;
      if (listOf(verbs).includes("list") && !LEFT_OUT.includes(kind)) {
        kinds.push([kind, `${path}/${name}`]);
      }
    }
  }
  return kinds;
}

/** A managed pod may have another CPU limit, the scaled service other replicas. */
function lasting({ status: _, ...object }: JSONObject, { shop, batch, lab }: Scene): JSONObject {
  const { resourceVersion: _version, generation: _generation, managedFields, ...metadata } =
    objectOf(object["metadata"]);
  const { namespace, name, annotations } = metadata;
  const isPod = objectOf(object["spec"])["containers"] !== undefined;
  const isManaged = isPod && [shop, batch, lab].some((one) => one === namespace) &&
    objectOf(annotations)[MANAGED] !== "false";
  const isScaled = namespace === shop && /^web\b/.test(String(name));
  const text = JSON.stringify({
    ...object,
    metadata: metadata,
    // Times and versions of the fields' managers move; one of ours must not come to another object.
    managers: isManaged ? [] : [
      ...new Set(
        listOf(managedFields).map((one) => String(objectOf(one)["manager"]))
          .filter((manager) => manager.includes("mbcas")),
      ),
    ].sort(),
  });
  return JSON.parse(text, function (key, value) {
    if (isManaged && key === "limits") return { ...value, cpu: "" };
    // The Deployment's controller notes the number of replicas on its ReplicaSets, too.
    const isNoted = key === "replicas" || key.startsWith("deployment.kubernetes.io/");
    return isScaled && isNoted ? undefined : value;
  });
}
