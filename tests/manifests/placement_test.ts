/** The component placement: what it turns on, lets through, allows, and refuses at the source. */
import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { parseWorkload } from "../../adapters/kube/kinds/workloads.ts";
import { RIGHTSIZING_SETTINGS } from "../../controller/rightsizing/settings.ts";
import { CONTROLLER_SETTINGS } from "../../controller/settings.ts";
import { WEBHOOK_SETTINGS } from "../../controller/webhook/settings.ts";
import { ENDPOINT_SLICES, WEBHOOK_SECRET } from "../../controller/webhook/webhook_objects.ts";
import type { Labels } from "../../shared/api/label_selector.ts";
import * as keys from "../../shared/api/placement_keys.ts";
import { PLACEMENT_EVENT_REASONS } from "../../shared/api/reasons/placement_reasons.ts";
import { settingOf, settingsOf } from "../../shared/config/setting.ts";
import {
  checkEligibility,
  isPlacedKind,
  type LabeledObject,
  placementFaultText,
  SYSTEM_NAMESPACES,
} from "../../shared/placement/eligibility.ts";
import { UNPLACED_REASONS } from "../../shared/placement/new_pod.ts";
import { NODE_CLASS_PRESETS } from "../../shared/placement/node_classes.ts";
import { PLACEMENT_SETTINGS } from "../../shared/placement/settings.ts";
import { DELETION_COST, splitReplicas } from "../../shared/placement/split.ts";
import { MEMORY_LABEL, STATUS_LABEL } from "../../shared/placement/status.ts";
import {
  caseText,
  faultsOf,
  WORDED_CASES,
  wordedWorkload,
} from "../fixtures/placement/worded_workloads.ts";
import { one, render, type Rendered, renderTest, renderWith, type Untyped } from "./rendered.ts";

const NAMESPACE = "mbcas-system";
const POLICY = "spotalis-annotations";

function keysOf(objects: readonly Rendered[]): string[] {
  return objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
}

function containerOf(objects: readonly Rendered[]) {
  return one(objects, "Deployment", "mbcas-controller").spec.template.spec.containers[0];
}

for (
  const [component, setting] of [
    ["placement", PLACEMENT_SETTINGS.shape.placement],
    ["rightsizing", RIGHTSIZING_SETTINGS.shape.rightsizing],
  ] as const
) {
  renderTest(`component ${component} turns the setting on, which is off without it`, async () => {
    const [usual, added] = await Promise.all([render("base"), renderWith([component])]);
    const { env: name } = settingOf(setting);
    assert.deepEqual([setting.parse(undefined), setting.parse("on")], [false, true]);
    assert.deepEqual(containerOf(added).env, [...containerOf(usual).env, { name, value: "on" }]);
  });
}

renderTest("components go together, in any order", async () => {
  const names = [
    ...["placement", "rightsizing", "webhook", "webhook-cert-manager", "users", "prometheus"],
    ...["alerts", "dry-run", "metric-queries"],
  ];
  // Components that patch webhooks come behind those that make them.
  const others = [...names.slice(1), "placement"];
  const [before, behind] = await Promise.all([renderWith(names), renderWith(others)]);
  const found = keysOf(before).sort();
  assert.deepEqual(found, keysOf(behind).sort());
  assert.equal(new Set(found).size, found.length);
  const switches = [
    ...[PLACEMENT_SETTINGS.shape.placement, RIGHTSIZING_SETTINGS.shape.rightsizing],
    ...[WEBHOOK_SETTINGS.shape.webhook, WEBHOOK_SETTINGS.shape.webhookCertificates],
  ].map((one) => settingOf(one).env);
  const [webhooks, ...rest] = [before, behind].map((objects) => {
    const { env, ports } = containerOf(objects);
    for (const list of [env, ports] as readonly (readonly { readonly name: string }[])[]) {
      const names = list.map(({ name }) => name);
      assert.equal(new Set(names).size, names.length, names.join());
    }
    const set = new Set((env as readonly { readonly name: string }[]).map(({ name }) => name));
    for (const name of [...switches, "MBCAS_DRY_RUN"]) assert.ok(set.has(name ?? ""), name);
    return one(objects, "MutatingWebhookConfiguration", "mbcas-webhook");
  });
  assert.deepEqual(rest, [webhooks]);
});

async function policy(): Promise<Untyped> {
  return one(await renderWith(["placement"]), "ValidatingAdmissionPolicy", POLICY).spec;
}

renderTest(`policy ${POLICY} is not asked about the system's namespaces`, async () => {
  const { matchConstraints: { namespaceSelector } } = await policy();
  const [{ values }] = namespaceSelector.matchExpressions;
  assert.deepEqual(values, [...SYSTEM_NAMESPACES, NAMESPACE]);
});

renderTest(
  `policy ${POLICY} refuses with the parser's messages, and with all of them`,
  async () => {
    const { validations } = await policy();
    const reported: readonly string[] = validations.map((one: Untyped) => one.messageExpression);
    const used = new Set<string>();
    for (const one of WORDED_CASES) {
      for (
        const { object, place, key, remedy } of faultsOf(one).filter((fault) =>
          fault.object === "workload"
        )
      ) {
        const begin = `'${place} ${key} of the ${object} is '`;
        const found = reported.filter((text) =>
          text.startsWith(begin) && text.includes(`: ${remedy}'`)
        );
        assert.equal(found.length, 1, `${caseText(one)}: ${begin} … ${remedy}`);
        for (const text of found) used.add(text);
      }
    }
    assert.deepEqual(reported.filter((text) => !used.has(text)), []);
    // The server wants a message where an expression has line breaks, and reports it where ours fails.
    for (const { expression, message } of validations) {
      assert.ok(!expression.includes("\n") && message.includes("spotalis.io/"), message);
    }
  },
);

const EXAMPLES = new URL("../../manifests/examples/spotalis/", import.meta.url);

interface WorkloadManifest {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Labels;
    readonly annotations?: Labels;
  };
}

/** As they stand there: nothing is put between file and parser. */
const manifests: readonly WorkloadManifest[] = [...Deno.readDirSync(EXAMPLES)]
  .filter(({ name }) => name !== "kustomization.yaml")
  .flatMap(({ name }) => parseAllDocuments(Deno.readTextFileSync(new URL(name, EXAMPLES))))
  .map((document) => document.toJS());

function textsOf(
  { metadata: { labels = {}, annotations = {} } }: WorkloadManifest,
): LabeledObject {
  return { labels, annotations };
}

function placedOf(manifest: WorkloadManifest) {
  const { kind, metadata: { name, namespace = "" } } = manifest;
  assert.ok(isPlacedKind(kind));
  const around = manifests.find((one) =>
    one.kind === "Namespace" && one.metadata.name === namespace
  );
  assert.ok(around !== undefined, `${name} is in a namespace of the examples`);
  // As the API has it.
  const stored = { ...manifest.metadata, uid: name, resourceVersion: "1" };
  const { metadata, replicas } = parseWorkload({ ...manifest, metadata: stored }, kind);
  const { labels = {}, annotations } = metadata;
  const within = { name: namespace, metadata: textsOf(around) };
  const scope = { ownNamespace: NAMESPACE };
  const { spec, ...left } = checkEligibility(
    { namespace: within, labels, annotations },
    scope,
  );
  assert.ok(spec !== undefined && replicas !== undefined, `${name}: ${JSON.stringify(left)}`);
  const { window, paused } = spec;
  return { split: splitReplicas(replicas.replicas, spec), window, paused };
}

Deno.test("placementGate() takes each example of Spotalis, and divides it as it says", () => {
  const placed = manifests.filter(({ kind }) => isPlacedKind(kind));
  const found = Object.fromEntries(placed.map((one) => [one.metadata.name, placedOf(one)]));
  const always = { window: undefined, paused: false };
  assert.deepEqual(found, {
    api: { split: { spot: 7, "on-demand": 3 }, ...always },
    worker: { split: { spot: 1, "on-demand": 3 }, ...always },
    queue: {
      split: { spot: 2, "on-demand": 0 },
      window: { schedule: "CRON_TZ=Europe/Berlin 0 1 * * *", durationMs: 14_400_000 },
      paused: false,
    },
    db: {
      split: { spot: 1, "on-demand": 2 },
      window: { schedule: "0 2 * * SUN", durationMs: 9_000_000 },
      paused: true,
    },
  });
  const shares = placed.map((one) => textsOf(one).annotations[keys.SPOT_PERCENTAGE] ?? "");
  assert.ok(shares.some((text) => text.endsWith("%")) && shares.some((text) => /\d$/.test(text)));
});

const root = new URL("../../", import.meta.url);
const guide = await Deno.readTextFile(new URL("docs/placement.md", root));

/** The cells of the table with a header that begins with this cell. */
function tableUnder(first: string): readonly (readonly string[])[] {
  const lines = guide.split("\n");
  const begin = lines.findIndex((line) => line.trimStart().startsWith(`| ${first} `));
  assert.ok(begin >= 0, `there is no table under ${first}`);
  const length = lines.slice(begin).findIndex((line) => !line.trimStart().startsWith("|"));
  return lines.slice(begin + 2, begin + length)
    .map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
}

Deno.test("docs/placement.md names each key, event, result and preset", () => {
  const { PLACEMENT_PREFIX: _prefix, DISRUPTION_DURATION: _second, ...named } = keys;
  for (const key of [...Object.values(named), DELETION_COST, MEMORY_LABEL, STATUS_LABEL]) {
    assert.ok(guide.includes(key), key);
  }
  for (const event of Object.keys(PLACEMENT_EVENT_REASONS)) {
    assert.ok(guide.includes(`\`${event}\``), event);
  }
  const results = tableUnder("result").map(([term = ""]) => term.replaceAll("`", ""));
  assert.deepEqual(results.sort(), [...UNPLACED_REASONS].sort());
  const presets = tableUnder("preset").map(([term = ""]) => term.replaceAll("`", ""));
  assert.deepEqual(presets.sort(), Object.keys(NODE_CLASS_PRESETS).sort());
});

Deno.test("docs/placement.md names the labels of each preset's nodes", () => {
  for (const [name = "", spot = "", onDemand = ""] of tableUnder("preset")) {
    const preset = name.replaceAll("`", "") as keyof typeof NODE_CLASS_PRESETS;
    for (const [to, cell] of [["spot", spot], ["on-demand", onDemand]] as const) {
      for (const { matchLabels } of NODE_CLASS_PRESETS[preset][to].selectors) {
        for (const [label, value] of Object.entries(matchLabels)) {
          // The second of GKE's labels stands without the prefix that it shares with the first.
          const [, short = ""] = label.split("/");
          assert.ok(cell.includes(short) && cell.includes(value), `${preset}: ${label} ${value}`);
        }
      }
    }
  }
});

Deno.test("docs/placement.md divides replicas as they are divided", () => {
  const rows = tableUnder("replicas");
  for (const row of rows) {
    const [replicas = 0, spotPercentage = 0, minOnDemand = 0, spot = 0, onDemand = 0] = row
      .map((cell) => Number.parseInt(cell));
    const split = splitReplicas(replicas, { spotPercentage, minOnDemand });
    assert.deepEqual(split, { spot, "on-demand": onDemand }, row.join());
  }
  assert.ok(rows.length >= 5);
});

Deno.test("docs/placement.md shows a workload that can be read, and the message of one that can't", () => {
  const [example = ""] = [...guide.matchAll(/```yaml\n(apiVersion[\s\S]*?)```/g)]
    .map(([, text = ""]) => text);
  const { metadata } = parseAllDocuments(example)[0]?.toJS();
  const { labels, annotations } = metadata;
  const spec = { spotPercentage: 70, minOnDemand: 2, paused: false };
  const scope = { ownNamespace: NAMESPACE };
  assert.deepEqual(checkEligibility(wordedWorkload({ labels, annotations }), scope), { spec });
  const wrong = { ...annotations, [keys.SPOT_PERCENTAGE]: "most" };
  const [fault] = faultsOf({ labels, annotations: wrong });
  const shown = guide.replaceAll(/\s+/g, " ");
  assert.ok(fault !== undefined && shown.includes(placementFaultText(fault)));
});

renderTest("docs/placement.md shows a patch by which the policy only warns", async () => {
  const [, text = ""] = /```yaml\n(patches:[\s\S]*?)```/.exec(guide) ?? [];
  const { patches } = parseAllDocuments(text)[0]?.toJS();
  const objects = await renderWith(["placement"], { patches });
  const { spec } = one(objects, "ValidatingAdmissionPolicyBinding", "spotalis-annotations");
  assert.deepEqual(Object.entries(spec).find(([key]) => key === "validationActions")?.[1], [
    "Warn",
  ]);
});

renderTest("docs/placement.md takes each object away that the components add", async () => {
  const [before, after] =
    (await Promise.all([render("base"), renderWith(["placement", "webhook"])]))
      .map((objects) =>
        keysOf(objects).map((key) => key.replace(/^\w+/, (kind) => kind.toLowerCase()))
      );
  const added = after?.filter((key) => !before?.includes(key)) ?? [];
  const wayOut = guide.slice(guide.indexOf("\n## The way out"), guide.indexOf("\n## Coming"));
  const taken = [...wayOut.matchAll(/^kubectl .*?delete ([\w,]+) ([\w -]+)$/gm)]
    .flatMap(([, kinds = "", names = ""]) =>
      kinds.split(",").flatMap((kind) => names.split(" ").map((name) => `${kind} ${name}`))
    );
  // Includes the objects that the leader has created.
  const created = [
    `secret ${WEBHOOK_SECRET}`,
    ...ENDPOINT_SLICES.map((name) => `endpointslice ${name}`),
  ];
  assert.deepEqual(taken.sort(), [...added, ...created].sort());
});

Deno.test("docs/placement.md says under which names the settings of Spotalis' later form stand here", () => {
  const rows = settingsOf(CONTROLLER_SETTINGS);
  const terms = (cell = ""): string[] =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, one = ""]) => one);
  const table = tableUnder("Spotalis' file");
  for (const [file, variable, here, env] of table) {
    const [key = ""] = terms(here);
    const meant = rows.filter((row) => row.key === key || row.key.startsWith(`${key}.`));
    assert.deepEqual(meant.map((row) => row.env), terms(env), key);
    // A known name needs no table.
    for (const theirs of terms(file)) assert.ok(!rows.some((row) => row.key === theirs), theirs);
    for (const theirs of terms(variable)) {
      assert.ok(!rows.some((row) => row.env === theirs), theirs);
    }
  }
  assert.ok(table.length > 0);
});

Deno.test("the documents name alerts that exist", async () => {
  const path = new URL("manifests/components/alerts/alerts.yaml", root);
  const alerts = (await Deno.readTextFile(path)).matchAll(/alert: (\w+)/g).map(([, name]) => name);
  const known = new Set(alerts);
  assert.ok(known.has("MbcasPlacementFloorBroken"));
  const named = new Set<string>();
  for await (const { name } of Deno.readDir(new URL("docs/", root))) {
    if (!name.endsWith(".md")) continue;
    const text = await Deno.readTextFile(new URL(`docs/${name}`, root));
    for (const [, alert = ""] of text.matchAll(/`((?:Mbcas|Spotalis|Optipod)[A-Z]\w+)`/g)) {
      assert.ok(known.has(alert), `docs/${name}: ${alert}`);
      named.add(alert);
    }
  }
  assert.deepEqual([...named].sort(), [...known].sort());
});
