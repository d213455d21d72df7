/**
 * Policy engines that deny resizes in some namespaces: the engine's message is reported, pods
 * elsewhere are served as ever, and what is allowed again is done.
 *
 * @module
 */
import assert from "node:assert/strict";
import { NETWORK } from "./harness/instance.ts";
import { createKubectl } from "./kubectl.ts";
import {
  OUTSIDE,
  quotaOf,
  SETTLED,
  takeIn,
  WAITING_OWN,
  waitingPod,
  whenQuota,
  whenReason,
} from "./scene/limits.ts";
import { openRealNode, type PodName, type RealNode, scratchNamespace } from "./scene/real_node.ts";
import { assertReported, eventTexts } from "./scene/reported.ts";
import { until } from "./scene/until.ts";

const MESSAGE = "limits are the platform team's business";
const GROUP = "/apis/admissionregistration.k8s.io/v1";
const kubectl = createKubectl();

const RESIZES = {
  apiGroups: [""],
  apiVersions: ["v1"],
  operations: ["UPDATE"],
  resources: ["pods/resize"],
};

/** Objects of these kinds, by kind, that are about the namespace and have its name. */
function admissionPolicy(namespaceSelector: unknown, name: string): Record<string, object> {
  return {
    validatingadmissionpolicies: {
      spec: {
        matchConstraints: { resourceRules: [RESIZES] },
        validations: [{ expression: "false", message: MESSAGE }],
      },
    },
    validatingadmissionpolicybindings: {
      spec: {
        policyName: name,
        validationActions: ["Deny"],
        matchResources: { namespaceSelector },
      },
    },
  };
}

/** No server listens there. */
function unreachableWebhook(namespaceSelector: unknown): Record<string, object> {
  return {
    validatingwebhookconfigurations: {
      webhooks: [{
        name: "policy.example.com",
        clientConfig: { url: `https://${NETWORK.node}:9/` },
        rules: [RESIZES],
        namespaceSelector,
        failurePolicy: "Fail",
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        timeoutSeconds: 2,
      }],
    },
  };
}

/** Waits until the server denies a resize of the pod, which is only tried. */
async function whenDenied({ namespace, name }: PodName): Promise<void> {
  const containers = [{ name: "load", resources: { limits: { cpu: "45m" } } }];
  await until("denied resize", async () => {
    const { ok } = await kubectl.run([
      ...["patch", "pod", name, "-n", namespace, "--subresource=resize", "--dry-run=server"],
      ...["-p", JSON.stringify({ spec: { containers } })],
    ]);
    return ok ? undefined : true;
  }, SETTLED);
}

Deno.test("resizes that a policy or an unreachable webhook denies are reported with its message, others go on, and all is done without them", async () => {
  using node = await openRealNode();
  await using undo = new AsyncDisposableStack();
  const [byPolicy, away, free] = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const { name } = undo.use(await scratchNamespace(node.connection, OUTSIDE));
      return await waitingPod(node, name);
    }),
  ) as [PodName, PodName, PodName];
  const denied = [byPolicy, away];
  {
    await using engines = new AsyncDisposableStack();
    const selector = ({ namespace }: PodName) => ({
      matchLabels: { "kubernetes.io/metadata.name": namespace },
    });
    await install(node, byPolicy, admissionPolicy(selector(byPolicy), byPolicy.namespace), engines);
    await install(node, away, unreachableWebhook(selector(away)), engines);
    await Promise.all(denied.map(whenDenied));
    await Promise.all([...denied, free].map(({ namespace }) => takeIn(node, namespace)));
    assert.match(await whenReason(node, byPolicy, "AdmissionDenied"), new RegExp(MESSAGE));
    assert.match(await whenReason(node, away, "Refused"), /failed calling webhook/);
    await whenQuota(node, free, (quota) => quota > WAITING_OWN);
    for (const name of denied) assert.equal(await quotaOf(node, name), WAITING_OWN);
    await Promise.all([
      assertReported(node, byPolicy, { refusal: "AdmissionDenied" }),
      assertReported(node, away, { refusal: "Refused" }),
    ]);
    const [reported] = await eventTexts(node, { ...byPolicy, reason: "CPULimitFailed" });
    assert.match(reported ?? "", new RegExp(MESSAGE));
  }
  await Promise.all(
    denied.map((name) => whenQuota(node, name, (quota) => quota > WAITING_OWN)),
  );
});

/** Makes the objects, which go with the stack. */
async function install(
  node: RealNode,
  { namespace: name }: PodName,
  objects: Readonly<Record<string, object>>,
  undo: AsyncDisposableStack,
): Promise<void> {
  for (const [kind, object] of Object.entries(objects)) {
    await node.create(`${GROUP}/${kind}`, { metadata: { name }, ...object });
    undo.defer(() => node.remove(`${GROUP}/${kind}/${name}`));
  }
}
