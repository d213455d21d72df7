/**
 * Rightsizing by the template on a real node: one rollout with the values of all containers, and a
 * namespace in which the right to write it is missing holds up no other.
 *
 * @module
 */
import assert from "node:assert/strict";
import { listOf, objectOf } from "../../adapters/kube/client/json_fields.ts";
import type { PodContainer } from "../../shared/api/pod.ts";
import { createKubectl } from "./kubectl.ts";
import { withAllComponents } from "./scene/all_components.ts";
import { deploymentPods, readyPod } from "./scene/limits.ts";
import { eventsOf } from "./scene/reported.ts";
import { isHarness } from "./scene/harness_access.ts";
import { loadDeployment } from "./scene/load_pod.ts";
import {
  CYCLES,
  optimizationPolicy,
  recordOf,
  UNDERSIZED,
  whenRecord,
} from "./scene/optimization_policies.ts";
import { PRODUCT_NAMESPACE } from "./scene/product.ts";
import { openRealNode, type PodName, type RealNode, scratchNamespace } from "./scene/real_node.ts";
import { pause, until } from "./scene/until.ts";

/** Three cycles and more. */
const QUIET_MS = 35_000;
const CONTAINERS = [
  UNDERSIZED,
  { name: "log", request: "100m", limit: "200m", memory: "48Mi" },
];
const NAMES = CONTAINERS.map(({ name }) => name);

const kubectl = createKubectl();

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

/** Containers with requests that this manager has applied. */
function appliedBy(manager: string, { metadata }: Record<string, unknown>): readonly string[] {
  const entries = listOf(objectOf(metadata).managedFields).map(objectOf)
    .filter((entry) => entry.manager === manager && entry.operation === "Apply");
  assert.equal(entries.length, 1, `entries of ${manager}`);
  const text = JSON.stringify(entries[0]?.fieldsV1);
  assert.doesNotMatch(text, /f:(image|command|limits|replicas)\b/);
  return NAMES.filter((name) => text.includes(`k:{\\"name\\":\\"${name}\\"}`));
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

Deno.test({
  name:
    "recreation rolls a Deployment once with the values of both containers, and where the right to it is " +
    "missing the workload is named and untouched until it is there",
  ignore: !isHarness(),
  async fn() {
    using node = await openRealNode();
    await using _installed = await withAllComponents(kubectl);
    await using open = await scratchNamespace(node.connection);
    await using shut = await scratchNamespace(node.connection);
    const giveBack = await takeRight(open.name);
    const web = { namespace: open.name, name: "web" };
    const barred = { namespace: shut.name, name: "web" };
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
      assert.deepEqual(appliedBy("optipod", after), NAMES);

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
});
