/**
 * The webhook's components: the configuration of API servers, and what the controllers may do for it.
 */
import assert from "node:assert/strict";
import {
  PODS_ROUTE,
  servingNames,
  WEBHOOK_CONFIGURATION,
  WEBHOOK_SECRET,
  webhookRights,
  WORKLOADS_ROUTE,
} from "../../controller/webhook/webhook_objects.ts";
import { CONTROLLER_SETTINGS } from "../../controller/settings.ts";
import { endpointSpec } from "../../controller/webhook/keep_endpoint.ts";
import { WEBHOOK_SETTINGS } from "../../controller/webhook/settings.ts";
import { PLACEMENT_PREFIX } from "../../shared/api/placement_keys.ts";
import { SYSTEM_NAMESPACES } from "../../shared/placement/eligibility.ts";
import { one, render, type Rendered, renderTest, renderWith, rightsOf } from "./rendered.ts";
import { settingOf } from "../../shared/config/setting.ts";

const NAMESPACE = "mbcas-system";

/** What a webhook's configuration has. */
interface RenderedWebhooks {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly webhooks: readonly {
    readonly clientConfig: {
      readonly service: Readonly<Record<"name" | "namespace" | "path" | "port", unknown>>;
      readonly caBundle?: string;
    };
  }[];
}

/** What a Certificate of cert-manager has. */
interface RenderedCertificate {
  readonly spec: {
    readonly isCA?: boolean;
    readonly dnsNames?: readonly string[];
    readonly usages?: readonly string[];
    readonly secretName: string;
    readonly issuerRef: { readonly name: string };
    readonly privateKey: { readonly rotationPolicy: string };
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

function keys(objects: readonly Rendered[]): string[] {
  return objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
}

/** The webhook's roles, each with a binding of its name. */
const ROLES = [
  ["Role", "mbcas-webhook"],
  ["Role", "mbcas-webhook-certificates"],
  ["ClusterRole", "mbcas-webhook"],
] as const;

function givenIn(
  objects: readonly Rendered[],
  roles: readonly (readonly [kind: string, name: string])[],
): string[] {
  return roles.flatMap(([kind, name]) => rightsOf(one(objects, kind, name), { withNames: true }))
    .sort();
}

function askedFor(options: Parameters<typeof webhookRights>[1]): string[] {
  return webhookRights(NAMESPACE, options).map(({ verb, group, resource, name }) =>
    [`${verb} ${group}/${resource}`, ...(name === undefined ? [] : [name])].join(" ")
  ).sort();
}

async function added(components: readonly string[]): Promise<string[]> {
  const before = new Set(keys(await render("base")));
  return keys(await renderWith(components)).filter((key) => !before.has(key)).sort();
}

renderTest(
  "component webhook asks about new pods, and lets them pass without an answer",
  async () => {
    const { webhooks } = webhooksOf(await renderWith(["webhook"]));
    const [{ clientConfig, ...rest }] = webhooks as unknown as [RenderedWebhooks["webhooks"][0]];
    assert.deepEqual(rest, {
      name: "pods.mbcas.io",
      admissionReviewVersions: ["v1"],
      rules: [{
        apiGroups: [""],
        apiVersions: ["v1"],
        operations: ["CREATE"],
        resources: ["pods"],
        scope: "Namespaced",
      }],
      namespaceSelector: {
        matchExpressions: [{
          key: "kubernetes.io/metadata.name",
          operator: "NotIn",
          values: ["kube-system", NAMESPACE],
        }],
      },
      failurePolicy: "Ignore",
      timeoutSeconds: 2,
      sideEffects: "NoneOnDryRun",
      reinvocationPolicy: "IfNeeded",
    });
    // Applying this again removes no bundle.
    assert.ok(!("caBundle" in clientConfig));
  },
);

renderTest(
  "component webhook asks about workloads with placement annotations, only to warn about them",
  async () => {
    const { webhooks } = webhooksOf(await renderWith(["webhook"]));
    const [, { clientConfig, ...rest }, ...others] = webhooks as unknown as [
      unknown,
      RenderedWebhooks["webhooks"][0],
    ];
    assert.deepEqual(others, []);
    const isOurs = `key.startsWith('${PLACEMENT_PREFIX}')`;
    assert.deepEqual(rest, {
      name: "workloads.mbcas.io",
      admissionReviewVersions: ["v1"],
      // No status and no scale: neither writes annotations.
      rules: [{
        apiGroups: ["apps"],
        apiVersions: ["v1"],
        operations: ["CREATE", "UPDATE"],
        resources: ["deployments", "statefulsets"],
        scope: "Namespaced",
      }],
      matchConditions: [{
        name: "has-placement-annotations",
        expression: ["labels", "annotations"].map((texts) =>
          `has(object.metadata.${texts}) && object.metadata.${texts}.exists(key, ${isOurs})`
        ).join(" || "),
      }],
      namespaceSelector: {
        matchExpressions: [{
          key: "kubernetes.io/metadata.name",
          operator: "NotIn",
          values: [...SYSTEM_NAMESPACES, NAMESPACE],
        }],
      },
      failurePolicy: "Ignore",
      timeoutSeconds: 1,
      // Nothing is changed, whatever a replica answers.
      sideEffects: "None",
      reinvocationPolicy: "Never",
    });
    assert.ok(!("caBundle" in clientConfig));
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

renderTest(
  "component webhook gives the rights that are asked for, by name, and no others",
  async () => {
    const objects = await renderWith(["webhook"]);
    const given = givenIn(objects, ROLES);
    assert.deepEqual(given, askedFor({ keepsCertificates: true }));
    assert.ok(given.includes(`update /secrets ${WEBHOOK_SECRET}`));
    // The rights without a name that RBAC leaves no other way to give.
    assert.deepEqual(given.filter((right) => right.split(" ").length < 3), [
      "create /secrets",
      "create discovery.k8s.io/endpointslices",
    ]);
    for (const [kind, name] of ROLES) {
      const { subjects } = one(objects, `${kind}Binding`, name) as unknown as {
        readonly subjects: readonly unknown[];
      };
      const account = { kind: "ServiceAccount", name: "mbcas-controller", namespace: NAMESPACE };
      assert.deepEqual(subjects, [account]);
    }
  },
);

renderTest("component webhook comes only where it is asked for", async () => {
  assert.deepEqual(await added(["webhook"]), [
    "ClusterRole mbcas-webhook",
    "ClusterRoleBinding mbcas-webhook",
    "MutatingWebhookConfiguration mbcas-webhook",
    "Role mbcas-webhook",
    "Role mbcas-webhook-certificates",
    "RoleBinding mbcas-webhook",
    "RoleBinding mbcas-webhook-certificates",
    "Service mbcas-webhook",
  ]);
  for (const overlay of ["base", "overlays/kind", "overlays/release"]) {
    assert.ok(!keys(await render(overlay)).some((key) => key.includes("webhook")), overlay);
  }
});

renderTest(
  "component webhook-cert-manager leaves certificates and trust to cert-manager",
  async () => {
    const components = ["webhook", "webhook-cert-manager"];
    assert.deepEqual(await added(components), [
      "Certificate mbcas-webhook",
      "Certificate mbcas-webhook-authority",
      "Issuer mbcas-webhook",
      "Issuer mbcas-webhook-self-signed",
      "MutatingWebhookConfiguration mbcas-webhook",
      "Role mbcas-webhook",
      "RoleBinding mbcas-webhook",
      "Service mbcas-webhook",
    ]);
    const objects = await renderWith(components);
    assert.deepEqual(
      givenIn(objects, [["Role", "mbcas-webhook"]]),
      askedFor({ keepsCertificates: false }),
    );
    assert.deepEqual(webhooksOf(objects).metadata.annotations, {
      "cert-manager.io/inject-ca-from": `${NAMESPACE}/mbcas-webhook`,
    });
    const { spec } = one(objects, "Certificate", "mbcas-webhook") as unknown as RenderedCertificate;
    const service = settingOf(WEBHOOK_SETTINGS.shape.webhookService).default;
    assert.deepEqual(spec.dnsNames, servingNames(service, NAMESPACE));
    assert.ok(spec.usages?.includes("server auth"));
    const authority = one(
      objects,
      "Certificate",
      "mbcas-webhook-authority",
    ) as unknown as RenderedCertificate;
    const issuer = one(objects, "Issuer", spec.issuerRef.name) as unknown as {
      readonly spec: { readonly ca: { readonly secretName: string } };
    };
    // What API servers trust outlives each certificate that it has signed.
    assert.equal(issuer.spec.ca.secretName, authority.spec.secretName);
    assert.notEqual(authority.spec.secretName, spec.secretName);
    assert.deepEqual([authority.spec.isCA, authority.spec.privateKey.rotationPolicy], [
      true,
      "Never",
    ]);
    const { container, volumes } = controllerOf(objects);
    assert.deepEqual(container.volumeMounts.at(-1), {
      name: "webhook-certificate",
      mountPath: settingOf(WEBHOOK_SETTINGS.shape.webhookFolder).default,
      readOnly: true,
    });
    assert.deepEqual(volumes.at(-1), {
      name: "webhook-certificate",
      secret: { secretName: spec.secretName, optional: true },
    });
    assert.deepEqual(container.env.at(-1), {
      name: settingOf(WEBHOOK_SETTINGS.shape.webhookCertificates).env,
      value: "cert-manager",
    });
  },
);
