/**
 * The switches that take a pod in or out: on pod or namespace, as label or annotation, at once and with
 * the original limits back; and their precedence. Pods with resources that a VPA sets are left to it,
 * whatever its mode; those of a VPA that only recommends are not, nor are they where the server knows no
 * VPAs.
 *
 * @module
 */
import { patchRequest } from "../../adapters/kube/client/connection.ts";
import { assertReported, assertRestores, assertUnreported, eventTexts } from "./scene/reported.ts";
import { boundsOf, quotaOf, readyPod, thePod, whenQuota, whenUnallocated } from "./scene/limits.ts";
import { type LoadContainer, loadDeployment, loadPod } from "./scene/load_pod.ts";
import { productMetrics, restoresFor, withLiveSettings } from "./scene/product.ts";
import {
  onNode,
  openRealNode,
  type PodName,
  type RealNode,
  scratchNamespace,
  sharedNamespace,
} from "./scene/real_node.ts";
import { pause, until } from "./scene/until.ts";
import {
  defineVPAs,
  forgetVPAs,
  knowsVPAs,
  VPA_MODES,
  vpaOf,
  vpasPath,
} from "./scene/vpa_definition.ts";
import assert from "node:assert/strict";

const OWN = 40;
const MANAGED = "mbcas.io/managed";
const BUSY: LoadContainer = { name: "load", request: "10m", limit: `${OWN}m`, busy: true };
/** Original limits are small and may be doubled, so that all these pods fit a busy machine. */
const LITTLE = { "mbcas.io/burst-factor": "2" };
const AT_ONCE = { timeoutMs: 20_000 };

type Kind = "labels" | "annotations";

/** Sets or removes (null) the value of an object, for instance `/api/v1/namespaces/shop`. */
async function say(
  { connection }: RealNode,
  path: string,
  { kind, value }: { readonly kind: Kind; readonly value: string | null },
): Promise<void> {
  await connection.request(
    patchRequest("merge", { path, body: { metadata: { [kind]: { [MANAGED]: value } } } }),
  );
}

function pathOf({ namespace, name }: PodName): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}

async function busyPod(
  node: RealNode,
  name: PodName,
  marks: { labels?: Record<string, string>; annotations?: Record<string, string> } = {},
): Promise<PodName> {
  await node.run(loadPod({ ...name, containers: [BUSY], ...marks }), { timeoutMs: 120_000 });
  return name;
}

function whenRaised(node: RealNode, name: PodName): Promise<number> {
  return whenQuota(node, name, (quota) => quota > OWN, { timeoutMs: 90_000 });
}

async function assertRestored(node: RealNode, name: PodName): Promise<void> {
  await whenQuota(node, name, (quota) => quota === OWN, AT_ONCE);
  const { metadata } = await thePod(node, name);
  await whenUnallocated(node, metadata);
}

/** Fails unless the pods are left alone with their original limits while they throttle. */
async function assertAlone(node: RealNode, names: readonly PodName[]): Promise<void> {
  for (let i = 0; i < 20; i++) {
    await pause(250);
    for (const name of names) assert.equal(await quotaOf(node, name), OWN, name.name);
  }
}

const OWN_OF_VPAS = 20;
/** The kind is asked for once a minute as long as the server does not know it. */
const NOTICED = { timeoutMs: 120_000, everyMs: 250 };
const ACTING = VPA_MODES.filter((mode) => mode !== "Off");
/** Deployments by the mode of their VPA; one has none. */
const ALL = ["none", ...VPA_MODES].map((mode) => mode.toLowerCase());
const were = { known: false };

const shared = sharedNamespace(async (node, { name: namespace }) => {
  were.known = await knowsVPAs(node.connection);
  await Promise.all(ALL.map((name) =>
    node.deploy(loadDeployment({
      name,
      namespace,
      containers: [{ name: "load", request: "10m", limit: `${OWN_OF_VPAS}m`, busy: true }],
    }))
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

async function whenModesRaised(node: RealNode, modes: readonly string[]): Promise<void> {
  await Promise.all(modes.map(async (mode) => {
    await whenQuota(node, await podOf(node, mode), (quota) => quota > OWN_OF_VPAS, NOTICED);
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
  await whenModesRaised(node, ALL);
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
    await whenQuota(node, name, (quota) => quota === OWN_OF_VPAS, NOTICED);
    const workload = mode.toLowerCase();
    const values = [`VPA ${workload}`, `mode ${mode}`, `Deployment ${workload}`];
    // A later one would not be reported again: the other tests, which restore these pods, come after.
    const reported = await until(
      "event",
      async () => (await eventTexts(node, { ...name, reason: "CPULimitsRestored" }))[0],
    );
    assert.match(reported, new RegExp(values.map((value) => `\\b${value}\\b`).join(".*")));
  }));
  for (const mode of ["none", "Off"]) {
    assert.ok(await quotaOf(node, await podOf(node, mode)) > OWN_OF_VPAS, mode);
  }
  await assertRestores(node, "VPAConflict", { before: restoresBefore, count: ACTING.length });
  await assertReported(node, await podOf(node, "Auto"), { outside: "VPAConflict" });
  await assertUnreported(await podOf(node, "Off"), "VPAConflict");
});

Deno.test("pods are managed again once their VPA is Off or gone", async () => {
  using node = await openRealNode();
  await change(node, "PATCH", "Auto");
  await change(node, "DELETE", "Recreate");
  await whenModesRaised(node, ["Auto", "Recreate"]);
  assert.equal(await quotaOf(node, await podOf(node, "Initial")), OWN_OF_VPAS);
});

Deno.test("pods are managed again once the server knows no VPAs any more", async () => {
  using node = await openRealNode();
  if (were.known) return;
  await forgetVPAs(node.connection);
  await whenModesRaised(node, ["Initial", "InPlace", "InPlaceOrRecreate"]);
});

Deno.test("a pod or namespace opts out by label or annotation at once, the pod's value over the namespace's, and comes back", async () => {
  using node = await openRealNode();
  const marks = { labels: LITTLE };
  await using one = await scratchNamespace(node.connection, marks);
  await using two = await scratchNamespace(node.connection, marks);
  await using three = await scratchNamespace(node.connection, marks);
  const [byLabel, byAnnotation, stayer, tenant, faithful, guest] = await Promise.all([
    busyPod(node, one.pod("by-label")),
    busyPod(node, one.pod("by-annotation")),
    busyPod(node, one.pod("stayer")),
    busyPod(node, two.pod("tenant")),
    busyPod(node, two.pod("faithful"), { labels: { [MANAGED]: "true" } }),
    busyPod(node, three.pod("guest")),
  ]);
  const all = [byLabel, byAnnotation, stayer, tenant, faithful, guest];
  await Promise.all(all.map((name) => whenRaised(node, name)));

  const restoresBefore = await restoresFor(node, "OptedOut");
  await Promise.all([
    say(node, pathOf(byLabel), { kind: "labels", value: "false" }),
    say(node, pathOf(byAnnotation), { kind: "annotations", value: "false" }),
    say(node, `/api/v1/namespaces/${two.name}`, { kind: "labels", value: "false" }),
    say(node, `/api/v1/namespaces/${three.name}`, { kind: "annotations", value: "false" }),
  ]);
  const out = [byLabel, byAnnotation, tenant, guest];
  await Promise.all(out.map((name) => assertRestored(node, name)));
  await assertAlone(node, out);
  for (const name of [stayer, faithful]) assert.ok(await quotaOf(node, name) > OWN, name.name);
  await assertRestores(node, "OptedOut", { before: restoresBefore, count: out.length });
  await Promise.all(
    [byLabel, tenant].map((name) => assertReported(node, name, { outside: "OptedOut" })),
  );
  await assertUnreported(faithful, "OptedOut");

  await Promise.all([
    say(node, pathOf(byLabel), { kind: "labels", value: null }),
    say(node, `/api/v1/namespaces/${three.name}`, { kind: "annotations", value: null }),
  ]);
  await Promise.all([byLabel, guest].map((name) => whenRaised(node, name)));
});

Deno.test(
  "under OptIn only labelled namespaces take part; the others do again under OptOut",
  onNode(async (node, namespace) => {
    await using labelled = await scratchNamespace(node.connection, {
      labels: { ...LITTLE, [MANAGED]: "true" },
    });
    const before = await busyPod(node, namespace.pod("before"));
    await whenRaised(node, before);
    const restoresBefore = await restoresFor(node, "NotOptedIn");
    const silent = namespace.pod("silent");
    {
      await using _settings = await withLiveSettings({ market: { managementPolicy: "OptIn" } });
      await assertRestored(node, before);
      const [member] = await Promise.all([
        busyPod(node, labelled.pod("member")),
        busyPod(node, silent),
      ]);
      await whenRaised(node, member);
      await assertAlone(node, [before, silent]);
      assert.equal(await boundsOf(node, silent), undefined);
      assert.ok(await restoresFor(node, "NotOptedIn") > restoresBefore);
      await assertReported(node, before, { outside: "NotOptedIn" });
      await assertReported(node, silent, { outside: "NotOptedIn", restored: false });
    }
    await Promise.all([silent, before].map((one) => whenRaised(node, one)));
  }, { labels: LITTLE }),
);
