/**
 * `kubectl coalloc doctor` on a real node: no finding on a healthy one, and one for each of eight
 * faults.
 *
 * @module
 */
import assert from "node:assert/strict";
import { patchRequest } from "../../adapters/kube/client/connection.ts";
import { objectOf, textsOf } from "../../adapters/kube/client/json_fields.ts";
import { formatMicroTime } from "../../adapters/kube/kinds/object_fields.ts";
import { createCertificateMaker } from "../../adapters/webhook/certificates.ts";
import type { Diagnosis } from "../../cli/coalloc/doctor/check.ts";
import { createKubectl, kubectlAsServiceAccount } from "./kubectl.ts";
import { SETTLED } from "./scene/limits.ts";
import { loadDeployment, loadPod } from "./scene/load_pod.ts";
import { coalloc, PRODUCT_NAMESPACE, whenReady } from "./scene/product.ts";
import { onNode, type RealNode } from "./scene/real_node.ts";
import { until } from "./scene/until.ts";
import { defineVPAs, forgetVPAs, knowsVPAs, vpaOf, vpasPath } from "./scene/vpa_definition.ts";

const kubectl = createKubectl();
const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${PRODUCT_NAMESPACE}/leases`;
const POLICY =
  `/apis/networking.k8s.io/v1/namespaces/${PRODUCT_NAMESPACE}/networkpolicies/mbcas-agent`;
const WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
const CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" +
  "podallocations.allocation.mbcas.io";
const VERSION = "app.kubernetes.io/version";
const DAY = 86_400_000;

async function diagnosis(...flags: string[]): Promise<Diagnosis & { readonly code: number }> {
  const { code, stdout, stderr } = await coalloc("doctor", "-o", "json", ...flags);
  assert.equal(stderr, "");
  return { code, ...JSON.parse(stdout) };
}

/** Codes of warnings and errors: the node's version of cgroups and the like are worth knowing only. */
function faultsOf({ findings }: Diagnosis): readonly string[] {
  return findings.filter(({ severity }) => severity !== "info").map(({ code }) => code).sort();
}

/** Keeps a container's limit, has a request that an HPA divides by, and is a VPA's. */
async function addWorkloads(node: RealNode, namespace: string): Promise<void> {
  const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  const containers = [{ name: "load", request: "10m", limit: "20m" }];
  const restarting = [{ ...containers[0]!, resizePolicy: "RestartContainer" as const }];
  await node.run(loadPod({ name: "restarting", namespace, containers: restarting }));
  await node.create(deployments, loadDeployment({ name: "vpa", namespace, containers }));
  await node.create(
    deployments,
    loadDeployment({
      name: "hpa",
      namespace,
      annotations: { "mbcas.io/skip-guaranteed": "false" },
      containers: [{ name: "load", request: "20m", limit: "20m", memory: "32Mi" }],
    }),
  );
  await node.create(`/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`, {
    metadata: { name: "hpa" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "hpa" },
      maxReplicas: 2,
      metrics: [{
        type: "Resource",
        resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } },
      }],
    },
  });
}

/** A bundle that ended yesterday; no request matches the rule. */
async function expiredWebhook(): Promise<unknown> {
  const now = Date.now();
  const { cert } = await createCertificateMaker().makeAuthority({
    name: "old",
    notBeforeMs: now - 2 * DAY,
    notAfterMs: now - DAY,
  });
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name: "mbcas-webhook" },
    webhooks: [{
      name: "pods.mbcas.io",
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
      failurePolicy: "Ignore",
      clientConfig: {
        service: { namespace: PRODUCT_NAMESPACE, name: "mbcas-webhook" },
        caBundle: btoa(cert),
      },
      rules: [{
        apiGroups: ["none.mbcas.io"],
        apiVersions: ["v1"],
        operations: ["CREATE"],
        resources: ["none"],
      }],
    }],
  };
}

/** Installs the faults of the installation; they go with the stack. */
async function disturb(node: RealNode, undo: AsyncDisposableStack): Promise<void> {
  const { connection } = node;
  const merge = (path: string, body: unknown): Promise<unknown> =>
    connection.request(patchRequest("merge", { path, body }));

  const { egress } = objectOf(objectOf(await connection.request({ path: POLICY })).spec);
  undo.defer(async () => void await merge(POLICY, { spec: { egress } }));
  await connection.request(
    patchRequest("json", { path: POLICY, body: [{ op: "remove", path: "/spec/egress/1" }] }),
  );

  await node.create(WEBHOOKS, await expiredWebhook());
  undo.defer(async () => {
    await connection.request({ method: "DELETE", path: `${WEBHOOKS}/mbcas-webhook` });
  });

  const { metadata } = objectOf(await connection.request({ path: CRD }));
  const version = textsOf(objectOf(metadata).labels)[VERSION] ?? null;
  undo.defer(async () => void await merge(CRD, { metadata: { labels: { [VERSION]: version } } }));
  await merge(CRD, { metadata: { labels: { [VERSION]: "0.0.9" } } });

  await node.create(LEASES, {
    metadata: { name: "mbcas-agent-ahead" },
    spec: { holderIdentity: "ahead", renewTime: formatMicroTime(Date.now() + 300_000) },
  });
  undo.defer(async () => {
    await connection.request({ method: "DELETE", path: `${LEASES}/mbcas-agent-ahead` });
  });
}

/** The node has no agent and none of its Leases until the stack is disposed of. */
async function silence(node: RealNode, undo: AsyncDisposableStack): Promise<void> {
  const nowhere = (value: string | null): Promise<string> =>
    kubectl.must([
      ...["patch", "daemonset", "mbcas-agent", "-n", PRODUCT_NAMESPACE, "-p"],
      JSON.stringify({ spec: { template: { spec: { nodeSelector: { nowhere: value } } } } }),
    ]);
  undo.defer(async () => {
    await nowhere(null);
    await whenReady(node, "mbcas-agent", 1);
  });
  await nowhere("true");
  const agents = ["pods", "-n", PRODUCT_NAMESPACE, "-l", "app.kubernetes.io/name=mbcas-agent"];
  await kubectl.must(["wait", "--for=delete", "--timeout=60s", ...agents]);
  const leases = JSON.parse(
    await kubectl.must(["get", "leases", "-n", PRODUCT_NAMESPACE, "-o", "json"]),
  );
  for (const { metadata: { name } } of leases.items) {
    if (!name.startsWith("mbcas-agent-") || name === "mbcas-agent-ahead") continue;
    await kubectl.must(["delete", "lease", name, "-n", PRODUCT_NAMESPACE]);
  }
}

Deno.test(
  "doctor finds nothing on a healthy node, and each of eight faults",
  onNode(async (node, { name: namespace }) => {
    // Programs that a test before has restarted may not be ready yet.
    await until("a node without findings", async () => {
      const healthy = await diagnosis();
      assert.deepEqual([faultsOf(healthy), healthy.unchecked, healthy.code], [[], [], 0]);
      return true;
    }, { ...SETTLED, everyMs: 2000 });

    await using undo = new AsyncDisposableStack();
    await addWorkloads(node, namespace);
    if (!await knowsVPAs(node.connection)) {
      undo.defer(() => forgetVPAs(node.connection));
      await defineVPAs(node.connection);
    }
    await node.create(vpasPath(namespace), vpaOf("vpa", "Auto"));
    // With allocations for the pods that the controller has taken in.
    await until("findings about workloads", async () => {
      const found = faultsOf(await diagnosis());
      const wanted = ["HPAConflict", "RestartsOnCPU", "VPAConflict"];
      if (wanted.every((code) => found.includes(code))) return true;
      throw new Error(`there are ${found.join()}`);
    }, { ...SETTLED, everyMs: 2000 });
    await disturb(node, undo);
    await silence(node, undo);

    const disturbed = await diagnosis();
    assert.deepEqual(faultsOf(disturbed), [
      "AgentSilent",
      "CABundleExpired",
      "ClockSkew",
      "EgressToAPIBlocked",
      "HPAConflict",
      // The controller's NetworkPolicy comes without the component webhook.
      "IngressToWebhookBlocked",
      "RestartsOnCPU",
      "VPAConflict",
      "VersionDiffers",
    ]);
    assert.equal(disturbed.code, 1);
  }),
);

Deno.test(
  "doctor says which rights a user lacks",
  onNode(async (_node, { name: namespace }) => {
    const account = { namespace, serviceAccount: "default" };
    const [, path] = await kubectlAsServiceAccount(kubectl, account);
    try {
      const { unchecked, code } = await diagnosis("--kubeconfig", path);
      assert.equal(code, 3);
      const reasons = unchecked.map(({ why }) => why);
      assert(
        reasons.some((why) => why.includes("the right to list nodes is missing")),
        reasons.join(),
      );
    } finally {
      await Deno.remove(path);
    }
  }),
);
