/** The roles for people, and that they come only where they are asked for. */
import assert from "node:assert/strict";
import { STATUS_CONFIG_MAP_PREFIX } from "../../shared/placement/status.ts";
import { one, render, renderTest, renderWith, rightsOf } from "./rendered.ts";

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

renderTest(
  "component users gives each role what its commands need, and no write beyond that",
  async () => {
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
  },
);

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
