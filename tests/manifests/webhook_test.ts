/** The components of the webhook: the configuration of API servers, ports, rights and certificates. */
import assert from "node:assert/strict";
import { CONTROLLER_SETTINGS } from "../../controller/settings.ts";
import { endpointSpec } from "../../controller/webhook/keep_endpoint.ts";
import { WEBHOOK_SETTINGS } from "../../controller/webhook/settings.ts";
import {
  ENDPOINT_SLICES,
  PODS_ROUTE,
  servingNames,
  WEBHOOK_CONFIGURATION,
  WORKLOADS_ROUTE,
} from "../../controller/webhook/webhook_objects.ts";
import { PLACEMENT_PREFIX } from "../../shared/api/placement_keys.ts";
import { settingOf } from "../../shared/config/setting.ts";
import { SYSTEM_NAMESPACES } from "../../shared/placement/eligibility.ts";
import { one, type Rendered, renderTest, renderWith, rightsOf } from "./rendered.ts";

const NAMESPACE = "mbcas-system";

/** The compared parts of a webhook's configuration. */
interface RenderedWebhooks {
  readonly webhooks: readonly {
    readonly clientConfig: {
      readonly service: Readonly<Record<"name" | "namespace" | "path" | "port", unknown>>;
    };
    readonly matchConditions?: readonly { readonly expression: string }[];
    readonly namespaceSelector: {
      readonly matchExpressions: readonly [{ readonly values: readonly string[] }];
    };
  }[];
}

/** The compared parts of a Certificate of cert-manager. */
interface RenderedCertificate {
  readonly spec: {
    readonly dnsNames?: readonly string[];
    readonly secretName: string;
    readonly issuerRef: { readonly name: string };
  };
}

function webhooksOf(objects: readonly Rendered[]): RenderedWebhooks {
  return one(
    objects,
    "MutatingWebhookConfiguration",
    WEBHOOK_CONFIGURATION,
  ) as unknown as RenderedWebhooks;
}

function controllerOf(objects: readonly Rendered[]) {
  const { containers, volumes } = one(objects, "Deployment", "mbcas-controller").spec.template.spec;
  return { container: containers[0], volumes };
}

renderTest(
  "component webhook asks about workloads to be placed, outside of the system",
  async () => {
    const { webhooks: [, workloads] } = webhooksOf(await renderWith(["webhook"]));
    const isOurs = `key.startsWith('${PLACEMENT_PREFIX}')`;
    const { matchConditions, namespaceSelector } = workloads ?? assert.fail("there is none");
    const [condition, ...others] = matchConditions ?? [];
    assert.deepEqual(others, []);
    assert.equal(
      condition?.expression,
      ["labels", "annotations"].map((texts) =>
        `has(object.metadata.${texts}) && object.metadata.${texts}.exists(key, ${isOurs})`
      ).join(" || "),
    );
    const [{ values }] = namespaceSelector.matchExpressions;
    assert.deepEqual(values, [...SYSTEM_NAMESPACES, NAMESPACE]);
  },
);

renderTest("component webhook leads from the configuration to the controllers' port", async () => {
  const objects = await renderWith(["webhook"]);
  const service = settingOf(WEBHOOK_SETTINGS.shape.webhookService).default;
  assert.deepEqual(
    webhooksOf(objects).webhooks.map(({ clientConfig }) => clientConfig.service),
    [PODS_ROUTE, WORKLOADS_ROUTE].map((path) => ({
      name: service,
      namespace: NAMESPACE,
      path,
      port: 443,
    })),
  );
  const port = Number(settingOf(WEBHOOK_SETTINGS.shape.webhookListen).default.slice(1));
  const { spec } = one(objects, "Service", service) as unknown as { readonly spec: unknown };
  // No selector: the leader writes the endpoint, under the name of this port.
  const [published] = endpointSpec(service, { address: "10.0.0.1", port }).ports;
  assert.deepEqual(spec, {
    ports: [{ name: published?.name, port: 443, targetPort: port, protocol: "TCP" }],
  });
  const { ports, env } = controllerOf(objects).container as unknown as {
    readonly ports: readonly unknown[];
    readonly env: readonly { readonly name: string; readonly value?: string }[];
  };
  assert.deepEqual(ports.at(-1), { name: "webhook", containerPort: port });
  assert.deepEqual(env.at(-1), {
    name: settingOf(CONTROLLER_SETTINGS.shape.podIP).env,
    valueFrom: { fieldRef: { fieldPath: "status.podIP" } },
  });
  const { name, value = "" } = env.at(-2) ?? assert.fail("there is no variable");
  assert.equal(name, settingOf(WEBHOOK_SETTINGS.shape.webhook).env);
  assert.equal(WEBHOOK_SETTINGS.shape.webhook.parse(value), true);
  const { ingress } = one(objects, "NetworkPolicy", "mbcas-controller").spec as unknown as {
    readonly ingress: readonly unknown[];
  };
  assert.deepEqual(ingress.at(-1), { ports: [{ port, protocol: "TCP" }] });
});

renderTest("component webhook-cert-manager leaves trust to cert-manager", async () => {
  const objects = await renderWith(["webhook", "webhook-cert-manager"]);
  // The roles for the webhook's own certificates are gone with their bindings.
  const roles = objects.filter(({ kind, metadata: { name } }) =>
    /^(Cluster)?Role(Binding)?$/.test(kind) && name.startsWith("mbcas-webhook")
  );
  assert.deepEqual(roles.map(({ kind, metadata: { name } }) => `${kind} ${name}`).sort(), [
    "Role mbcas-webhook",
    "RoleBinding mbcas-webhook",
  ]);
  const slices = "discovery.k8s.io/endpointslices";
  const rights = rightsOf(one(objects, "Role", "mbcas-webhook"), { withNames: true });
  assert.deepEqual(rights.sort(), [
    `create ${slices}`,
    ...["get", "update"].flatMap((verb) =>
      ENDPOINT_SLICES.map((name) => `${verb} ${slices} ${name}`)
    ),
  ]);
  const certificate = (name: string) =>
    one(objects, "Certificate", name).spec as unknown as RenderedCertificate["spec"];
  const [serving, authority] = ["mbcas-webhook", "mbcas-webhook-authority"].map(certificate);
  assert.ok(serving !== undefined && authority !== undefined);
  const service = settingOf(WEBHOOK_SETTINGS.shape.webhookService).default;
  assert.deepEqual(serving.dnsNames, servingNames(service, NAMESPACE));
  const issuer = one(objects, "Issuer", serving.issuerRef.name) as unknown as {
    readonly spec: { readonly ca: { readonly secretName: string } };
  };
  // The authority that API servers trust outlives each certificate that it has signed.
  assert.equal(issuer.spec.ca.secretName, authority.secretName);
  assert.notEqual(authority.secretName, serving.secretName);
  const { container, volumes } = controllerOf(objects);
  const { name, mountPath } = container.volumeMounts.at(-1) ?? {};
  assert.equal(mountPath, settingOf(WEBHOOK_SETTINGS.shape.webhookFolder).default);
  const secret = { secretName: serving.secretName, optional: true };
  assert.deepEqual(volumes.at(-1), { name, secret });
  const variable = settingOf(WEBHOOK_SETTINGS.shape.webhookCertificates).env;
  assert.deepEqual(container.env.at(-1), { name: variable, value: "cert-manager" });
});
