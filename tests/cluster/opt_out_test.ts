/**
 * The switches that take a pod in or out: on pod or namespace, as label or annotation, at once and with
 * the original limits back; and their precedence.
 *
 * @module
 */
import { patchRequest } from "../../adapters/kube/client/connection.ts";
import assert from "node:assert/strict";
import { assertReported, assertRestores, assertUnreported } from "./scene/reported.ts";
import { boundsOf, quotaOf, SETTLED, thePod, whenQuota, whenUnallocated } from "./scene/limits.ts";
import { type LoadContainer, loadPod } from "./scene/load_pod.ts";
import { restoresFor, withLiveSettings } from "./scene/product.ts";
import {
  onNode,
  openRealNode,
  type PodName,
  type RealNode,
  scratchNamespace,
} from "./scene/real_node.ts";
import { sharedPeriod, testsAtOnce } from "./scene/tests_at_once.ts";
import { pause, until } from "./scene/until.ts";

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
  { kind, value, key = MANAGED }: {
    readonly kind: Kind;
    readonly value: string | null;
    readonly key?: string;
  },
): Promise<void> {
  await connection.request(
    patchRequest("merge", { path, body: { metadata: { [kind]: { [key]: value } } } }),
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

Deno.test("a pod or namespace opts out by label or annotation at once, the pod's value over the namespace's, and comes back", async () => {
  using node = await openRealNode();
  const marks = { labels: LITTLE };
  await using one = await scratchNamespace(node.connection, marks);
  await using two = await scratchNamespace(node.connection, marks);
  await using three = await scratchNamespace(node.connection, marks);
  const [byLabel, byAnnotation, stayer, tenant, faithful, guest] = await Promise.all([
    busyPod(node, { namespace: one.name, name: "by-label" }),
    busyPod(node, { namespace: one.name, name: "by-annotation" }),
    busyPod(node, { namespace: one.name, name: "stayer" }),
    busyPod(node, { namespace: two.name, name: "tenant" }),
    busyPod(node, { namespace: two.name, name: "faithful" }, { labels: { [MANAGED]: "true" } }),
    busyPod(node, { namespace: three.name, name: "guest" }),
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
  await assertUnreported(node, faithful, "OptedOut");

  await Promise.all([
    say(node, pathOf(byLabel), { kind: "labels", value: null }),
    say(node, `/api/v1/namespaces/${three.name}`, { kind: "annotations", value: null }),
  ]);
  await Promise.all([byLabel, guest].map((name) => whenRaised(node, name)));
});

/** For both of these tests. */
const underOptIn = sharedPeriod(
  2,
  () => withLiveSettings({ market: { managementPolicy: "OptIn" } }),
);

testsAtOnce({
  "under OptIn only labelled namespaces take part, and pods by their own value where an administrator allows it":
    async () => {
      using node = await openRealNode();
      await using _settings = await underOptIn.join();
      const labels = (more: Record<string, string>) => ({ labels: { ...LITTLE, ...more } });
      const optIn = { labels: { [MANAGED]: "true" } };
      await using plain = await scratchNamespace(node.connection, labels({}));
      await using labelled = await scratchNamespace(node.connection, labels({ [MANAGED]: "true" }));
      await using allowing = await scratchNamespace(
        node.connection,
        labels({ "mbcas.io/allow-overrides": "true" }),
      );
      const [silent, pushing, member, volunteer, quiet] = await Promise.all([
        busyPod(node, { namespace: plain.name, name: "silent" }),
        busyPod(node, { namespace: plain.name, name: "pushing" }, optIn),
        busyPod(node, { namespace: labelled.name, name: "member" }),
        busyPod(node, { namespace: allowing.name, name: "volunteer" }, optIn),
        busyPod(node, { namespace: allowing.name, name: "quiet" }),
      ]);
      await Promise.all([member, volunteer].map((name) => whenRaised(node, name)));
      await assertAlone(node, [silent, pushing, quiet]);
      assert.equal(await boundsOf(node, pushing), undefined);
      // The administrator's value counts at once, too.
      await say(node, `/api/v1/namespaces/${plain.name}`, {
        kind: "labels",
        key: "mbcas.io/allow-overrides",
        value: "true",
      });
      await whenRaised(node, pushing);
      assert.equal(await quotaOf(node, silent), OWN);
    },
  "pods of namespaces that never opted in are taken again when the policy is OptOut": onNode(
    async (node, namespace) => {
      const name = { namespace: namespace.name, name: "silent" };
      const before = await busyPod(node, { namespace: namespace.name, name: "member" });
      await whenRaised(node, before);
      const restoresBefore = await restoresFor(node, "NotOptedIn");
      {
        await using _settings = await underOptIn.join();
        await Promise.all([busyPod(node, name), assertRestored(node, before)]);
        await assertAlone(node, [name, before]);
        assert.equal(await boundsOf(node, name), undefined);
        assert.ok(await restoresFor(node, "NotOptedIn") > restoresBefore);
        await assertReported(node, before, { outside: "NotOptedIn" });
        await assertReported(node, name, { outside: "NotOptedIn", restored: false });
      }
      await until("bounds", async () => await boundsOf(node, name), SETTLED);
      await Promise.all([name, before].map((one) => whenRaised(node, one)));
    },
    { labels: LITTLE },
  ),
});
