/** Tests of the manifests as kustomize renders them; needs kubectl, but no cluster. */
import assert from "node:assert/strict";
import { AGENT_SETTINGS } from "../../agent/settings.ts";
import { CONTROLLER_SETTINGS } from "../../controller/settings.ts";
import { SPOTALIS_VARIABLES } from "../../shared/config/aliases.ts";
import { settingsOf } from "../../shared/config/setting.ts";
import { STATUS_CONFIG_MAP_PREFIX } from "../../shared/placement/status.ts";
import { compileArguments, PROGRAM_ENVIRONMENT, PROGRAMS } from "../../tools/build/programs.ts";
import { componentNames } from "../cluster/rendered_manifests.ts";
import {
  one,
  render,
  type Rendered,
  renderTest,
  renderTest as test,
  renderWith,
  rightsOf,
} from "./rendered.ts";

const root = new URL("../../", import.meta.url).pathname;

function workloads(objects: readonly Rendered[]): Rendered[] {
  return objects.filter(({ kind }) => kind === "DaemonSet" || kind === "Deployment");
}

test("overlays/release runs images of the project's version from a registry", async () => {
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

test("each workload's pods are unprivileged, read-only and found by their labels", async () => {
  const found = workloads(await render("overlays/release"));
  assert.deepEqual(found.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort(), [
    "DaemonSet mbcas-agent",
    "Deployment mbcas-controller",
  ]);
  for (const { metadata, spec } of found) {
    const { template, selector } = spec;
    assert.deepEqual(selector.matchLabels, { "app.kubernetes.io/name": metadata.name });
    const { version, ...labels } = Object.fromEntries(
      Object.entries(template.metadata.labels).map(([key, value]) => [key.split("/")[1], value]),
    );
    assert.equal(typeof version, "string");
    const component = metadata.name.replace("mbcas-", "");
    assert.deepEqual(labels, { name: metadata.name, component, "part-of": "coallocator" });
    const { securityContext, containers, hostNetwork, hostPID } = template.spec;
    assert.deepEqual([hostNetwork, hostPID], [undefined, undefined]);
    assert.deepEqual(securityContext, {
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      seccompProfile: { type: "RuntimeDefault" },
    });
    const [container, ...others] = containers;
    assert.deepEqual(others, []);
    assert.deepEqual(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    assert.ok(container.resources.requests.cpu && container.resources.limits.memory);
    assert.equal(container.livenessProbe.httpGet.path, "/healthz");
    assert.equal(container.readinessProbe.httpGet.path, "/readyz");
    assert.deepEqual(container.args, ["--config=/etc/mbcas/config.yaml"]);
  }
});

test("examples make pods that the market can manage: Burstable with a CPU limit", async () => {
  const found = workloads(await render("examples"));
  assert.equal(found.length, 4);
  for (const { metadata, spec } of found) {
    const [{ resources }] = spec.template.spec.containers;
    assert.ok(resources.limits.cpu, metadata.name);
    assert.notDeepEqual(resources.limits, resources.requests);
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

Deno.test("the permission set agent names one host, one port to listen on, one file and three folders", () => {
  assert.deepEqual(permissions.agent.net, ["kubernetes.default.svc:443", "0.0.0.0:8081"]);
  assert.deepEqual(permissions.agent.read, [
    "/host/cgroup",
    "/host/kernel/sched_ext/state",
    "/etc/mbcas",
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

const NAMES = [
  "mbcas-edit",
  "mbcas-namespace-operator",
  "mbcas-operator",
  "mbcas-readings",
  "mbcas-view",
];

renderTest("component users adds roles for the command, without bindings", async () => {
  const [usual, objects] = [await render("base"), await renderWith(["users"])];
  const key = (all: typeof objects) => all.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  const before = new Set(key(usual));
  assert.deepEqual(key(objects).filter((one) => !before.has(one)).sort(), [
    "ClusterRole mbcas-edit",
    "ClusterRole mbcas-namespace-operator",
    "ClusterRole mbcas-operator",
    "ClusterRole mbcas-view",
    "Role mbcas-readings",
  ]);
  assert.ok(!usual.some(({ metadata }) => NAMES.includes(metadata.name)));
});

renderTest("component users gives each role what its commands need, and no more", async () => {
  const objects = await renderWith(["users"]);
  const allocations = "allocation.mbcas.io/podallocations";
  const view = one(objects, "ClusterRole", "mbcas-view");
  assert.deepEqual(
    rightsOf(view),
    [
      allocations,
      "optipod.io/recommendationreports",
      "optipod.io/optimizationpolicies",
    ].flatMap((resource) => ["get", "list", "watch"].map((verb) => `${verb} ${resource}`)),
  );
  const aggregate = (role: typeof view) =>
    Object.keys(role.metadata.labels ?? {}).filter((label) => label.includes("aggregate"));
  assert.deepEqual(aggregate(view), ["rbac.authorization.k8s.io/aggregate-to-view"]);
  const edit = one(objects, "ClusterRole", "mbcas-edit");
  assert.deepEqual(
    rightsOf(edit),
    ["create", "update", "patch", "delete"].map((verb) =>
      `${verb} optipod.io/optimizationpolicies`
    ),
  );
  assert.deepEqual(aggregate(edit), ["rbac.authorization.k8s.io/aggregate-to-edit"]);
  const operator = one(objects, "ClusterRole", "mbcas-operator");
  assert.deepEqual(rightsOf(operator), [
    "get /pods",
    "list /pods",
    "patch /pods",
    "patch /pods/resize",
    "get /namespaces",
    "list /limitranges",
    `list ${allocations}`,
    "get apps/replicasets",
    "get apps/controllerrevisions",
    "get batch/jobs",
  ]);
  const wide = one(objects, "ClusterRole", "mbcas-namespace-operator");
  assert.deepEqual(rightsOf(wide), ["get /namespaces", "patch /namespaces"]);
  // Accounts that may view must not get these indirectly.
  assert.deepEqual([operator, wide].flatMap(aggregate), []);
  assert.deepEqual(rightsOf(one(objects, "Role", "mbcas-readings"), { withNames: true }), [
    "list /pods",
    "get /pods/portforward",
    "create /pods/portforward",
    "get /configmaps mbcas-config",
    "get apps/deployments mbcas-controller",
    "get coordination.k8s.io/leases mbcas-controller",
  ]);
});

Deno.test("docs/install.md names each role of component users", async () => {
  const guide = await Deno.readTextFile(new URL("../../docs/install.md", import.meta.url));
  for (const name of NAMES) assert.ok(guide.includes(`\`${name}\``), name);
});

Deno.test("docs/placement-command.md names what a team may read of placement", async () => {
  const page = await Deno.readTextFile(
    new URL("../../docs/placement-command.md", import.meta.url),
  );
  const said = /--verb=(\S+) --resource=(\S+) --resource-name=(\S+)\n/.exec(page)?.slice(1);
  assert.deepEqual(said, ["get", "configmaps", `${STATUS_CONFIG_MAP_PREFIX}shop`]);
});
