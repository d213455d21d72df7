/**
 * QoS and priority classes on a real node: Guaranteed pods are left alone, and taken in with request and
 * limit where they ask; a pod weighs by the priority that its class gives it.
 *
 * @module
 */
import assert from "node:assert/strict";
import { NO_RESOURCES } from "../../shared/api/pod.ts";
import { listOf, numberOf, objectOf, textOf } from "../../adapters/kube/client/json_fields.ts";
import { parseCPU } from "../../shared/quantity.ts";
import { coalloc, restoresFor } from "./scene/product.ts";
import { boundsOf, SETTLED } from "./scene/limits.ts";
import { assertReported, assertRestores, eventTexts } from "./scene/reported.ts";
import { loadPod } from "./scene/load_pod.ts";
import { enforcedLimits, podDirectories, weighedRequests } from "./scene/node_cgroups.ts";
import {
  firstNode,
  onNode,
  type PodName,
  podPath,
  type RealNode,
  type ScratchNamespace,
  withObject,
} from "./scene/real_node.ts";
import { pause, until } from "./scene/until.ts";

const OWN = 100;
const TAKE_IN = { "mbcas.io/skip-guaranteed": "false" };
/** Steps of the market's limits are 10 m, and version 2's weights are 26 m off at most. */
const COARSE = 26;

/** A Guaranteed pod that is idle until it is signalled. */
async function guaranteedPod(
  node: RealNode,
  { namespace, name, annotations = {} }: PodName & {
    readonly annotations?: Readonly<Record<string, string>>;
  },
): Promise<PodName> {
  const cpu = `${OWN}m`;
  const load = { name: "load", request: cpu, limit: cpu, memory: "64Mi", burstSeconds: 300 };
  const pod = await node.run(loadPod({ namespace, name, annotations, containers: [load] }));
  assert.equal(pod.qosClass, "Guaranteed");
  return { namespace, name };
}

/** Millicores of request and limit, in the spec and in the cgroups of pod and container. */
async function valuesOf(node: RealNode, name: PodName) {
  const pod = await node.pod(name);
  assert.ok(pod !== undefined);
  assert.equal(pod.qosClass, "Guaranteed");
  const { requests: { cpu: request = 0 }, limits: { cpu: limit = 0 } } = pod.containers[0] ??
    NO_RESOURCES;
  assert.equal(request, limit, "request and limit are one in the spec at any time");
  const directories = podDirectories(pod);
  const limits = enforcedLimits(directories);
  const requests = weighedRequests(directories);
  return {
    spec: limit,
    quota: limits.containers.get("load") ?? 0,
    podQuota: limits.pod ?? 0,
    weight: requests.containers.get("load") ?? 0,
    podWeight: requests.pod,
  };
}

/** Waits until spec and cgroups, quota and weight, of pod and container, say what is wanted. */
function whenAll(
  node: RealNode,
  name: PodName,
  wanted: (spec: number) => boolean,
): Promise<number> {
  return until(`values of ${name.name}`, async () => {
    const { spec, quota, podQuota, weight, podWeight } = await valuesOf(node, name);
    const reported = JSON.stringify({ spec, quota, podQuota, weight, podWeight });
    if (!wanted(spec) || quota !== spec || podQuota !== spec) throw new Error(reported);
    for (const one of [weight, podWeight]) {
      if (Math.abs(one - spec) > COARSE) throw new Error(reported);
    }
    return spec;
  }, SETTLED);
}

async function restartsOf(node: RealNode, name: PodName): Promise<number> {
  const { status } = objectOf(await node.find(podPath(name)));
  const [container] = listOf(objectOf(status).containerStatuses);
  return numberOf(objectOf(container).restartCount) ?? NaN;
}

async function annotate(node: RealNode, name: PodName, value: string | null): Promise<void> {
  const annotations = { "mbcas.io/skip-guaranteed": value };
  await node.merge(podPath(name), { metadata: { annotations } });
}

function failures(node: RealNode, namespace: string): Promise<readonly string[]> {
  return eventTexts(node, { namespace, reason: "CPULimitFailed" });
}

/** Millicores that the node has and no pod on it has requested, by the API's figures. */
async function roomOnNode(node: RealNode): Promise<number> {
  const cpuOf = (amounts: unknown): number => parseCPU(textOf(objectOf(amounts).cpu) ?? "0");
  const name = await firstNode(node);
  const { status } = objectOf(await node.find(`/api/v1/nodes/${name}`));
  let room = cpuOf(objectOf(status).allocatable);
  for (const { spec, status } of await node.items("/api/v1/pods")) {
    if (objectOf(spec).nodeName !== name) continue;
    if (["Succeeded", "Failed"].includes(textOf(objectOf(status).phase) ?? "")) continue;
    for (const container of listOf(objectOf(spec).containers)) {
      room -= cpuOf(objectOf(objectOf(container).resources).requests);
    }
  }
  return room;
}

/** A pod that asks for all but so many millicores of the node, and uses nothing. */
async function fillNode(
  node: RealNode,
  { namespace, leaving }: { readonly namespace: string; readonly leaving: number },
): Promise<PodName> {
  const request = await roomOnNode(node) - leaving;
  assert.ok(request > 100, `the node has too little room for this test: ${request}m`);
  const containers = [{ name: "load", request: `${request}m`, limit: `${request}m` }];
  await node.run(loadPod({ namespace, name: "filler", containers }));
  return { namespace, name: "filler" };
}

/** Fails if the pod was touched at any time, as the server's record has it. */
async function assertUntouched(node: RealNode, name: PodName): Promise<void> {
  const all = { spec: OWN, quota: OWN, podQuota: OWN, weight: OWN, podWeight: OWN };
  assert.deepEqual(await valuesOf(node, name), all);
  await assertLeftAlone(node, name);
}

/** Fails if the pod is in the market, or the product has ever written to it. */
async function assertLeftAlone(node: RealNode, name: PodName): Promise<void> {
  const pod = await node.pod(name);
  assert.equal(await node.allocation(name.namespace, pod?.metadata.uid ?? ""), undefined);
  const { metadata } = objectOf(await node.find(podPath(name)));
  const managers = listOf(objectOf(metadata).managedFields).map((one) => objectOf(one).manager);
  assert.ok(managers.length > 0 && managers.every((manager) => !/mbcas/.test(String(manager))));
}

Deno.test(
  "a Guaranteed pod that asks for it is raised, request and limit together, and one that doesn't is never touched",
  onNode(async (node, namespace) => {
    const [web, still] = await Promise.all([
      guaranteedPod(node, { namespace: namespace.name, name: "web", annotations: TAKE_IN }),
      guaranteedPod(node, namespace.pod("still")),
    ]);
    const bare = namespace.pod("bare");
    // A little: what such a pod uses is not the market's.
    const beating = [{ name: "load", beat: { count: 1000, sleepMs: 100 } }];
    const { qosClass } = await node.run(loadPod({ ...bare, containers: beating }));
    assert.equal(qosClass, "BestEffort");
    const born = await node.pod(web);
    for (const name of [web, still]) await node.signal(name, "load");
    const raised = await whenAll(node, web, (spec) => spec > 2 * OWN);
    assert.ok(raised <= 8 * OWN, `${raised}`);
    await assertUntouched(node, still);
    await assertLeftAlone(node, bare);
    for (const name of [still, bare]) {
      await assertReported(node, name, { outside: "NotBurstable", restored: false });
    }
    const now = await node.pod(web);
    assert.deepEqual([now?.metadata.uid, now?.containers[0]?.containerID], [
      born?.metadata.uid,
      born?.containers[0]?.containerID,
    ]);
    assert.equal(await restartsOf(node, web), 0);
    const allocation = await node.allocation(web.namespace, born?.metadata.uid ?? "");
    assert.deepEqual(allocation?.status?.originalRequests, [{ name: "load", cpu: `${OWN}m` }]);
    const [bound] = allocation?.status?.bounds?.containers ?? [];
    assert.deepEqual([bound?.floor, bound?.weight], [OWN, OWN], "by its own request");

    const restoresBefore = await restoresFor(node, "NotBurstable");
    await annotate(node, web, null);
    await whenAll(node, web, (spec) => spec === OWN);
    for (let i = 0; i < 30; i++) {
      await pause(100);
      assert.equal((await valuesOf(node, web)).spec, OWN);
    }
    assert.equal(await node.allocation(web.namespace, born?.metadata.uid ?? ""), undefined);
    await assertRestores(node, "NotBurstable", { before: restoresBefore, count: 1 });
    await assertReported(node, web, { outside: "NotBurstable" });
    assert.equal(await restartsOf(node, web), 0);
    await assertUntouched(node, still);
    assert.deepEqual(await failures(node, namespace.name), []);

    await annotate(node, web, "no");
    await until("warning", async () => {
      const reason = "AnnotationIgnored";
      const texts = await eventTexts(node, { namespace: namespace.name, reason });
      return /skip-guaranteed\W+no\W+is not \W+true/.test(texts.join()) || undefined;
    }, SETTLED);
    assert.equal((await valuesOf(node, web)).spec, OWN);
  }),
);

Deno.test(
  "kubectl coalloc resize and restore move both values of a Guaranteed pod, or say what refuses",
  onNode(async (node, namespace) => {
    const at = (name: ScratchNamespace): readonly string[] => ["-n", name.name, "--timeout", "10s"];
    const web = await guaranteedPod(node, namespace.pod("web"));
    const resize = (limit: string) =>
      coalloc("resize", "web", "--cpu-limit", limit, ...at(namespace));
    const set = await resize("300m");
    assert.equal(set.code, 0, set.stderr);
    assert.match(set.stdout, /load 100m → 300m \(request and limit\): /);
    await whenAll(node, web, (spec) => spec === 300);

    const beyond = await resize("900");
    assert.equal(beyond.code, 1);
    assert.match(beyond.stdout, /Refused: .*allocatable resources: cpu/);
    assert.equal((await valuesOf(node, web)).spec, 300);

    const filler = await fillNode(node, { namespace: namespace.name, leaving: 100 });
    const late = await resize("700m");
    assert.equal(late.code, 1);
    assert.match(late.stdout, /ResizeDeferred: .*\bresource: cpu/);
    await node.remove(podPath(filler));
    await whenAll(node, web, (spec) => spec === 700);

    // A limit that was set by hand is the pod's own when it is taken in, and is what it gets back.
    const back = await resize("100m");
    assert.equal(back.code, 0, back.stdout + back.stderr);
    await annotate(node, web, "false");
    await node.signal(web, "load");
    await whenAll(node, web, (spec) => spec > 2 * OWN);
    const restored = await coalloc("restore", "web", ...at(namespace));
    assert.equal(restored.code, 0, restored.stdout + restored.stderr);
    assert.match(restored.stdout, /→ 100m \(request and limit\)/);
    await whenAll(node, web, (spec) => spec === OWN);
  }),
);

/** Priorities, and the multiples of the request that pods of them weigh. */
const PRIORITIES: readonly (readonly [priority: number, weight: number])[] = [
  [-1, 0.5],
  [2000, 1.5],
  [4000, 2],
  [1_000_000_000, 10],
];
const CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses";

Deno.test(
  "pods weigh by their PriorityClass, unless their own annotation takes the multiplier back",
  onNode(async (node, namespace) => {
    await using classes = new AsyncDisposableStack();
    const containers = [{ name: "load", request: "10m", limit: "20m" }];
    const whenWeight = (name: PodName, multiplier: number): Promise<boolean> =>
      until(`weight of ${name.name}`, async () => {
        assert.equal((await boundsOf(node, name))?.containers[0]?.weight, 10 * multiplier);
        return true;
      }, SETTLED);
    await Promise.all(PRIORITIES.map(async ([value, weight], index) => {
      const priorityClassName = `${namespace.name}-${index}`;
      classes.use(
        await withObject(node, CLASSES, { metadata: { name: priorityClassName }, value }),
      );
      const name = namespace.pod(`of-${index}`);
      const pod = loadPod({ ...name, containers, priorityClassName });
      // The server's admission plugin reads the classes from a cache, which is late for a moment.
      await until("PriorityClass in the API server's cache", async () => {
        await node.create(`/api/v1/namespaces/${name.namespace}/pods?dryRun=All`, pod);
        return true;
      });
      const { priority } = await node.run(pod);
      assert.equal(priority, value);
      await whenWeight(name, weight);
      const annotations = { "mbcas.io/priority-multiplier": "1" };
      await node.merge(podPath(name), { metadata: { annotations } });
      await whenWeight(name, 1);
    }));
  }),
);
