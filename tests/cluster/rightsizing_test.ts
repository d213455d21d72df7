/**
 * Rightsizing on a real node: running pods get what their workload's policy recommends without a
 * restart, and nothing of a workload changes where a policy only recommends. By the template it is one
 * rollout with the values of all containers, and a namespace in which the right to write it is missing
 * holds up no other.
 *
 * @module
 */
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
import { listOf, objectOf } from "../../adapters/kube/client/json_fields.ts";
import type { PodContainer } from "../../shared/api/pod.ts";
import { eventsOf } from "./scene/reported.ts";
import { PRODUCT_NAMESPACE } from "./scene/product.ts";
import assert from "node:assert/strict";

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

Deno.test(
  "a policy in mode Auto moves the requests of running pods in place and of new ones as they are made, one in " +
    "mode Recommend moves none",
  async () => {
    using node = await openRealNode();
    await using _installed = await withAllComponents(kubectl);
    await using acted = await scratchNamespace(node.connection);
    await using reported = await scratchNamespace(node.connection);
    const web = acted.pod("web");
    const same = reported.pod("web");
    for (const { namespace, name } of [web, same]) {
      await kubectl.must(
        ["apply", "-f", "-"],
        loadDeployment({ name, namespace, containers: [UNDERSIZED] }),
      );
    }
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
    const scaled = await deploymentText(kubectl, web);
    assert.equal(
      scaled.replace(/^\d+ /, "").replace(/"replicas":\d+/, ""),
      before.replace(/^\d+ /, "").replace(/"replicas":\d+/, ""),
    );

    const recommended = await whenRecord(node, same, ({ status }) => status === "Recommended");
    assert.deepEqual(recommended.inForce, []);
    assert.ok((recommended.recommendations[0]?.cpu ?? 0) >= 10);
    const [untouched] = await deploymentPods(node, same);
    assert.equal(untouched?.containers[0]?.requests.cpu, 5);
    assert.equal(await deploymentText(kubectl, same), beforeSame);
    const diff = await kubectl.run(
      ["diff", "-f", "-"],
      loadDeployment({ name: "web", namespace: same.namespace, containers: [UNDERSIZED] }),
    );
    assert.deepEqual(diff, { ok: true, stdout: "", stderr: "" });
  },
);

/** Three cycles and more. */
const QUIET_MS = 35_000;
const CONTAINERS = [
  UNDERSIZED,
  { name: "log", request: "100m", limit: "200m", memory: "48Mi" },
];
const NAMES = CONTAINERS.map(({ name }) => name);

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** A Deployment's raw object, and how many ReplicaSets it has had. */
async function rawDeployment({ namespace, name }: PodName): Promise<Record<string, unknown>> {
  const args = [
    "get",
    `deployment/${name}`,
    "-n",
    namespace,
    "-o",
    "json",
    "--show-managed-fields",
  ];
  return objectOf(JSON.parse(await kubectl.must(args)));
}

async function replicaSets({ namespace, name }: PodName): Promise<number> {
  const args = ["get", "replicasets", "-n", namespace, "-l", `app=${name}`, "-o", "name"];
  return (await kubectl.must(args)).trim().split("\n").length;
}

/** The pod template without what rightsizing may write, and what it may. */
function template(deployment: Record<string, unknown>): {
  readonly others: unknown;
  readonly requests: ReadonlyMap<string, unknown>;
} {
  const { spec } = objectOf(objectOf(objectOf(deployment.spec).template));
  const containers = listOf(objectOf(spec).containers).map(objectOf);
  const others = containers.map(({ resources, ...rest }) => ({
    ...rest,
    limits: objectOf(resources).limits,
  }));
  return {
    others: { ...objectOf(spec), containers: others },
    requests: new Map(
      containers.map(({ name, resources }) => [String(name), objectOf(resources).requests]),
    ),
  };
}

function requestsOf(containers: readonly PodContainer[]): readonly unknown[] {
  return containers.map((
    { name, requests: { cpu: requestCPU, memory: requestMemory } },
  ) => [name, requestCPU, requestMemory]);
}

/** Waits until the new revision's pod is the only one. */
async function rolledPod(
  node: RealNode,
  workload: PodName,
  before: string,
): Promise<readonly PodContainer[]> {
  return await until("pod of the new template", async () => {
    const [only, ...others] = await deploymentPods(node, workload);
    const isThere = only?.ready && others.length === 0 && only.metadata.uid !== before;
    return isThere ? only.containers : undefined;
  }, CYCLES);
}

/** Takes the right to write templates, but for one namespace. */
async function takeRight(namespace: string): Promise<() => Promise<unknown>> {
  const role = JSON.parse(
    await kubectl.must(["get", "clusterrole/mbcas-rightsizing", "-o", "json"]),
  );
  const rules: readonly Rule[] = role.rules;
  const isOfTemplates = ({ apiGroups, verbs }: Rule): boolean =>
    apiGroups.includes("apps") && verbs.includes("patch");
  const taken = rules.filter(isOfTemplates);
  assert.equal(taken.length, 1);
  const object = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    metadata: { name: "try", namespace },
  };
  await kubectl.must(["apply", "-f", "-"], {
    apiVersion: "v1",
    kind: "List",
    items: [
      { ...object, kind: "Role", rules: taken },
      {
        ...object,
        kind: "RoleBinding",
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "try" },
        subjects: [{
          kind: "ServiceAccount",
          name: "mbcas-controller",
          namespace: PRODUCT_NAMESPACE,
        }],
      },
    ],
  });
  const patch = (value: readonly Rule[]): Promise<string> =>
    kubectl.must([
      ...["patch", "clusterrole/mbcas-rightsizing", "--type=json"],
      ...["-p", JSON.stringify([{ op: "replace", path: "/rules", value }])],
    ]);
  await patch(rules.filter((rule) => !isOfTemplates(rule)));
  return () => patch(rules);
}

Deno.test(
  "recreation rolls a Deployment once with the values of both containers, and where the right to it is " +
    "missing the workload is named and untouched until it is there",
  async () => {
    using node = await openRealNode();
    await using _installed = await withAllComponents(kubectl);
    await using open = await scratchNamespace(node.connection);
    await using shut = await scratchNamespace(node.connection);
    const giveBack = await takeRight(open.name);
    const web = open.pod("web");
    const barred = shut.pod("web");
    for (const { namespace, name } of [web, barred]) {
      await kubectl.must(
        ["apply", "-f", "-"],
        loadDeployment({ name, namespace, containers: CONTAINERS }),
      );
    }
    const [pod, barredPod] = await Promise.all(
      [web, barred].map((workload) => readyPod(node, workload, CYCLES)),
    );
    const [before, barredBefore] = [await rawDeployment(web), await rawDeployment(barred)];
    const policy = optimizationPolicy({
      mode: "Auto",
      name: `try-${open.name}`,
      namespace: PRODUCT_NAMESPACE,
      namespaces: [open.name, shut.name],
      // One rollout within the test, however usage moves.
      strategy: { allowInPlaceResize: false, allowRecreate: true, cooldown: "30m" },
    });
    await kubectl.must(["apply", "-f", "-"], policy);
    try {
      const { method, inForce } = await whenRecord(
        node,
        web,
        ({ appliedAtMs }) => appliedAtMs !== undefined,
      );
      assert.equal(method, "Recreate");
      const values = inForce.map(({ container, cpu, memory }) => [container, cpu, memory]);
      assert.deepEqual(values.map(([name]) => name), NAMES);
      const containers = await rolledPod(node, web, pod?.metadata.uid ?? "");
      assert.deepEqual(requestsOf(containers), values);
      const after = await rawDeployment(web);
      assert.deepEqual(template(after).others, template(before).others);
      for (const name of NAMES) {
        assert.notDeepEqual(
          template(after).requests.get(name),
          template(before).requests.get(name),
        );
      }

      const refused = await whenRecord(node, barred, ({ reason }) => reason === "RBACError");
      // The server names the right of the request that it refuses: the template is read first. While
      // that is remembered, no request is sent.
      assert.match(
        `${refused.status} ${refused.message}`,
        /^(Error|Skipped) .*(get|patch) deployments/,
      );
      assert.equal(refused.recommendations.length, NAMES.length);
      const reported = await eventsOf(node, barred);
      assert.ok(
        reported.some(({ reason, kind }) => reason === "RBACError" && kind === "Deployment"),
      );

      await pause(QUIET_MS);
      assert.equal(await replicaSets(web), 2, "rolled once");
      const generation = (object: Record<string, unknown>): unknown =>
        objectOf(object.metadata).generation;
      assert.equal(generation(await rawDeployment(web)), Number(generation(before)) + 1);
      assert.deepEqual(
        (await rawDeployment(barred)).spec,
        barredBefore?.spec,
        "untouched without the right",
      );
      assert.equal((await recordOf(node, barred))?.reason, "RBACError");

      await giveBack();
      await whenRecord(node, barred, ({ appliedAtMs }) => appliedAtMs !== undefined);
      assert.deepEqual(
        (await rolledPod(node, barred, barredPod?.metadata.uid ?? "")).map(({ name }) => name),
        NAMES,
      );
    } finally {
      await kubectl.must(["delete", "-f", "-"], policy);
    }
  },
);
