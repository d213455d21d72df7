/** The Helm chart against kustomize, by Helm itself: `deno task test:release`. */
import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { goProgram } from "../../tools/release/go_program.ts";
import { valueName } from "../../tools/release/chart/chart_templates.ts";
import { run } from "../cluster/harness/shell.ts";
import { componentNames, type ManifestObject, renderWith } from "../cluster/rendered_manifests.ts";

const helm = await goProgram("helm");
const chart = new URL("../../charts/coallocator", import.meta.url).pathname;

/** Values in a file: the flag --set would read names with dots and commas in its own way. */
async function withValues<T>(values: unknown, use: (args: string[]) => Promise<T>): Promise<T> {
  const file = await Deno.makeTempFile({ suffix: ".json" });
  try {
    await Deno.writeTextFile(file, typeof values === "string" ? values : JSON.stringify(values));
    return await use(["--values", file]);
  } finally {
    await Deno.remove(file);
  }
}

function template(values: unknown = {}, ...args: readonly string[]): Promise<string> {
  const base = [helm, "template", "coallocator", chart, "--namespace", "mbcas-system"];
  return withValues(values, (files) => run([...base, ...files, ...args]));
}

/** The objects by kind and name, without those of `helm test`. */
async function made(values: unknown, ...args: string[]): Promise<Objects> {
  const text = await template(values, "--skip-tests", ...args);
  // Helm reads YAML 1.1, in which an unquoted `on` is no text.
  return byName(parseAllDocuments(text, { version: "1.1" }).map((document) => document.toJS()));
}

type Objects = Readonly<Record<string, ManifestObject>>;

/** Helm creates the namespace, or it is there before. */
function byName(objects: readonly ManifestObject[]): Objects {
  const others = objects.filter(({ kind }) => kind !== "Namespace");
  return Object.fromEntries(others.map((one) => [`${one.kind} ${one.metadata.name}`, one]));
}

function turnedOn(components: readonly string[]): { readonly components: object } {
  return { components: Object.fromEntries(components.map((name) => [valueName(name), true])) };
}

const ALL = componentNames();
const CHOICES: readonly (readonly string[])[] = [
  [],
  ...ALL.map((name) => name === "webhook-cert-manager" ? ["webhook", name] : [name]),
  ALL,
];

/** The objects that kustomize makes, in this namespace. */
async function wanted(components: readonly string[], namespace = "mbcas-system"): Promise<Objects> {
  const objects = await renderWith("overlays/release", { components });
  return byName(JSON.parse(JSON.stringify(objects).replaceAll("mbcas-system", namespace)));
}

function assertSame(one: Objects, other: Objects): void {
  assert.deepEqual(Object.keys(one).sort(), Object.keys(other).sort());
  for (const [id, object] of Object.entries(other)) assert.deepEqual(one[id], object, id);
}

for (const components of CHOICES) {
  const label = components.length === ALL.length ? "all components" : components.join(" and ");
  Deno.test(`the chart has kustomize's objects with ${label || "no component"}`, async () => {
    assertSame(await made(turnedOn(components)), await wanted(components));
  });
}

Deno.test("in another namespace each object, subject and policy is about that one", async () => {
  // A number for YAML, if it were not quoted.
  for (const namespace of ["cpu-market", "123"]) {
    const objects = await made(turnedOn(ALL), "--namespace", namespace);
    assertSame(objects, await wanted(ALL, namespace));
    assert.doesNotMatch(await template(turnedOn(ALL), "--namespace", namespace), /mbcas-system/);
  }
});

Deno.test("helm lint --strict finds nothing, whatever is on", async () => {
  for (const values of [{}, turnedOn(ALL)]) {
    await withValues(values, (files) => run([helm, "lint", "--strict", chart, ...files]));
  }
});

function at(object: unknown, path: string): unknown {
  return path.split(" ").reduce((value, key) => Reflect.get(Object(value), key), object);
}

const AGENT = "DaemonSet mbcas-agent";
const CONTROLLER = "Deployment mbcas-controller";
const DIGEST = `sha256:${"0".repeat(64)}`;
const POD = "spec template spec";
const CONTAINER = `${POD} containers 0`;

type Row = readonly [values: unknown, object: string, path: string, value: unknown];

Deno.test("each value of the chart reaches its objects, and no other value of them", async () => {
  const registry = "registry.example.com/coallocator";
  const image = (name: string): string => `${registry}/mbcas-${name}:0.1.0`;
  const extraEgress = [{ ports: [{ port: 7443 }] }];
  const rows: readonly Row[] = [
    [{ image: { registry: "a.b/c" } }, AGENT, `${CONTAINER} image`, "a.b/c/mbcas-agent:0.1.0"],
    [
      { image: { tag: "1.10" } },
      CONTROLLER,
      `${CONTAINER} image`,
      `${registry}/mbcas-controller:1.10`,
    ],
    [{ image: { pullPolicy: "Never" } }, AGENT, `${CONTAINER} imagePullPolicy`, "Never"],
    [{ imagePullSecrets: [{ name: "0" }] }, AGENT, `${POD} imagePullSecrets`, [{ name: "0" }]],
    [{ controller: { replicas: 3 } }, CONTROLLER, "spec replicas", 3],
    [{ config: { market: { burstFactor: 3 } } }, "ConfigMap mbcas-config", "data", {
      "config.yaml": "market:\n  burstFactor: 3",
    }],
    [{ commonLabels: { release: "1" } }, "Role mbcas-agent", "metadata labels release", "1"],
    [{ commonLabels: { release: "1" } }, AGENT, "spec template metadata labels release", undefined],
    [
      { networkPolicy: { extraEgress } },
      "NetworkPolicy mbcas-agent",
      "spec egress 0",
      extraEgress[0],
    ],
    [
      { networkPolicy: { extraEgress } },
      "NetworkPolicy mbcas-controller",
      "spec egress 0",
      extraEgress[0],
    ],
    [{ networkPolicy: { enabled: false } }, "NetworkPolicy mbcas-agent", "kind", undefined],
    [{ networkPolicy: { enabled: false } }, "NetworkPolicy mbcas-controller", "kind", undefined],
    [
      { components: { metricQueries: true }, metricQueries: { namespace: "1", port: 2 } },
      "NetworkPolicy mbcas-controller",
      "spec egress 3",
      {
        to: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "1" } } }],
        ports: [{ port: 2, protocol: "TCP" }],
      },
    ],
    [
      { components: { alerts: true }, alerts: { runbooks: "https://wiki/x" } },
      "PrometheusRule mbcas",
      "spec groups 0 rules 0 annotations runbook_url",
      "https://wiki/x#mbcasnoleader",
    ],
    [{ agent: { tolerations: [] } }, AGENT, `${POD} tolerations`, undefined],
    ...(["agent", "controller"] as const).flatMap((name): readonly Row[] => {
      const [own, other] = name === "agent" ? [AGENT, CONTROLLER] : [CONTROLLER, AGENT];
      const affinity = { nodeAffinity: { x: [] } };
      const rows: readonly (readonly [value: object, path: string, value: unknown])[] = [
        [
          { image: { digest: DIGEST } },
          `${CONTAINER} image`,
          `${registry}/mbcas-${name}@${DIGEST}`,
        ],
        [
          { resources: { limits: { memory: "1Gi" } } },
          `${CONTAINER} resources limits memory`,
          "1Gi",
        ],
        [{ nodeSelector: { pool: "true" } }, `${POD} nodeSelector pool`, "true"],
        [{ nodeSelector: { pool: "a" } }, `${POD} nodeSelector kubernetes.io/os`, "linux"],
        [{ tolerations: [{ key: "a" }] }, `${POD} tolerations`, [{ key: "a" }]],
        [{ affinity }, `${POD} affinity`, affinity],
        [{ priorityClassName: "1" }, `${POD} priorityClassName`, "1"],
        [{ priorityClassName: "" }, `${POD} priorityClassName`, undefined],
        [{ podLabels: { a: "on" } }, "spec template metadata labels a", "on"],
        [{ podAnnotations: { a: "b: c" } }, "spec template metadata annotations a", "b: c"],
      ];
      return [
        ...rows.map(([value, path, set]): Row => [{ [name]: value }, own, path, set]),
        [
          { [name]: { image: { digest: DIGEST } } },
          other,
          `${CONTAINER} image`,
          image(name === "agent" ? "controller" : "agent"),
        ],
      ];
    }),
  ];
  const before = await made(turnedOn(["metric-queries", "alerts"]));
  await Promise.all(rows.map(async ([values, id, path, value]) => {
    const object = (await made(values))[id];
    const label = `${JSON.stringify(values)}: ${id} ${path}`;
    assert.deepEqual(at(object, path), value, label);
    // A row that the defaults fulfil would show nothing; some rows are about what stays.
    const stays = /\/os$|labels release$|image$/.test(path) && at(before[id], path) === value;
    assert.ok(stays || JSON.stringify(at(before[id], path)) !== JSON.stringify(value), label);
  }));
});

Deno.test("pods are replaced for settings that their program reads at its start alone", async () => {
  const sums = async (config: string): Promise<readonly unknown[]> => {
    const objects = await made(`config: ${config}`);
    const path = "spec template metadata annotations checksum/config";
    return [AGENT, CONTROLLER].map((id) => at(objects[id], path));
  };
  assert.deepEqual(await sums("{}"), [undefined, undefined]);
  // Followed, in the long form and the short one.
  assert.deepEqual(await sums("{market: {burstFactor: 3}, dryRun: true}"), [undefined, undefined]);
  assert.deepEqual(await sums("{market: off}"), [undefined, undefined]);
  const [agent, controller] = await sums("{agent: {warmUp: 9s}, market: {enabled: off}}");
  assert.match(String(agent), /^[0-9a-f]{64}$/);
  assert.equal(controller, undefined);
  assert.notEqual((await sums("{agent: {warmUp: 8s}}"))[0], agent);
  for (const both of ["{log: {level: debug}}", "{market: {idleCPU: 0.2}}"]) {
    for (const sum of await sums(both)) assert.match(String(sum), /^[0-9a-f]{64}$/, both);
  }
  for (
    const own of ["{webhook: {enabled: on}}", "{controller: {leaderElection: {leaseName: x}}}"]
  ) {
    const [none, some] = await sums(own);
    assert.deepEqual([none, typeof some], [undefined, "string"], own);
  }
});

Deno.test("settings pass through Helm as they are written", async () => {
  const config = {
    market: { excludedNamespaces: ["a", "b"], priorityMultipliers: { "1000000": 2 } },
    metrics: { queries: { "{{ x }}": 'a{b="c"}\n' } },
    controller: { maxStep: "200m", maxResizesPerSecond: 1000000 },
  };
  const { "ConfigMap mbcas-config": object } = await made({ config });
  const [document] = parseAllDocuments(String(at(object, "data config.yaml")));
  assert.deepEqual(document?.toJS(), config);
});

Deno.test("the pod of helm test runs where the controllers may, from the image that is named", async () => {
  const values = {
    test: { image: "a.b/c@sha256:1" },
    imagePullSecrets: [{ name: "pull" }],
    controller: { nodeSelector: { pool: "a" }, tolerations: [{ key: "b" }] },
  };
  const text = await template(values, "--show-only", "templates/tests/ready.yaml");
  const [pod] = parseAllDocuments(text).map((document) => document.toJS());
  assert.equal(pod.metadata.namespace, "mbcas-system");
  const { containers: [container], nodeSelector, tolerations, imagePullSecrets } = pod.spec;
  assert.equal(container.image, "a.b/c@sha256:1");
  assert.deepEqual([tolerations, imagePullSecrets], [[{ key: "b" }], [{ name: "pull" }]]);
  assert.deepEqual(nodeSelector, { "kubernetes.io/os": "linux", pool: "a" });
});

Deno.test("the notes' commands are for the namespace of the release", async () => {
  for (const namespace of ["mbcas-system", "cpu-market"]) {
    const place = ["--namespace", namespace, "--dry-run=client"];
    const text = await run([helm, "install", "coallocator", chart, ...place]);
    const notes = text.slice(text.indexOf("NOTES:"));
    const prefix = namespace === "cpu-market" ? "COALLOC_SYSTEM_NAMESPACE=cpu-market " : "";
    assert.ok(notes.includes(`kubectl -n ${namespace} rollout`), notes);
    assert.deepEqual(notes.match(/(?<= {2}|: ).*kubectl coalloc.*/g), [
      `${prefix}kubectl coalloc top -A`,
      `${prefix}kubectl coalloc restore --all`,
    ]);
  }
});

Deno.test("a parent chart may turn the chart on, and has values for all its charts", async () => {
  assertSame(await made({ enabled: true, global: { region: "a" } }), await made({}));
});

Deno.test("helm refuses values that the chart does not know or can't use", async () => {
  const rows: readonly (readonly [values: unknown, reason: RegExp])[] = [
    [{ components: { rightsizng: true } }, /rightsizng/],
    [{ components: { webhookCertManager: true } }, /webhook/],
    [{ config: { market: { burstFactr: 3 } } }, /burstFactr/],
    [{ config: { markt: { enabled: false } } }, /markt/],
    [{ config: { webhook: true } }, /webhook/],
    [{ controller: { replicas: 0 } }, /minimum/],
    [{ controller: { resources: { request: {} } } }, /request/],
    [{ controller: { image: { digest: "sha256:1" } } }, /digest/],
    [{ image: { tag: 1.1 } }, /tag/],
    [{ image: { tag: "a\n  b" } }, /tag/],
    [{ image: { registry: "a.b/" } }, /registry/],
    [{ image: { pullPolicy: "always" } }, /pullPolicy/],
    [{ imagePullSecrets: ["pull"] }, /imagePullSecrets/],
    [{ commonLabels: { a: 1 } }, /commonLabels/],
    [{ commonLabels: { "app.kubernetes.io/part-of": "x" } }, /part-of/],
    [{ agent: { podLabels: { "app.kubernetes.io/name": "x" } } }, /kubernetes\.io\/name/],
    [{ agent: { podAnnotations: { "checksum/config": "x" } } }, /checksum\/config/],
    [{ agent: { replicas: 2 } }, /replicas/],
    // Duplicate keys: the last one would count, and give roles to all users.
    [{ commonLabels: { "rbac.authorization.k8s.io/aggregate-to-view": "true" } }, /aggregate/],
    [{ commonLabels: { grafana_dashboard: "2" } }, /grafana_dashboard/],
    // Keys without a value.
    [{ agent: null }, /missing property 'agent'/],
    [{ components: null }, /missing property 'components'/],
    [{ controller: { image: null } }, /missing property 'image'/],
    [{ image: { registry: null } }, /missing property 'registry'/],
    [{ networkPolicy: { enabled: null } }, /missing property 'enabled'/],
    [{ metricQueries: { port: null } }, /missing property 'port'/],
    [{ metricQueries: { port: 0 } }, /port/],
    [{ networkPolicy: { extraEgress: [{ from: [] }] } }, /from/],
    [{ alerts: { runbooks: "docs#x" } }, /runbooks/],
  ];
  await Promise.all(
    rows.map(([values, reason]) =>
      assert.rejects(() => template(values), reason, JSON.stringify(values))
    ),
  );
});
