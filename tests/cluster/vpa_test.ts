/**
 * The market beside VPA: pods with resources that a VPA sets are left to it, whatever its mode; those
 * of a VPA that only recommends are not, nor are they where the server knows no VPAs.
 *
 * @module
 */
import assert from "node:assert/strict";
import { assertReported, assertRestores, assertUnreported, eventTexts } from "./scene/reported.ts";
import { quotaOf, readyPod, whenQuota } from "./scene/limits.ts";
import { loadDeployment } from "./scene/load_pod.ts";
import { productMetrics, restoresFor } from "./scene/product.ts";
import { openRealNode, type PodName, type RealNode, sharedNamespace } from "./scene/real_node.ts";
import { until } from "./scene/until.ts";
import {
  defineVPAs,
  forgetVPAs,
  knowsVPAs,
  VPA_MODES,
  vpaOf,
  vpasPath,
} from "./scene/vpa_definition.ts";

const OWN = 20;
/** The kind is asked for once a minute as long as the server does not know it. */
const NOTICED = { timeoutMs: 120_000, everyMs: 250 };
const ACTING = VPA_MODES.filter((mode) => mode !== "Off");
/** Deployments by the mode of their VPA; one has none. */
const ALL = ["none", ...VPA_MODES].map((mode) => mode.toLowerCase());
const were = { known: false };

const shared = sharedNamespace(async (node, { name: namespace }) => {
  were.known = await knowsVPAs(node.connection);
  await Promise.all(ALL.map((name) =>
    node.create(
      `/apis/apps/v1/namespaces/${namespace}/deployments`,
      loadDeployment({
        name,
        namespace,
        containers: [{ name: "load", request: "10m", limit: `${OWN}m`, busy: true }],
      }),
    )
  ));
}, { labels: { "mbcas.io/burst-factor": "2" } });

Deno.test.afterAll(async () => {
  using node = await openRealNode();
  if (!were.known && await knowsVPAs(node.connection)) await forgetVPAs(node.connection);
});

/** The only pod of the mode's Deployment. */
async function podOf(node: RealNode, mode: string): Promise<PodName> {
  const { metadata } = await readyPod(node, shared.pod(mode.toLowerCase()), { timeoutMs: 120_000 });
  return shared.pod(metadata.name);
}

async function whenRaised(node: RealNode, modes: readonly string[]): Promise<void> {
  await Promise.all(modes.map(async (mode) => {
    await whenQuota(node, await podOf(node, mode), (quota) => quota > OWN, NOTICED);
  }));
}

async function change(node: RealNode, method: "PATCH" | "DELETE", mode: string): Promise<void> {
  const path = `${vpasPath(shared.name)}/${mode.toLowerCase()}`;
  const body = { spec: { updatePolicy: { updateMode: "Off" } } };
  await node.connection.request({
    method,
    path,
    ...(method === "PATCH" ? { contentType: "application/merge-patch+json", body } : {}),
  });
}

Deno.test("pods are managed where the server knows no VPAs", async () => {
  using node = await openRealNode();
  assert.equal(await knowsVPAs(node.connection), were.known);
  await whenRaised(node, ALL);
  const metrics = await productMetrics(node, "mbcas-controller");
  assert.equal(metrics.get('mbcas_cache_synced{kind="verticalPodAutoscalers"}'), 1);
});

Deno.test("pods of a VPA that acts get their original limits back (VPAConflict), pods of one that is Off stay managed", async () => {
  using node = await openRealNode();
  const restoresBefore = await restoresFor(node, "VPAConflict");
  if (!were.known) await defineVPAs(node.connection);
  for (const mode of VPA_MODES) {
    await node.create(vpasPath(shared.name), vpaOf(mode.toLowerCase(), mode));
  }
  await Promise.all(ACTING.map(async (mode) => {
    const name = await podOf(node, mode);
    await whenQuota(node, name, (quota) => quota === OWN, NOTICED);
    const reported = await until(
      "event",
      async () => (await eventTexts(node, { ...name, reason: "CPULimitsRestored" }))[0],
    );
    const workload = mode.toLowerCase();
    const values = [`VPA ${workload}`, `mode ${mode}`, `Deployment ${workload}`];
    assert.match(reported, new RegExp(values.map((value) => `\\b${value}\\b`).join(".*")));
  }));
  for (const mode of ["none", "Off"]) {
    assert.ok(await quotaOf(node, await podOf(node, mode)) > OWN, mode);
  }
  await assertRestores(node, "VPAConflict", { before: restoresBefore, count: ACTING.length });
  await assertReported(node, await podOf(node, "Auto"), { outside: "VPAConflict" });
  await assertUnreported(node, await podOf(node, "Off"), "VPAConflict");
});

Deno.test("pods are managed again once their VPA is Off or gone", async () => {
  using node = await openRealNode();
  await change(node, "PATCH", "Auto");
  await change(node, "DELETE", "Recreate");
  await whenRaised(node, ["Auto", "Recreate"]);
  assert.equal(await quotaOf(node, await podOf(node, "Initial")), OWN);
});

Deno.test("pods are managed again once the server knows no VPAs any more", async () => {
  using node = await openRealNode();
  if (were.known) return;
  await forgetVPAs(node.connection);
  await whenRaised(node, ["Initial", "InPlace", "InPlaceOrRecreate"]);
});
