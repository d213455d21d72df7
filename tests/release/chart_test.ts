/** The Helm chart against kustomize, by Helm itself: `deno task test:release`. */
import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { goProgram } from "../../tools/release/go_program.ts";
import { makeChart } from "../../tools/release/chart/make_chart.ts";
import { valueName } from "../../tools/release/chart/chart_templates.ts";
import { run } from "../cluster/harness/shell.ts";
import { createKubectl } from "../cluster/kubectl.ts";
import { componentNames, type ManifestObject, renderWith } from "../cluster/rendered_manifests.ts";

const helm = await goProgram("helm");
const folder = "build/test-release";
const registry = "registry.example.com/coallocator";
const chart = await makeChart({ version: "0.1.0", registry, folder });

function template(...args: readonly string[]): Promise<string> {
  const base = [helm, "template", "coallocator", chart, "--namespace", "mbcas-system"];
  return run([...base, "--skip-tests", ...args]);
}

const ALL = componentNames();
const CHOICES: readonly (readonly string[])[] = [
  [],
  ...ALL.map((name) => name === "webhook-cert-manager" ? ["webhook", name] : [name]),
  ALL,
];

/** The objects by kind and name. Helm creates the namespace, or it is there before. */
function byName(objects: readonly ManifestObject[]): Readonly<Record<string, ManifestObject>> {
  const others = objects.filter(({ kind }) => kind !== "Namespace");
  return Object.fromEntries(others.map((one) => [`${one.kind} ${one.metadata.name}`, one]));
}

for (const components of CHOICES) {
  const label = components.length === ALL.length ? "all components" : components.join(" and ");
  Deno.test(`the chart has kustomize's objects with ${label || "no component"}`, async () => {
    const set = components.map((name) => `components.${valueName(name)}=true`).join();
    // Helm reads YAML 1.1, in which an unquoted `on` is no text.
    const documents = parseAllDocuments(await template("--set", set), { version: "1.1" });
    const made = byName(documents.map((document) => document.toJS()));
    const overlay = "overlays/release";
    const wanted = byName(await renderWith(createKubectl(), { overlay, components }));
    assert.deepEqual(Object.keys(made).sort(), Object.keys(wanted).sort());
    for (const [id, object] of Object.entries(wanted)) assert.deepEqual(made[id], object, id);
  });
}

Deno.test("helm lint --strict finds nothing, whatever is on", async () => {
  const set = ALL.map((name) => `components.${valueName(name)}=true`).join();
  for (const values of [[], ["--set", set]]) {
    await run([helm, "lint", "--strict", "--namespace", "mbcas-system", chart, ...values]);
  }
});

Deno.test("each value of the chart reaches an object", async () => {
  const rows: readonly (readonly [value: string, text: RegExp])[] = [
    ["image.registry=example.org/x", /image: example\.org\/x\/mbcas-agent:0\.1\.0/],
    ["image.tag=1.2.3", /image: \S+\/mbcas-controller:1\.2\.3/],
    ["image.pullPolicy=Never", /imagePullPolicy: Never/],
    ["imagePullSecrets[0].name=pull", /imagePullSecrets:\s+- name: pull/],
    ["config.market.burstFactor=3", /config\.yaml: "market:\\n {2}burstFactor: 3"/],
    ["config.market=off", /config\.yaml: "market: \\"?off/],
    ["controller.replicas=3", /replicas: 3/],
    ["controller.resources.limits.memory=1Gi", /memory: 1Gi/],
    ["agent.resources.limits.memory=1Gi", /memory: 1Gi/],
    ["components.metricQueries=true,metricQueries.namespace=m", /metadata\.name: m\n/],
    ["components.metricQueries=true,metricQueries.port=9091", /port: 9091\n/],
  ];
  for (const [value, text] of rows) assert.match(await template("--set", value), text, value);
});

Deno.test("helm refuses values that the chart does not know, and another namespace", async () => {
  const rows: readonly (readonly [args: string[], reason: RegExp])[] = [
    [["--set", "components.rightsizng=true"], /rightsizng/],
    [["--set", "config.market.burstFactr=3"], /burstFactr/],
    [["--set", "config.markt.enabled=off"], /markt/],
    [["--set", "controller.replicas=0"], /minimum/],
    [["--set", "components.webhookCertManager=true"], /webhook/],
    [
      ["--namespace", "default"],
      /Cannot install into namespace default: .*--namespace mbcas-system/,
    ],
  ];
  for (const [args, reason] of rows) {
    await assert.rejects(() => template(...args), reason, args.join(" "));
  }
});
