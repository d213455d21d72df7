/**
 * Rightsizing beside what else has a say in requests, on a real node: HPA, VPA, ResourceQuota and
 * LimitRange each hold what they must and nothing else, beside a Deployment that none of them is about.
 *
 * @module
 */
import assert from "node:assert/strict";
import { listOf, objectOf } from "../../adapters/kube/client/json_fields.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { WorkloadRecord } from "../../shared/rightsizing/workload_record.ts";
import { createKubectl } from "./kubectl.ts";
import { withAllComponents } from "./scene/all_components.ts";
import { deploymentPods, readyPod } from "./scene/limits.ts";
import { eventTexts } from "./scene/reported.ts";
import { autoscalerOf, autoscalersPath, loadDeployment } from "./scene/load_pod.ts";
import {
  CYCLES,
  optimizationPolicy,
  UNDERSIZED,
  whenRecord,
} from "./scene/optimization_policies.ts";
import { PRODUCT_NAMESPACE } from "./scene/product.ts";
import { openRealNode, type PodName, type RealNode, scratchNamespace } from "./scene/real_node.ts";
import { until } from "./scene/until.ts";
import { vpaOf, vpasPath, withVPAs } from "./scene/vpa_definition.ts";

const MI = 2 ** 20;
/** First requests of the pods. */
const FIRST = { cpu: 5, memory: 64 * MI };
/** Idle memory is far below the least that the policy allows. */
const LEAST_MEMORY = 16 * MI;
const RANGE_MEMORY = 32 * MI;

const kubectl = createKubectl();

/** A Deployment with one pod that runs. */
async function deploy(node: RealNode, workload: PodName): Promise<Pod> {
  await node.deploy(loadDeployment({ ...workload, containers: [UNDERSIZED] }));
  return await readyPod(node, workload, CYCLES);
}

async function onlyPod(node: RealNode, workload: PodName): Promise<Pod | undefined> {
  const [pod] = await deploymentPods(node, workload);
  return pod?.ready ? pod : undefined;
}

/**
 * Waits until the kubelet has applied these requests of the pod, and checks that it is the same one.
 */
async function whenApplied(
  node: RealNode,
  workload: PodName,
  { before, cpu, memory }: {
    readonly before: Pod;
    readonly cpu: (request: number) => boolean;
    readonly memory: number;
  },
): Promise<void> {
  const { metadata } = await until(`requests of ${workload.name}`, async () => {
    const pod = await onlyPod(node, workload);
    const [container] = pod?.containers ?? [];
    const seen = `${container?.applied.requests.cpu} m and ${container?.requests.memory} B`;
    if (container?.requests.memory !== memory) throw new Error(seen);
    if (!cpu(container.applied.requests.cpu ?? NaN)) throw new Error(seen);
    return pod;
  }, CYCLES);
  assert.equal(metadata.uid, before.metadata.uid);
}

/** The rest was applied, and stays so. */
const isHeldBy = (expected: string) => ({ status, reason }: WorkloadRecord): boolean =>
  status === "Applied" && reason === expected;

/** Name, mode and what it recommends of the first container. */
function vpaText(vpa: unknown): string {
  const { metadata, spec, status } = objectOf(vpa);
  const [first] = listOf(objectOf(objectOf(status).recommendation).containerRecommendations);
  const { cpu, memory } = objectOf(objectOf(first).target);
  const { updateMode } = objectOf(objectOf(spec).updatePolicy);
  return `${objectOf(metadata).name} ${updateMode} ${cpu} ${memory}`;
}

const reported = ({ status, reason, message }: WorkloadRecord): string =>
  `${status} ${reason} ${message}`;

Deno.test(
  "an HPA keeps the CPU request, a VPA all, a quota a raise and a LimitRange a decrease, and none of them " +
    "holds up another workload",
  async () => {
    using node = await openRealNode();
    await using _vpas = await withVPAs(node.connection);
    await using _installed = await withAllComponents(kubectl);
    await using free = await scratchNamespace(node.connection);
    await using full = await scratchNamespace(node.connection);
    await using ranged = await scratchNamespace(node.connection);
    const of = ({ name: namespace }: { readonly name: string }, name: string): PodName => ({
      namespace,
      name,
    });
    const plain = of(free, "plain");
    const scaled = of(free, "scaled");
    const watched = of(free, "watched");
    const counted = of(full, "counted");
    const bound = of(ranged, "bound");
    await node.create(`/api/v1/namespaces/${full.name}/resourcequotas`, {
      metadata: { name: "full" },
      spec: { hard: { "requests.cpu": `${FIRST.cpu}m` } },
    });
    await node.create(`/api/v1/namespaces/${ranged.name}/limitranges`, {
      metadata: { name: "least" },
      spec: { limits: [{ type: "Container", min: { memory: `${RANGE_MEMORY}` } }] },
    });
    await node.create(autoscalersPath(free.name), autoscalerOf(scaled.name, 80, { most: 1 }));
    await node.create(vpasPath(free.name), vpaOf(watched.name, "Auto"));
    const [before, scaledBefore, watchedBefore, countedBefore, boundBefore] = await Promise.all(
      [plain, scaled, watched, counted, bound].map((workload) => deploy(node, workload)),
    ) as [Pod, Pod, Pod, Pod, Pod];
    const policy = optimizationPolicy({
      mode: "Auto",
      name: `try-${free.name}`,
      namespace: PRODUCT_NAMESPACE,
      namespaces: [free.name, full.name, ranged.name],
      strategy: { publishVPA: true },
    });
    await kubectl.must(["apply", "-f", "-"], policy);
    try {
      const raised = (request: number): boolean => request >= 10;
      const kept = (request: number): boolean => request === FIRST.cpu;
      await whenApplied(node, plain, { before, cpu: raised, memory: LEAST_MEMORY });
      await whenApplied(node, scaled, { before: scaledBefore, cpu: kept, memory: LEAST_MEMORY });
      await whenApplied(node, counted, { before: countedBefore, cpu: kept, memory: LEAST_MEMORY });
      await whenApplied(node, bound, { before: boundBefore, cpu: raised, memory: RANGE_MEMORY });
      const vpaRecord = await whenRecord(node, watched, ({ reason }) => reason === "VPAConflict");
      assert.match(reported(vpaRecord), /^Skipped VPAConflict .*watched/);
      assert.ok((vpaRecord.recommendations[0]?.cpu ?? 0) >= 10, "recommended all the same");
      const untouched = await onlyPod(node, watched);
      assert.deepEqual(
        [untouched?.metadata.uid, untouched?.containers[0]?.requests.cpu],
        [watchedBefore.metadata.uid, FIRST.cpu],
      );
      assert.equal(untouched?.containers[0]?.requests.memory, FIRST.memory);
      // Memory was applied without the CPU; from then on there is nothing but what is held.
      const [hpaValue, quotaText] = await Promise.all([
        whenRecord(node, scaled, isHeldBy("HPAConflict")),
        whenRecord(node, counted, isHeldBy("QuotaExceeded")),
      ]);
      assert.match(reported(hpaValue), /^Applied HPAConflict .*scaled/);
      assert.match(reported(quotaText), /^Applied QuotaExceeded .*full/);
      assert.equal((await onlyPod(node, counted))?.containers[0]?.requests.cpu, FIRST.cpu);
      for (const { namespace } of [plain, counted, bound]) {
        assert.deepEqual(await eventTexts(node, { namespace, reason: "UpdateFailed" }), []);
      }
      // The VPA of another user is there, too, and stays.
      const published = async (): Promise<readonly string[]> => {
        const { items } = objectOf(await node.connection.request({ path: vpasPath(free.name) }));
        return listOf(items).map(vpaText).sort();
      };
      const ours = ["optipod-deployment-plain Off", "optipod-deployment-scaled Off"];
      await until("published VPAs", async () => {
        const texts = await published();
        const isThere = ours.every((name) =>
          texts.some((text) => text.startsWith(name) && / \d+m \d/.test(text))
        );
        if (!isThere) throw new Error(texts.join("; "));
        return texts;
      }, CYCLES);
      await kubectl.must(["delete", "-f", "-"], policy);
      await until("end of the published VPAs", async () => {
        const texts = await published();
        if (texts.length > 1) throw new Error(texts.join("; "));
        return texts;
      }, CYCLES);
      assert.match((await published()).join(), /^watched Auto/);
    } finally {
      await kubectl.must(["delete", "--ignore-not-found", "-f", "-"], policy);
    }
  },
);
