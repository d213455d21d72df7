/** Programs in the manifests as kustomize renders them, and the configuration of Prometheus and Grafana, held against
 * the metrics that the programs serve. */
import assert from "node:assert/strict";
import { AGENT_SETTINGS } from "../../agent/settings.ts";
import { CONTROLLER_SETTINGS } from "../../controller/settings.ts";
import { SPOTALIS_VARIABLES } from "../../shared/config/aliases.ts";
import { settingsOf } from "../../shared/config/setting.ts";
import { STATUS_CONFIG_MAP_PREFIX } from "../../shared/placement/status.ts";
import { compileArguments, PROGRAM_ENVIRONMENT, PROGRAMS } from "../../tools/build/programs.ts";
import { permissionFlags } from "../../tools/build/permission_flags.ts";
import { programEntrypoint } from "../cluster/images/program_image.ts";
import { componentNames } from "../cluster/rendered_manifests.ts";
import { one, render, type Rendered, renderTest, renderWith, type Untyped } from "./rendered.ts";
import * as z from "zod";
import { podAllocationSchema } from "../../shared/api/pod_allocation.ts";
import { BOUND_REASONS } from "../../shared/api/reasons/bound_reasons.ts";
import { ENFORCEMENT_REASONS } from "../../shared/api/reasons/enforcement_reasons.ts";
import { PLACEMENT_REASONS } from "../../shared/api/reasons/placement_reasons.ts";
import { RIGHTSIZING_REASONS } from "../../shared/api/reasons/rightsizing_reasons.ts";
import type { MetricTable } from "../../shared/metrics/metric.ts";
import { UNPLACED_REASONS } from "../../shared/placement/new_pod.ts";
import { METRIC_TABLES } from "../../tools/metrics_page.ts";
import { RUNBOOKS } from "../../tools/release/release_names.ts";
import {
  alertRules,
  dashboards,
  dashboardSchema,
} from "../fixtures/metrics/alerts_and_dashboards.ts";
import { agentMetrics, controllerMetrics } from "../fixtures/metrics/served_metrics.ts";

const root = new URL("../../", import.meta.url).pathname;

function workloads(objects: readonly Rendered[]): Untyped[] {
  return objects.filter(({ kind }) => kind === "DaemonSet" || kind === "Deployment");
}

renderTest("overlays/release runs images of the project's version from a registry", async () => {
  const { version } = JSON.parse(await Deno.readTextFile(`${root}deno.json`));
  const objects = await render("overlays/release");
  for (const { metadata, spec } of workloads(objects)) {
    const [{ image }] = spec.template.spec.containers;
    assert.match(
      image,
      new RegExp(`^[a-z.]+/.*/${metadata.name}:${version.replaceAll(".", "\\.")}$`),
    );
  }
  for (const { metadata, kind } of [...objects, ...await renderWith(componentNames())]) {
    const { name, labels } = metadata;
    assert.equal(labels?.["app.kubernetes.io/version"], version, `${kind} ${name}`);
    assert.equal(labels?.["app.kubernetes.io/part-of"], "coallocator", `${kind} ${name}`);
  }
});

const repository = new URL("../../", import.meta.url);
const { permissions } = JSON.parse(
  await Deno.readTextFile(new URL("deno.json", repository)),
);

for (
  const [name, schema] of [["agent", AGENT_SETTINGS], ["controller", CONTROLLER_SETTINGS]] as const
) {
  Deno.test(`the permission set ${name} has the variable of each setting`, () => {
    for (const { key, env } of settingsOf(schema)) {
      if (env !== undefined) assert.ok(permissions[name].env.includes(env), `${key}: ${env}`);
    }
  });
}

Deno.test("the permission set controller sees the variables that Spotalis had by other names", () => {
  const ours = settingsOf(CONTROLLER_SETTINGS).flatMap(({ env }) => env ?? []);
  for (const [name, here] of SPOTALIS_VARIABLES) {
    assert.ok(permissions.controller.env.includes(name), name);
    assert.ok(!ours.includes(name) && (here === "" || ours.includes(here)), `${name}: ${here}`);
  }
});

Deno.test("the programs in the cluster may run, load and write nothing", () => {
  for (const { permissions: name } of PROGRAMS.filter(({ image }) => image)) {
    const kinds = Object.keys(permissions[name]).sort();
    assert.deepEqual(kinds, ["env", "net", "read"], name);
  }
});

Deno.test("images without Docker start each program with its permission set and no other rights", () => {
  for (const program of PROGRAMS.filter(({ image }) => image)) {
    const set = permissions[program.permissions];
    const flags = programEntrypoint(program, set).filter((flag) =>
      /^(-A|--allow|--no-p)/.test(flag)
    );
    assert.deepEqual(flags, permissionFlags(set));
  }
});

Deno.test("the permission sets name the agent's host, its port to listen on, and what each program reads", () => {
  assert.deepEqual(permissions.agent.net, ["kubernetes.default.svc:443", "0.0.0.0:8081"]);
  assert.deepEqual(permissions.agent.read, [
    "/host/cgroup",
    "/host/kernel/sched_ext/state",
    "/etc/mbcas",
    "/var/run/secrets/kubernetes.io/serviceaccount",
  ]);
  assert.deepEqual(permissions.controller.read, [
    "/etc/mbcas",
    "/etc/mbcas-webhook",
    "/var/run/secrets/kubernetes.io/serviceaccount",
  ]);
});

Deno.test("Dockerfile sets PROGRAM_ENVIRONMENT for each program", async () => {
  const dockerfile = await Deno.readTextFile(new URL("Dockerfile", repository));
  const images = dockerfile.split(/^FROM /m).filter((stage) => stage.includes("ENTRYPOINT"));
  assert.equal(images.length, PROGRAMS.filter(({ image }) => image).length);
  for (const stage of images) {
    for (const [name, value] of Object.entries(PROGRAM_ENVIRONMENT)) {
      assert.ok(stage.includes(`\nENV ${name}=${value}\n`), `${name} is not in: ${stage}`);
    }
  }
});

Deno.test("Dockerfile compiles with the flags of compileArguments()", async () => {
  const dockerfile = await Deno.readTextFile(new URL("Dockerfile", repository));
  for (const program of PROGRAMS.filter(({ image }) => image)) {
    for (const argument of compileArguments(program, "unused")) {
      if (/^(--quiet|-P=|--output=)/.test(argument) || argument === program.entry) continue;
      assert.ok(dockerfile.includes(argument), `${argument} is not in the Dockerfile`);
    }
    assert.match(dockerfile, new RegExp(`ENTRYPOINT \\["/${program.name}"\\]`));
  }
  assert.match(dockerfile, /deno:debian-2\.9\.6/);
});

Deno.test("docs/install.md names each role of component users", async () => {
  const [guide, roles] = await Promise.all(
    ["docs/install.md", "manifests/components/users/roles.yaml"]
      .map((path) => Deno.readTextFile(new URL(path, repository))),
  );
  const names = roles?.match(/(?<=^ {2}name: )mbcas-.*$/gm) ?? [];
  assert.equal(names.length, 5);
  for (const name of names) assert.ok(guide?.includes(`\`${name}\``), name);
});

Deno.test("docs/placement-command.md names what a team may read of placement", async () => {
  const page = await Deno.readTextFile(
    new URL("docs/placement-command.md", repository),
  );
  const said = /--verb=(\S+) --resource=(\S+) --resource-name=(\S+)\n/.exec(page)?.slice(1);
  assert.deepEqual(said, ["get", "configmaps", `${STATUS_CONFIG_MAP_PREFIX}shop`]);
});

const METRICS = Object.values<MetricTable>(METRIC_TABLES).flatMap((table) => Object.values(table));

/** Labels that Prometheus adds to an agent's target, and `le` of histograms. */
const ADDED_LABELS = ["node", "instance", "le"];
/** Metrics of API servers, with the one label that is asked about. */
const FOREIGN = { apiserver_admission_webhook_fail_open_count: ["name"] };

const LABELS: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(METRICS.map(({ name, labels = [] }) => [name, labels])),
  ...FOREIGN,
};

/** Labels that Prometheus itself gives to a pod that the Operator's PodMonitor found. */
const TARGET_LABELS = ["namespace", "pod", "container", "endpoint", "job", "instance"];

/** Metrics that an expression reads. Fails for one that no table has, and for a label that none has. */
function metricsOf(expression: string): readonly string[] {
  const names = [...expression.matchAll(/\b(?:mbcas|coallocator|process|apiserver)_\w+/g)]
    .map(([name]) => name.replace(/_bucket$/, ""));
  assert.ok(names.length > 0, expression);
  const known = new Set(ADDED_LABELS);
  for (const name of names) {
    const labels = LABELS[name] ?? assert.fail(`${expression}: ${name}`);
    for (const label of labels) known.add(label);
  }
  const grouped = [...expression.matchAll(/\b(?:by|on|group_left) \(([^)]*)\)/g)]
    .flatMap(([, list = ""]) => list.split(", "));
  const matched = [...expression.matchAll(/(\w+)=~?"/g)].map(([, label = ""]) => label);
  for (const label of [...grouped, ...matched]) {
    assert.ok(known.has(label), `${expression}: ${label}`);
  }
  return names;
}

Deno.test("programs serve each metric of the tables, and no other", async () => {
  const { names: agents } = await agentMetrics();
  const { names: controllers } = await controllerMetrics();
  const defined = METRICS.flatMap((
    { name, alias },
  ) => [name, ...alias === undefined ? [] : [alias]]);
  assert.deepEqual([...agents.union(controllers)].sort(), defined.toSorted());
});

renderTest("component prometheus keeps labels of metrics that the target has too", async () => {
  const objects = await renderWith(["prometheus"]);
  const programs = { "mbcas-agent": agentMetrics, "mbcas-controller": controllerMetrics };
  const clashes = [];
  for (const [name, metrics] of Object.entries(programs)) {
    const { labels } = await metrics();
    const same = TARGET_LABELS.filter((label) => labels.has(label));
    const [{ honorLabels = false }] = one(objects, "PodMonitor", name).spec.podMetricsEndpoints;
    assert.equal(honorLabels, same.length > 0, `${name}: ${same.join()}`);
    clashes.push(same);
  }
  assert.deepEqual(clashes, [["namespace", "pod"], ["namespace"]]);
});

renderTest("component alerts adds its rules, and the base has none", async () => {
  const objects = await renderWith(["alerts", "webhook"]);
  const rules = await alertRules();
  const { groups } = one(objects, "PrometheusRule", "mbcas").spec;
  assert.deepEqual(groups.flatMap((group: Untyped) => group.rules), rules);
  const { webhooks } = one(objects, "MutatingWebhookConfiguration", "mbcas-webhook");
  assert.ok(rules.some(({ expr }) => expr.includes(`{name="${webhooks[0].name}"}`)));
  assert.ok(!(await render("base")).some(({ kind }) => kind === "PrometheusRule"));
});

Deno.test("component alerts asks for metrics, labels and values that the programs have", async () => {
  const known: Readonly<Record<string, readonly string[]>> = {
    reason: Object.keys({ ...BOUND_REASONS, ...ENFORCEMENT_REASONS, ...RIGHTSIZING_REASONS }),
    action: Object.keys(PLACEMENT_REASONS),
    phase: podAllocationSchema.shape.status.unwrap().shape.phase.unwrap().options,
    result: [...UNPLACED_REASONS, "failed"],
    mode: ["overloaded"],
    replica_type: ["spot", "on-demand"],
  };
  for (const { expr } of await alertRules()) {
    metricsOf(expr);
    for (const [, label = "", values = ""] of expr.matchAll(/(\w+)!?=~?"([^"]*)"/g)) {
      if (label === "name") continue;
      for (const value of values.split("|")) assert.ok(known[label]?.includes(value), value);
    }
  }
});

Deno.test("each alert has a known severity and a section of a page of docs/", async () => {
  const severities = new Map<string, string[]>();
  for (const { alert, labels, annotations } of await alertRules()) {
    const { severity } = labels;
    severities.set(severity, [...severities.get(severity) ?? [], alert]);
    assert.ok(annotations.summary && annotations.description, alert);
    const [page, anchor] = annotations.runbook_url.split("#");
    // The chart and a release replace it.
    assert.equal(page, RUNBOOKS, alert);
    const text = await Deno.readTextFile(new URL("../../docs/alerts.md", import.meta.url));
    const anchors = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
      heading.toLowerCase().replaceAll(/[^\w -]/g, "").replaceAll(" ", "-")
    );
    assert.ok(anchors.includes(anchor ?? ""), `${alert}: ${annotations.runbook_url}`);
  }
  assert.deepEqual([...severities.keys()].sort(), ["critical", "info", "warning"]);
  assert.deepEqual(severities.get("critical"), ["MbcasNoLeader", "MbcasPlacementFloorBroken"]);
});

Deno.test("dashboards have Grafana's form, and ask for metrics and labels that the programs have", async () => {
  const uids = new Set<string>();
  for (const dashboard of await dashboards()) {
    const { uid, title, templating, panels } = z.parse(dashboardSchema, dashboard);
    uids.add(uid);
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length, `${title}: ids`);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + cell % w},${y + Math.floor(cell / w)}`)
    );
    assert.equal(new Set(cells).size, cells.length, `${title}: panels overlap`);
    for (const { definition = "" } of templating.list) {
      if (definition !== "") metricsOf(definition);
    }
    for (const { expr } of panels.flatMap(({ targets = [] }) => targets)) metricsOf(expr);
  }
  assert.deepEqual([...uids], ["coallocator-fleet", "coallocator-node"]);
});
