import fc from "fast-check";
import assert from "node:assert/strict";
import { allocationsPath } from "../../adapters/kube/kinds/allocations.ts";
import { createKubectl } from "./kubectl.ts";
import { type Refusal, tryCreate, tryPatch } from "./scene/contract_world.ts";
import { parseAllDocuments } from "yaml";
import { ALLOCATION_LABELS } from "../../shared/api/market_keys.ts";
import { POLICIES } from "../../adapters/kube/kinds/optimization_policies.ts";
import { applyRights } from "./rendered_manifests.ts";
import { openRealNode } from "./scene/real_node.ts";
import { resourcePath } from "../../adapters/kube/client/connection.ts";
import { objectOf } from "../../adapters/kube/client/json_fields.ts";
import { faultText } from "../../shared/api/fields.ts";
import { readPolicySpec } from "../../shared/rightsizing/policy_spec.ts";
import { SAMPLE_POLICY_SPEC } from "../contract/support/sample_objects.ts";
import { WELL_FORMED } from "../fixtures/rightsizing/written_policies.ts";
import { INVALID_POLICIES } from "../fixtures/optipod/invalid_policies.ts";

/** The CustomResourceDefinitions on a real API server: what they take, refuse and show. */

const kubectl = createKubectl();
const namespace = `crd-${crypto.randomUUID().slice(0, 8)}`;

Deno.test.beforeAll(async () => {
  // All of them at once: the category of the kinds lists those that are served.
  await applyRights(kubectl);
  await kubectl.must(["create", "namespace", namespace]);
});
Deno.test.afterAll(async () =>
  void await kubectl.must(["delete", "namespace", namespace, "--wait=false"])
);

const ALLOCATIONS = allocationsPath(namespace);
const UID = "5f2bd5b1-7a52-4a0a-9f5c-1f1d40c2f0aa";
const VALID = {
  apiVersion: "allocation.mbcas.io/v1alpha1",
  kind: "PodAllocation",
  metadata: { name: UID, namespace, labels: { [ALLOCATION_LABELS.workload]: "web", app: "shop" } },
  spec: {
    podName: "web-0",
    podUID: UID,
    nodeName: "node-of-crd-test",
    namespace,
    desiredCPULimit: "750m",
    containers: [{ name: "app", cpuLimit: "0.5" }, { name: "sidecar", cpuLimit: "250m" }],
    market: {
      mode: "congested",
      price: 0.002,
      demand: 800,
      need: 750,
      credit: 1,
      reason: "Throttled",
      observedBounds: 1,
    },
  },
};

const BOUND = { name: "app", containerID: "containerd://0a", floor: 10, ceiling: 900, weight: 1 };

/** Refused creations: a change of VALID's spec, and the field in the answer. */
const REFUSED_SPECS: readonly (readonly [field: string, change: Record<string, unknown>])[] = [
  ["spec.podName", { podName: "" }],
  ["spec.podUID", { podUID: undefined }],
  ["spec.nodeName", { nodeName: "" }],
  ["spec.namespace", { namespace: undefined }],
  ["spec.desiredCPULimit", { desiredCPULimit: "plenty" }],
  ["spec.desiredCPULimit", { desiredCPULimit: "-750m" }],
  ["spec.desiredCPULimit", { desiredCPULimit: "751m" }],
  ["spec.desiredCPULimit", { desiredCPULimit: 1 }],
  ["spec.containers", { containers: [] }],
  ["spec.containers[0].cpuLimit", { containers: [{ name: "app", cpuLimit: "1 CPU" }] }],
  ["spec.containers[0].name", { containers: [{ name: "", cpuLimit: "750m" }] }],
  ["spec.containers[1]", {
    containers: [{ name: "app", cpuLimit: "250m" }, { name: "app", cpuLimit: "500m" }],
  }],
  ["spec.containers", {
    containers: Array.from({ length: 129 }, (_, i) => ({ name: `c${i}`, cpuLimit: "1m" })),
    desiredCPULimit: "129m",
  }],
  ["spec.market.mode", { market: { ...VALID.spec.market, mode: "relaxed" } }],
  ["spec.market.price", { market: { ...VALID.spec.market, price: -1 } }],
  ["spec.market.reason", { market: { ...VALID.spec.market, reason: "a whim" } }],
  ["spec.market.clearedAt", { market: { ...VALID.spec.market, clearedAt: "yesterday" } }],
  ["spec.market.observedBounds", { market: { ...VALID.spec.market, observedBounds: 1.5 } }],
];

const REFUSED_STATUSES: readonly (readonly [field: string, status: Record<string, unknown>])[] = [
  ["status.phase", { phase: "Done" }],
  ["status.appliedCPULimit", { appliedCPULimit: "1Mi" }],
  ["status.reason", { reason: "because" }],
  ["status.bounds.containers[0].floor", {
    bounds: { revision: 1, reason: "", containers: [{ ...BOUND, floor: -1 }] },
  }],
  ["status.bounds.containers[0].weight", {
    bounds: { revision: 1, reason: "", containers: [{ ...BOUND, weight: 0 }] },
  }],
  ["status.bounds.containers[0].held", {
    bounds: { revision: 1, reason: "", containers: [{ ...BOUND, held: "upper" }] },
  }],
  ["status.originalLimits[0].cpu", { originalLimits: [{ name: "app", cpu: "half" }] }],
];

Deno.test("PodAllocation on a real API server", async (t) => {
  using node = await openRealNode();
  const { connection } = node;
  await t.step("PodAllocation takes a valid object, and one that was never cleared", async () => {
    await kubectl.must(["create", "-f", "-"], VALID);
    const { desiredCPULimit: _sum, containers: _list, market: _seen, ...identity } = VALID.spec;
    const fresh = { ...VALID, metadata: { namespace, name: "fresh" }, spec: identity };
    await kubectl.must(["create", "--dry-run=server", "-f", "-"], fresh);
  });

  for (const [field, change] of REFUSED_SPECS) {
    await t.step(refusal(field, change), async () => {
      const other = {
        ...VALID,
        metadata: { namespace, name: "other" },
        spec: { ...VALID.spec, ...change },
      };
      assertNames(field, await tryCreate(connection, { path: ALLOCATIONS, body: other }));
    });
  }

  for (const [field, status] of REFUSED_STATUSES) {
    await t.step(refusal(field, status), async () => {
      const path = `${ALLOCATIONS}/${UID}/status`;
      assertNames(field, await tryPatch(connection, { path, body: { status } }));
    });
  }

  await t.step("PodAllocation takes reasons and conditions of a later version", async () => {
    const lastTransitionTime = "2026-01-01T00:00:00.000Z";
    const condition = { type: "Watched", status: "Unknown", reason: "Later", message: "" };
    const status = { reason: "Later", conditions: [{ ...condition, lastTransitionTime }] };
    const path = `${ALLOCATIONS}/${UID}/status`;
    assert.equal(await tryPatch(connection, { path, body: { status } }), undefined);
  });

  await t.step("PodAllocation is found by node and shows its columns", async () => {
    const get = ["get", "palloc", "-n", namespace];
    const here = await kubectl.must([...get, "--field-selector=spec.nodeName=node-of-crd-test"]);
    const [header = "", row = ""] = here.split("\n");
    assert.match(header, /^NAME +POD +DESIRED +APPLIED +PHASE +REASON +AGE *$/);
    assert.match(row, /web-0 +750m/);
    const labels = Object.entries(VALID.metadata.labels).map((label) => label.join("="));
    const byLabel = ["get", "coallocator", "-n", namespace, "-l", labels.join(), "-o", "name"];
    const name = `podallocation.allocation.mbcas.io/${UID}`;
    assert.equal((await kubectl.must(byLabel)).trim(), name);
    const byName = [...get, "--field-selector=spec.podName=web-0", "-o", "name"];
    assert.equal((await kubectl.must(byName)).trim(), name);
    const elsewhere = ["--field-selector=spec.nodeName=elsewhere", "-o", "name"];
    assert.equal(await kubectl.must([...get, ...elsewhere]), "");
    assert.match(await kubectl.must([...get, "-o", "wide"]), /NODE +MODE +PRICE +DEMAND/);
  });
});

function refusal(field: string, change: unknown): string {
  const shown = JSON.stringify(change, (_key, value) => value === undefined ? "absent" : value);
  return `PodAllocation names ${field} when it refuses ${shown.slice(0, 80)}`;
}

/** Fails unless the object is invalid by this field. */
function assertNames(field: string, refused: Refusal): void {
  assert.equal(refused?.status, 422, refused?.message ?? "it was taken");
  assert.ok(refused.message.includes(field), `${refused.message} does not name ${field}`);
}

const EXAMPLES = new URL("../../manifests/examples/optipod/", import.meta.url);

interface Policy {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** Policies of a folder, each with its file, put into the namespace of this test. */
function policiesIn(folder: URL): readonly { file: string; object: Policy }[] {
  return [...Deno.readDirSync(folder)].filter(({ name }) => name.endsWith(".yaml"))
    .flatMap(({ name: file }) =>
      parseAllDocuments(Deno.readTextFileSync(new URL(file, folder)))
        .map((document) => document.toJS() as Policy)
        .filter(({ kind }) => kind === "OptimizationPolicy")
        .map((object) => ({
          file,
          object: { ...object, metadata: { ...object.metadata, namespace } },
        }))
    );
}

const POLICIES_PATH = resourcePath({ ...POLICIES, namespace });

function policyWith(spec: unknown): { readonly spec: unknown } {
  const [apiVersion, kind] = ["optipod.io/v1alpha1", "OptimizationPolicy"];
  return { apiVersion, kind, metadata: { name: "tried" }, spec } as { readonly spec: unknown };
}

/** Names and values at the bounds of what a server takes for a label. */
const LABELS: readonly (readonly [key: string, value: string, isLabel: boolean])[] = [
  ["x".repeat(63), "x".repeat(63), true],
  ["x".repeat(64), "a", false],
  ["a", "x".repeat(64), false],
  [`${"x.".repeat(126)}x/a`, "", true],
  [`${"x.".repeat(126)}xx/a`, "", false],
  ["A_.-b/0A_.-b", "A_.-0", false],
  ["a-.b/0A_.-b", "A_.-0", false],
  ["a.b-c/0A_.-b", "A_.-0", true],
  ["a-", "a", false],
  ["a", "a.", false],
  ["a", "a/b", false],
  ["a/b/c", "a", false],
];

Deno.test("OptimizationPolicy on a real API server", async (t) => {
  using node = await openRealNode();
  const { connection } = node;
  for (const { file, object } of policiesIn(EXAMPLES)) {
    await t.step(`OptimizationPolicy takes the example ${file}`, async () => {
      await kubectl.must(["create", "-f", "-"], object);
    });
  }

  for (const { name, field, object } of INVALID_POLICIES) {
    await t.step(`property 15: OptimizationPolicy names ${field}, refusing ${name}`, async () => {
      const body = { ...object, metadata: { ...object.metadata, namespace } };
      assertNames(field, await tryCreate(connection, { path: POLICIES_PATH, body }));
    });
  }

  await t.step(
    "property 15: OptimizationPolicy takes well-formed ones as they are meant",
    () =>
      fc.assert(
        fc.asyncProperty(WELL_FORMED, async ({ spec: written }) => {
          const body = policyWith(written);
          const query = { dryRun: "All" };
          const made = await connection.request({
            method: "POST",
            path: POLICIES_PATH,
            query,
            body,
          });
          const { spec, faults } = readPolicySpec(objectOf(made).spec);
          assert.deepEqual(faults.map(faultText), []);
          assert.deepEqual(spec, readPolicySpec(written).spec);
        }),
        { numRuns: 200 },
      ),
  );

  for (const [key, value, isLabel] of LABELS) {
    await t.step(
      `OptimizationPolicy ${isLabel ? "takes" : "refuses"} ${key}=${value}`,
      async () => {
        const path = `/api/v1/namespaces/${namespace}/configmaps`;
        const query = { labelSelector: `${key}=${value}`, limit: "1" };
        const found = connection.request({ path, query });
        await (isLabel ? found : assert.rejects(found, { status: 400 }));
        for (
          const workloadSelector of [
            { matchLabels: { [key]: value } },
            { matchExpressions: [{ key, operator: "In", values: [value] }] },
          ]
        ) {
          const body = policyWith({ ...SAMPLE_POLICY_SPEC, selector: { workloadSelector } });
          const refused = await tryCreate(connection, { path: POLICIES_PATH, body });
          assert.equal(refused === undefined, isLabel, refused?.message);
          assert.equal(readPolicySpec(body.spec).spec !== undefined, isLabel);
        }
      },
    );
  }

  await t.step("OptimizationPolicy shows its columns", async () => {
    const [header = ""] = (await kubectl.must(["get", "optpol", "-n", namespace])).split("\n");
    assert.match(header, /^NAME +MODE +PROVIDER +DISCOVERED +READY +AGE *$/);
  });
});
