/**
 * Policy engines that deny resizes in some namespaces: the engine's message is reported, attempts become
 * rare, pods elsewhere are served as ever, and what is allowed again is done.
 *
 * @module
 */
import assert from "node:assert/strict";
import { objectOf, textOf } from "../../adapters/kube/client/json_fields.ts";
import { NETWORK } from "./harness/instance.ts";
import { run } from "./harness/shell.ts";
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
import { pause, until } from "./scene/until.ts";

const MESSAGE = "limits are the platform team's business";
const GROUP = "/apis/admissionregistration.k8s.io/v1";
const CONTROLLER = "system:serviceaccount:mbcas-system:mbcas-controller";
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

function webhook(namespaceSelector: unknown, clientConfig: unknown): Record<string, object> {
  return {
    validatingwebhookconfigurations: {
      webhooks: [{
        name: "policy.example.com",
        clientConfig,
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

Deno.test("resizes that a policy or a webhook denies are reported with its message and tried seldom, others go on, and all is done without them", async () => {
  using node = await openRealNode();
  await using engine = await denyingWebhook(NETWORK.node, MESSAGE);
  await using undo = new AsyncDisposableStack();
  const [byPolicy, byWebhook, away, free] = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const { name } = undo.use(await scratchNamespace(node.connection, OUTSIDE));
      return await waitingPod(node, name);
    }),
  ) as [PodName, PodName, PodName, PodName];
  const denied = [byPolicy, byWebhook, away];
  {
    await using engines = new AsyncDisposableStack();
    const selector = ({ namespace }: PodName) => ({
      matchLabels: { "kubernetes.io/metadata.name": namespace },
    });
    const { url, caBundle } = engine;
    // No server listens there.
    const nowhere = { url: `https://${NETWORK.node}:9/`, caBundle };
    await Promise.all([
      install(node, byPolicy, admissionPolicy(selector(byPolicy), byPolicy.namespace), engines),
      install(node, byWebhook, webhook(selector(byWebhook), { url, caBundle }), engines),
      install(node, away, webhook(selector(away), nowhere), engines),
    ]);
    await Promise.all(denied.map(whenDenied));
    await Promise.all([...denied, free].map(({ namespace }) => takeIn(node, namespace)));
    assert.match(await whenReason(node, byPolicy, "AdmissionDenied"), new RegExp(MESSAGE));
    const message = await whenReason(node, byWebhook, "AdmissionDenied");
    assert.match(message, new RegExp(`policy.example.com.*denied.*${MESSAGE}`));
    assert.match(await whenReason(node, away, "Refused"), /failed calling webhook/);
    await whenQuota(node, free, (quota) => quota > WAITING_OWN);
    for (const name of denied) assert.equal(await quotaOf(node, name), WAITING_OWN);

    // 1, 2, 4, 8 s and so on lie between attempts.
    const before = engine.asked.length;
    await Promise.all([
      pause(15_000),
      assertReported(node, byPolicy, { refusal: "AdmissionDenied" }),
      assertReported(node, byWebhook, { refusal: "AdmissionDenied" }),
      assertReported(node, away, { refusal: "Refused" }),
    ]);
    const [reported] = await eventTexts(node, { ...byPolicy, reason: "CPULimitFailed" });
    assert.match(reported ?? "", new RegExp(MESSAGE));
    assert.ok(engine.asked.length > 0);
    assert.ok(engine.asked.every((user) => user === CONTROLLER), engine.asked.join());
    const seen = engine.asked.length - before;
    assert.ok(seen <= 4, `${seen} attempts in 15 s`);
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

/** The server while it runs. */
interface DenyingWebhook extends AsyncDisposable {
  /** Where the API server reaches it. */
  readonly url: string;
  /** PEM of its certificate, base64: it is its own authority. */
  readonly caBundle: string;
  /** The users of the requests, in the order of arrival; dry runs are left out. */
  readonly asked: readonly string[];
}

/** Listens on `address`, which the API server must reach, and denies all with this message. */
async function denyingWebhook(address: string, message: string): Promise<DenyingWebhook> {
  const folder = await Deno.makeTempDir();
  const [keyFile, certFile] = [`${folder}/key.pem`, `${folder}/cert.pem`];
  await run([
    ...["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"],
    ...["-subj", "/CN=policy", "-addext", `subjectAltName=IP:${address}`],
    ...["-keyout", keyFile, "-out", certFile],
  ]);
  const key = await Deno.readTextFile(keyFile);
  const cert = await Deno.readTextFile(certFile);
  await Deno.remove(folder, { recursive: true });
  const asked: string[] = [];
  const server = Deno.serve(
    { hostname: address, port: 0, key, cert, onListen() {} },
    async (request) => {
      const review = objectOf(await request.json());
      const { uid, userInfo, dryRun } = objectOf(review["request"]);
      if (dryRun !== true) asked.push(textOf(objectOf(userInfo).username) ?? "");
      return Response.json({
        apiVersion: "admission.k8s.io/v1",
        kind: "AdmissionReview",
        response: { uid, allowed: false, status: { code: 403, message } },
      });
    },
  );
  return {
    url: `https://${address}:${server.addr.port}/validate`,
    caBundle: btoa(cert),
    asked,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
