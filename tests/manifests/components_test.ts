/** Rightsizing and the webhook: their components, policies as users write them, and recommendations as patches. */
import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { faultsOf, faultText } from "../../shared/api/fields.ts";
import { optimizationPolicySchema } from "../../shared/api/optimization_policy.ts";
import { readPolicySpec } from "../../shared/rightsizing/policy_spec.ts";
import { structuralSchema } from "../../tools/crd/definitions.ts";
import { INVALID_POLICIES } from "../fixtures/optipod/invalid_policies.ts";
import {
  one,
  render,
  type Rendered,
  renderFiles,
  renderTest,
  renderWith,
  type Untyped,
} from "./rendered.ts";
import { patchText } from "../../cli/coalloc/recommend/patch_text.ts";
import { adviseAll } from "../../shared/view/advise.ts";
import { sumOfChanges } from "../../shared/view/changes.ts";
import { reportsOf, shopPods, shopRecords, shopTemplates } from "../fixtures/cli/advised_shop.ts";
import { CONTROLLER_SETTINGS } from "../../controller/settings.ts";
import { endpointSpec } from "../../controller/webhook/keep_endpoint.ts";
import { WEBHOOK_SETTINGS } from "../../controller/webhook/settings.ts";
import {
  PODS_ROUTE,
  servingNames,
  WEBHOOK_CONFIGURATION,
  WORKLOADS_ROUTE,
} from "../../controller/webhook/webhook_objects.ts";
import { PLACEMENT_PREFIX } from "../../shared/api/placement_keys.ts";
import { settingOf } from "../../shared/config/setting.ts";
import { SYSTEM_NAMESPACES } from "../../shared/placement/eligibility.ts";

const EXAMPLES = new URL("../../manifests/examples/optipod/", import.meta.url);

interface Manifest {
  readonly file: string;
  readonly object: { readonly kind: string; readonly spec?: unknown };
}

function manifestsIn(folder: URL): readonly Manifest[] {
  return [...Deno.readDirSync(folder)].filter(({ name }) => name.endsWith(".yaml"))
    .flatMap(({ name: file }) => {
      const text = Deno.readTextFileSync(new URL(file, folder));
      return parseAllDocuments(text).map((document) => ({ file, object: document.toJS() }));
    }).filter(({ object }) => object.kind === "OptimizationPolicy");
}

/** Paths of all fields of a schema that hold no other ones. */
function leaves(schema: unknown, path: string): readonly string[] {
  const { properties, items } = schema as { properties?: object; items?: object };
  if (items !== undefined) return leaves(items, path);
  if (properties === undefined) return [path];
  return Object.entries(properties).flatMap(([name, field]) => leaves(field, `${path}.${name}`));
}

/** Paths of what a value sets, without places in lists and without the keys of labels. */
function set(value: unknown, path: string): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((one) => set(one, path));
  if (typeof value !== "object" || value === null || path.endsWith(".matchLabels")) return [path];
  return Object.entries(value).flatMap(([name, field]) => set(field, `${path}.${name}`));
}

/** Each field of a policy's spec that holds no other ones. */
const FIELDS = leaves(structuralSchema(optimizationPolicySchema.shape.spec), "spec");

Deno.test("readPolicySpec() takes each example, and the examples use each field", () => {
  const examples = manifestsIn(EXAMPLES);
  for (const { file, object } of examples) {
    assert.deepEqual(readPolicySpec(object.spec).faults, [], file);
    assert.equal(optimizationPolicySchema.safeParse(object).success, true, file);
  }
  const used = new Set(examples.flatMap(({ object }) => set(object.spec, "spec")));
  assert.deepEqual(FIELDS.filter((field) => !used.has(field)), []);
});

Deno.test("readPolicySpec() refuses each invalid policy, of each field one, by the field that it names first", () => {
  const refused = new Set<string>();
  for (const { name, field, object } of INVALID_POLICIES) {
    refused.add(field.replaceAll(/\[\d+\]/g, ""));
    const { spec, faults } = readPolicySpec(object.spec);
    assert.equal(spec, undefined, `${name} was taken`);
    const [fault, ...more] = faults;
    assert.deepEqual(more.map(faultText), [], name);
    const isNamed = fault?.field === field || fault?.field.startsWith(`${field}.`);
    assert.ok(isNamed, `${name}: ${fault?.field}`);
    const { error } = optimizationPolicySchema.safeParse(object);
    assert.ok(error !== undefined);
    assert.deepEqual(
      faultsOf(error, { raw: object, root: "" }).map(faultText),
      faults.map((one) => `.${faultText(one)}`),
    );
  }
  assert.ok(FIELDS.length > 30);
  assert.deepEqual(FIELDS.filter((field) => !refused.has(field)), []);
});

Deno.test("docs/rightsizing.md begins with a policy that is taken, and only recommends", async () => {
  const guide = await Deno.readTextFile(new URL("../../docs/rightsizing.md", import.meta.url));
  const blocks = guide.matchAll(/^( *)```yaml\n([\s\S]*?)^ *```$/gm);
  const policies = Array.from(
    blocks,
    ([, indent = "", text = ""]) => text.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  ).filter((text) => text.includes("kind: OptimizationPolicy"));
  assert.equal(policies.length, 1);
  for (const text of policies) {
    const [document] = parseAllDocuments(text);
    const object = document?.toJS() as Manifest["object"];
    assert.equal(optimizationPolicySchema.safeParse(object).success, true);
    const { spec, faults } = readPolicySpec(object.spec);
    assert.deepEqual([spec?.mode, faults], ["Recommend", []]);
  }
});

renderTest("component rightsizing brings its definitions, which the base has not", async () => {
  const definitionsIn = (objects: readonly Rendered[]): readonly string[] =>
    objects.flatMap(({ kind, metadata: { name } }) =>
      kind === "CustomResourceDefinition" ? [name] : []
    ).sort();
  const own = ["podallocations.allocation.mbcas.io"];
  const all = ["optimizationpolicies.optipod.io", ...own, "recommendationreports.optipod.io"];
  for (
    const [path, expected] of [["base", own], ["overlays/release", own], ["crds", all]] as const
  ) {
    assert.deepEqual(definitionsIn(await render(path)), expected, path);
  }
  assert.deepEqual(definitionsIn(await renderWith(["rightsizing"])), all);
});

function shopPatches(): string {
  const workloads = adviseAll({
    reports: reportsOf(shopRecords()),
    templates: shopTemplates(),
    pods: shopPods(),
    allocations: [],
  });
  const changes = sumOfChanges(workloads.map((workload) => workload.changes));
  return patchText({ workloads, changes, notes: [] });
}

const resources = { requests: { cpu: "500m", memory: "128Mi" }, limits: { cpu: "1" } };

function manifest(kind: string, name: string, spec: Record<string, unknown>): string {
  const labels = { app: name };
  return JSON.stringify({
    apiVersion: "apps/v1",
    kind,
    metadata: { name },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  });
}

const WEB = manifest("Deployment", "web", {
  containers: [{ name: "app", image: "web:1", resources, args: ["--fast"] }],
  initContainers: [{ name: "proxy", image: "proxy:1", restartPolicy: "Always" }],
});
const DB = manifest("StatefulSet", "db", {
  containers: [{ name: "db", image: "db:1", resources }],
});

renderTest("patchText() is taken by kustomize as a layer over the namespace's", async () => {
  const objects = await renderFiles({
    "base/web.yaml": WEB,
    "base/db.yaml": DB,
    "base/kustomization.yaml": "namespace: shop\nresources: [web.yaml, db.yaml]\n",
    "recommendations.yaml": shopPatches(),
    "kustomization.yaml": "resources: [base]\npatches:\n  - path: recommendations.yaml\n",
  });
  const web: unknown = one(objects, "Deployment", "web").spec.template.spec;
  assert.deepEqual(web, {
    containers: [{
      name: "app",
      image: "web:1",
      args: ["--fast"],
      resources: { requests: { cpu: "336m", memory: "88617123" }, limits: { cpu: "1" } },
    }],
    initContainers: [{
      name: "proxy",
      image: "proxy:1",
      restartPolicy: "Always",
      resources: { requests: { cpu: "50m", memory: "67108864" } },
    }],
  });
  const db: unknown = one(objects, "StatefulSet", "db").spec.template.spec;
  assert.deepEqual(db, {
    containers: [{
      name: "db",
      image: "db:1",
      resources: { requests: { cpu: "1500m", memory: "128Mi" }, limits: { cpu: "3" } },
    }],
  });
});

renderTest("patchText() without namespaces is taken where manifests have none", async () => {
  const objects = await renderFiles({
    "web.yaml": WEB,
    "db.yaml": DB,
    // As the guide's sed does.
    "recommendations.yaml": shopPatches().replaceAll(/^ {2}namespace: .*\n/gm, ""),
    "kustomization.yaml": "resources: [web.yaml, db.yaml]\npatches:\n" +
      "  - path: recommendations.yaml\n",
  });
  const [app] = one(objects, "Deployment", "web").spec.template.spec.containers;
  assert.equal(app.resources.requests["cpu"], "336m");
});

const NAMESPACE = "mbcas-system";

function webhooksOf(objects: readonly Rendered[]): Untyped {
  return one(objects, "MutatingWebhookConfiguration", WEBHOOK_CONFIGURATION).webhooks;
}

function controllerOf(objects: readonly Rendered[]) {
  const { containers, volumes } = one(objects, "Deployment", "mbcas-controller").spec.template.spec;
  return { container: containers[0], volumes };
}

renderTest(
  "component webhook asks about workloads to be placed, outside of the system",
  async () => {
    const [, workloads] = webhooksOf(await renderWith(["webhook"]));
    const isOurs = `key.startsWith('${PLACEMENT_PREFIX}')`;
    const { matchConditions: [condition, ...others], namespaceSelector } = workloads;
    assert.deepEqual(others, []);
    assert.equal(
      condition.expression,
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
    webhooksOf(objects).map(({ clientConfig }: Untyped) => clientConfig.service),
    [PODS_ROUTE, WORKLOADS_ROUTE].map((path) => ({
      name: service,
      namespace: NAMESPACE,
      path,
      port: 443,
    })),
  );
  const port = Number(settingOf(WEBHOOK_SETTINGS.shape.webhookListen).default.slice(1));
  const { spec } = one(objects, "Service", service);
  // No selector: the leader writes the endpoint, under the name of this port.
  const [published] = endpointSpec(service, { address: "10.0.0.1", port }).ports;
  assert.deepEqual(spec, {
    ports: [{ name: published?.name, port: 443, targetPort: port, protocol: "TCP" }],
  });
  const { ports, env } = controllerOf(objects).container;
  assert.deepEqual(ports.at(-1), { name: "webhook", containerPort: port });
  assert.deepEqual(env.at(-1), {
    name: settingOf(CONTROLLER_SETTINGS.shape.podIP).env,
    valueFrom: { fieldRef: { fieldPath: "status.podIP" } },
  });
  const { name, value } = env.at(-2);
  assert.equal(name, settingOf(WEBHOOK_SETTINGS.shape.webhook).env);
  assert.equal(WEBHOOK_SETTINGS.shape.webhook.parse(value), true);
  const { ingress } = one(objects, "NetworkPolicy", "mbcas-controller").spec;
  assert.deepEqual(ingress.at(-1), { ports: [{ port, protocol: "TCP" }] });
});

renderTest("component webhook-cert-manager leaves trust to cert-manager", async () => {
  const objects = await renderWith(["webhook", "webhook-cert-manager"]);
  const { spec: serving } = one(objects, "Certificate", "mbcas-webhook");
  const { spec: authority } = one(objects, "Certificate", "mbcas-webhook-authority");
  const service = settingOf(WEBHOOK_SETTINGS.shape.webhookService).default;
  assert.deepEqual(serving.dnsNames, servingNames(service, NAMESPACE));
  const issuer = one(objects, "Issuer", serving.issuerRef.name);
  // The authority that API servers trust outlives each certificate that it has signed.
  assert.equal(issuer.spec.ca.secretName, authority.secretName);
  assert.notEqual(authority.secretName, serving.secretName);
  const { container, volumes } = controllerOf(objects);
  const { name, mountPath } = container.volumeMounts.at(-1);
  assert.equal(mountPath, settingOf(WEBHOOK_SETTINGS.shape.webhookFolder).default);
  const secret = { secretName: serving.secretName, optional: true };
  assert.deepEqual(volumes.at(-1), { name, secret });
  const variable = settingOf(WEBHOOK_SETTINGS.shape.webhookCertificates).env;
  assert.deepEqual(container.env.at(-1), { name: variable, value: "cert-manager" });
});
