/**
 * The kind VerticalPodAutoscaler comes to a server that has none, and goes: pods with resources that a
 * VPA sets are left to it.
 */
import assert from "node:assert/strict";
import { objectOf } from "../../adapters/kube/client/json_fields.ts";
import { parseNamespacedIdentity } from "../../adapters/kube/kinds/object_fields.ts";
import { createVPAPublisher } from "../../adapters/kube/writers/recommendation_writers.ts";
import { publishedVPA } from "../../shared/rightsizing/published_vpa.ts";
import { readyPod, whenQuota } from "./scene/limits.ts";
import { loadDeployment } from "./scene/load_pod.ts";
import { productMetrics } from "./scene/product.ts";
import { openRealNode, scratchNamespace, whenReported } from "./scene/real_node.ts";
import { until } from "./scene/until.ts";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const NAME = "verticalpodautoscalers.autoscaling.k8s.io";
const GROUP = "/apis/autoscaling.k8s.io/v1";

const text = { type: "string" };
const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const MODES = ["Off", "Initial", "Recreate", "InPlaceOrRecreate", "InPlace", "Auto"];

/**
 * Version v1 of VPA's own definition, cut to what its objects need in order to name the pods with
 * resources they set. Source: k8s.io/autoscaler/vertical-pod-autoscaler v1.8.1,
 * deploy/vpa-v1-crd-gen.yaml.
 */
const SPEC = {
  type: "object",
  required: ["targetRef"],
  properties: {
    targetRef: {
      type: "object",
      required: ["kind", "name"],
      properties: { apiVersion: text, kind: text, name: text },
    },
    updatePolicy: { type: "object", properties: { updateMode: { ...text, enum: MODES } } },
    recommenders: {
      type: "array",
      items: { type: "object", required: ["name"], properties: { name: text } },
    },
    resourcePolicy: anything,
  },
};

const DEFINITION = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: {
    name: NAME,
    annotations: {
      "api-approved.kubernetes.io": "https://github.com/kubernetes/kubernetes/pull/63797",
    },
  },
  spec: {
    group: "autoscaling.k8s.io",
    names: {
      kind: "VerticalPodAutoscaler",
      listKind: "VerticalPodAutoscalerList",
      plural: "verticalpodautoscalers",
      singular: "verticalpodautoscaler",
    },
    scope: "Namespaced",
    versions: [{
      ...{ name: "v1", served: true, storage: true, subresources: { status: {} } },
      schema: {
        openAPIV3Schema: {
          type: "object",
          required: ["spec"],
          properties: { spec: SPEC, status: anything },
        },
      },
    }],
  },
};

const OWN = 20;
const LOAD = { name: "load", request: "10m", limit: `${OWN}m`, busy: true };
/** The kind is asked for once a minute as long as the server does not know it. */
const NOTICED = { timeoutMs: 120_000, everyMs: 250 };

Deno.test("pods of a VPA get their original limits back once the server knows the kind, and are managed again once it does not", async () => {
  using node = await openRealNode();
  const { connection } = node;
  await using namespace = await scratchNamespace(connection);
  const workload = namespace.pod("web");
  const deployment = await node.deploy(loadDeployment({ ...workload, containers: [LOAD] }));
  const { metadata: pod } = await readyPod(node, workload, NOTICED);
  const whenRaised = () => whenQuota(node, pod, (quota) => quota > OWN, NOTICED);
  await whenRaised();
  const metrics = await productMetrics(node, "mbcas-controller");
  assert.equal(metrics.get('mbcas_cache_synced{kind="verticalPodAutoscalers"}'), 1);

  const vpas = `${GROUP}/namespaces/${namespace.name}/verticalpodautoscalers`;
  try {
    await node.create(CRDS, DEFINITION);
    await until("served kind", () => connection.request({ path: vpas }));
    await node.create(vpas, {
      ...{ apiVersion: "autoscaling.k8s.io/v1", kind: "VerticalPodAutoscaler" },
      metadata: { name: "theirs" },
      spec: {
        targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        updatePolicy: { updateMode: "Auto" },
      },
    });
    await whenQuota(node, pod, (quota) => quota === OWN, NOTICED);
    assert.match(
      await whenReported(node, { ...pod, reason: "CPULimitsRestored" }),
      /\bVPA theirs\b.*\bmode Auto\b.*\bDeployment web\b/,
    );

    const publisher = createVPAPublisher(connection);
    const metadata = { ...parseNamespacedIdentity(deployment), annotations: {} };
    const ours = publishedVPA({ kind: "Deployment", metadata }, [
      { container: "load", cpu: 150, memory: 2 ** 20, explanation: "" },
    ]);
    const uid = await publisher.create(ours);
    await publisher.recommend(ours, uid);
    const { name } = ours.metadata;
    const { status } = objectOf(await node.find(`${vpas}/${name}`));
    assert.match(JSON.stringify(status), /"containerName":"load".*"cpu":"150m"/);
    await publisher.remove({ namespace: namespace.name, name, uid });
    assert.equal(await node.find(`${vpas}/${name}`), undefined);
  } finally {
    await node.remove(`${CRDS}/${NAME}`);
  }
  await whenRaised();
});
