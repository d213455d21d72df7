/**
 * Policy engines that deny resizes in one namespace: the engine's message are reported, attempts become
 * rare, pods elsewhere are served as ever, and what is allowed again is done.
 *
 * @module
 */
import assert from "node:assert/strict";
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
import { assertReported, eventTexts } from "./scene/reported.ts";
import { isHarness } from "./scene/harness_access.ts";
import { NETWORK } from "./harness/instance.ts";
import { openRealNode, type PodName, type RealNode, scratchNamespace } from "./scene/real_node.ts";
import { testsAtOnce } from "./scene/tests_at_once.ts";
import { pause, until } from "./scene/until.ts";
import { objectOf, textOf } from "../../adapters/kube/client/json_fields.ts";
import { run } from "./harness/shell.ts";

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

function only(namespace: string): Record<string, unknown> {
  return { matchLabels: { "kubernetes.io/metadata.name": namespace } };
}

/** An object of this name while it is wanted. */
async function cluster(
  node: RealNode,
  { kind, name, ...rest }: { readonly kind: string; readonly name: string },
): Promise<AsyncDisposable> {
  const path = `${GROUP}/${kind}`;
  await node.create(path, { metadata: { name }, ...rest });
  return {
    [Symbol.asyncDispose]: async () => {
      await node.connection.request({ method: "DELETE", path: `${path}/${name}` });
    },
  };
}

/** Waits until the server denies a resize in the namespace, which is only tried. */
async function whenDenied({ namespace, name }: PodName): Promise<void> {
  const resources = { limits: { cpu: "45m" } };
  const patch = { spec: { containers: [{ name: "load", resources }] } };
  await until("denied resize", async () => {
    const { ok } = await kubectl.run([
      ...["patch", "pod", name, "-n", namespace, "--subresource=resize", "--dry-run=server"],
      ...["-p", JSON.stringify(patch)],
    ]);
    return ok ? undefined : true;
  }, SETTLED);
}

testsAtOnce({
  "resizes that a ValidatingAdmissionPolicy denies are reported with its message, others go on, and all is done without it":
    async () => {
      using node = await openRealNode();
      await using denied = await scratchNamespace(node.connection, OUTSIDE);
      await using free = await scratchNamespace(node.connection, OUTSIDE);
      const name = denied.name;
      const [web, other] = await Promise.all([
        waitingPod(node, denied.name),
        waitingPod(node, free.name),
      ]);
      {
        await using _policy = await cluster(node, {
          kind: "validatingadmissionpolicies",
          name,
          ...{
            spec: {
              matchConstraints: { resourceRules: [RESIZES] },
              validations: [{ expression: "false", message: MESSAGE }],
            },
          },
        });
        await using _binding = await cluster(node, {
          kind: "validatingadmissionpolicybindings",
          name,
          ...{
            spec: {
              policyName: name,
              validationActions: ["Deny"],
              matchResources: { namespaceSelector: only(denied.name) },
            },
          },
        });
        await whenDenied(web);
        await Promise.all([denied, free].map(({ name }) => takeIn(node, name)));
        assert.match(await whenReason(node, web, "AdmissionDenied"), new RegExp(MESSAGE));
        await whenQuota(node, other, (quota) => quota > WAITING_OWN);
        assert.equal(await quotaOf(node, web), WAITING_OWN);
        await assertReported(node, web, { refusal: "AdmissionDenied" });
        const [reported] = await eventTexts(node, { ...web, reason: "CPULimitFailed" });
        assert.match(reported ?? "", new RegExp(MESSAGE));
      }
      await whenQuota(node, web, (quota) => quota > WAITING_OWN);
    },
  "resizes that a webhook denies are reported with its message and tried seldom, others go on, and all is done without it":
    {
      ignore: !isHarness(),
      async fn() {
        using node = await openRealNode();
        await using engine = await denyingWebhook(NETWORK.node, MESSAGE);
        await using denied = await scratchNamespace(node.connection, OUTSIDE);
        await using lost = await scratchNamespace(node.connection, OUTSIDE);
        await using free = await scratchNamespace(node.connection, OUTSIDE);
        const [web, away, other] = await Promise.all(
          [denied, lost, free].map(({ name }) => waitingPod(node, name)),
        ) as [PodName, PodName, PodName];
        const webhook = (namespace: string, clientConfig: unknown) =>
          cluster(node, {
            kind: "validatingwebhookconfigurations",
            name: namespace,
            ...{
              webhooks: [{
                name: "policy.example.com",
                clientConfig,
                rules: [RESIZES],
                namespaceSelector: only(namespace),
                failurePolicy: "Fail",
                sideEffects: "None",
                admissionReviewVersions: ["v1"],
                timeoutSeconds: 2,
              }],
            },
          });
        {
          const { url, caBundle } = engine;
          await using _denying = await webhook(denied.name, { url, caBundle });
          // No server listens there.
          await using _lost = await webhook(lost.name, {
            url: `https://${NETWORK.node}:9/`,
            caBundle,
          });
          await Promise.all([web, away].map(whenDenied));
          await Promise.all([denied, lost, free].map(({ name }) => takeIn(node, name)));
          const message = await whenReason(node, web, "AdmissionDenied");
          assert.match(message, new RegExp(`policy.example.com.*denied.*${MESSAGE}`));
          assert.match(await whenReason(node, away, "Refused"), /failed calling webhook/);
          await whenQuota(node, other, (quota) => quota > WAITING_OWN);
          assert.equal(await quotaOf(node, web), WAITING_OWN);
          assert.equal(await quotaOf(node, away), WAITING_OWN);

          // 1, 2, 4, 8 s and so on lie between attempts.
          const before = engine.asked.length;
          await Promise.all([
            pause(15_000),
            assertReported(node, web, { refusal: "AdmissionDenied" }),
            assertReported(node, away, { refusal: "Refused" }),
          ]);
          assert.ok(engine.asked.length > 0);
          assert.ok(engine.asked.every((user) => user === CONTROLLER), engine.asked.join());
          const seen = engine.asked.length - before;
          assert.ok(seen <= 4, `${seen} attempts in 15 s`);
        }
        await Promise.all(
          [web, away].map((name) => whenQuota(node, name, (quota) => quota > WAITING_OWN)),
        );
      },
    },
});

/** The server while it runs. */
export interface DenyingWebhook extends AsyncDisposable {
  /** Where the API server reaches it. */
  readonly url: string;
  /** PEM of its certificate, base64: it is its own authority. */
  readonly caBundle: string;
  /** The users of the requests, in the order of arrival; dry runs are left out. */
  readonly asked: readonly string[];
}

/** Listens on `address`, which the API server must reach, and denies all with this message. */
export async function denyingWebhook(address: string, message: string): Promise<DenyingWebhook> {
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
