/**
 * Changes that the platform refuses or puts off. Each kind of bound of a LimitRange beside the same pod
 * without one: a pod that is older than a LimitRange can be such that the server refuses all of its
 * resizes, or writes its defaults into other containers with each: then none is tried. All these pods
 * are on the node at once.
 *
 * @module
 */
import { patchRequest } from "../../adapters/kube/client/connection.ts";
import assert from "node:assert/strict";
import { parsePod } from "../../adapters/kube/kinds/pods.ts";
import { createPodResizer } from "../../adapters/kube/writers/pod_writers.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { Pod } from "../../shared/api/pod.ts";
import { refusalReason } from "../../shared/resize/refusal.ts";
import { boundBy, boundsOf, quotaOf, SETTLED, takeIn, thePod, whenQuota } from "./scene/limits.ts";
import { eventTexts } from "./scene/reported.ts";
import { type LoadContainer, loadPod } from "./scene/load_pod.ts";
import {
  openRealNode,
  type PodName,
  type RealNode,
  type ScratchNamespace,
  scratchNamespace,
} from "./scene/real_node.ts";
import { pause, until } from "./scene/until.ts";

/** Original limit of container `load` of each pod, and what it may have where no LimitRange is. */
const OWN = 40;
const MOST = 120;
/** Without a LimitRange it comes to more than this, on a machine that has other work too. */
const RAISED = 80;
const LOAD: LoadContainer = { name: "load", request: "20m", limit: `${OWN}m`, busy: true };
/** A second container, which is idle. */
const SIDE: LoadContainer = { name: "side", request: "10m", limit: "20m" };
/** Its request is already more than the LimitRange that comes later allows as a limit. */
const LARGE: LoadContainer = { name: "side", request: "160m", limit: "170m" };
const LARGE_INIT: LoadContainer = { name: "prepare", request: "10m", limit: "300m" };
/** From it the API makes a default limit and request of 150 m, too. */
const MAX = { type: "Container", max: { cpu: "150m" } };

/** A pod under one LimitRange. */
interface Row {
  /** As in `spec.limits` of a LimitRange; absent: there is none. */
  readonly item?: Readonly<Record<string, unknown>>;
  readonly side?: LoadContainer;
  readonly init?: LoadContainer;
}

/** It is there before the pod, and allows `load` 60 m. */
const CAP = 60;
const CAPS: Readonly<Record<string, Row>> = {
  "max": { item: { type: "Container", max: { cpu: "60m" } } },
  "pod-ratio": { item: { type: "Pod", maxLimitRequestRatio: { cpu: "3" } }, side: SIDE },
};

/** Less than the original limit of the pod `max`, and no less than its request. */
const TIGHTER = 30;

/** It comes later than the pod, which lies outside of it whatever the limit of `load` is. */
const REFUSALS: Readonly<Record<string, Row & { readonly problem: string }>> = {
  "min": {
    item: { type: "Container", min: { cpu: "30m" } },
    problem: "the LimitRange asks for 30m, it would be 20m",
  },
  "sibling": {
    item: MAX,
    side: LARGE,
    problem: "the LimitRange allows a limit of 150m, the request is 160m already",
  },
  "pod-init": {
    item: { type: "Pod", max: { cpu: "150m" } },
    init: LARGE_INIT,
    problem: "the LimitRange allows a limit of 150m, it would be 300m",
  },
};

/**
 * It comes later than the pod, and the server would take a resize, and write into `subject` as well.
 */
const DEFAULTS: Readonly<Record<string, Row & { readonly subject: string }>> = {
  "bare": { item: MAX, side: { name: "side" }, subject: "container side" },
};

const LATE = { ...REFUSALS, ...DEFAULTS };
const ROWS: Readonly<Record<string, Row>> = { free: { side: SIDE }, ...CAPS, ...LATE };
/** Outside of the market until all is there. */
const MARKS = {
  labels: { "mbcas.io/managed": "false", "mbcas.io/burst-factor": `${MOST / OWN}` },
};

const namespaces = new Map<string, ScratchNamespace>();

function podOf(row: string): PodName {
  return { namespace: namespaces.get(row)?.name ?? assert.fail(row), name: "capped" };
}

function rangesOf(row: string): string {
  return `/api/v1/namespaces/${podOf(row).namespace}/limitranges`;
}

function addRange(node: RealNode, row: string): Promise<unknown> {
  const limits = [ROWS[row]?.item];
  return node.create(rangesOf(row), { metadata: { name: "range" }, spec: { limits } });
}

Deno.test.beforeAll(async () => {
  using node = await openRealNode();
  await Promise.all(
    Object.entries(ROWS).map(async ([row, { side, init, item }]) => {
      namespaces.set(row, await scratchNamespace(node.connection, MARKS));
      if (row in CAPS) await addRange(node, row);
      const containers = side === undefined ? [LOAD] : [LOAD, side];
      const inits = init === undefined ? [] : [init];
      await node.run(loadPod({ ...podOf(row), containers, inits }), { timeoutMs: 120_000 });
      if (item !== undefined && !(row in CAPS)) await addRange(node, row);
    }),
  );
  for (const { name } of namespaces.values()) await takeIn(node, name);
});

Deno.test.afterAll(async () => {
  await Promise.all(Array.from(namespaces.values(), (one) => one[Symbol.asyncDispose]()));
});

/** The server's answer to a limit of `load` that is set by hand, and that it must refuse. */
async function refusalOf(node: RealNode, row: string): Promise<string> {
  const { namespace, name } = podOf(row);
  const { uid } = (await thePod(node, podOf(row))).metadata;
  const containers = [{ name: "load", resources: { limits: { cpu: `${MOST}m` } } }];
  try {
    await createPodResizer(node.connection)
      .resize(namespace, name, { metadata: { uid }, spec: { containers } });
  } catch (error) {
    if (error instanceof ApiError) return `${error.status} ${refusalReason(error)}`;
    throw error;
  }
  return "accepted";
}

async function assertNothingRefused(node: RealNode, row: string): Promise<void> {
  const texts = await eventTexts(node, { ...podOf(row), reason: "CPULimitFailed" });
  assert.deepEqual(texts, [], row);
}

/** Samples the pods of these rows while their twin is raised. */
async function assertLeftAlone(node: RealNode, rows: readonly string[]): Promise<void> {
  // By now the twin is where they would be.
  await whenQuota(node, podOf("free"), (quota) => quota >= RAISED, SETTLED);
  for (let i = 0; i < 12; i++) {
    for (const row of rows) {
      assert.equal(await quotaOf(node, podOf(row)), OWN, row);
      assert.equal((await thePod(node, podOf(row))).metadata.generation, 1, row);
    }
    await pause(250);
  }
}

/** Deletes the LimitRange. */
async function assertRaisedWithout(node: RealNode, row: string): Promise<void> {
  await node.remove(`${rangesOf(row)}/range`);
  await whenQuota(node, podOf(row), (quota) => quota > OWN, SETTLED);
}

Deno.test("max and ratio of pods and of containers in a LimitRange cap the raises, and a tightened one holds the limit, without a refused write", async () => {
  using node = await openRealNode();
  const rows = Object.keys(CAPS);
  const bounds = await Promise.all(rows.map((row) => boundBy(node, podOf(row), "LimitRange")));
  assert.deepEqual(bounds.map(({ ceiling }) => ceiling), rows.map(() => CAP));
  await Promise.all([
    whenQuota(node, podOf("free"), (quota) => quota >= RAISED, SETTLED),
    ...rows.map((row) => whenQuota(node, podOf(row), (quota) => quota === CAP, SETTLED)),
  ]);
  const { reason, containers } = await boundsOf(node, podOf("free")) ?? assert.fail();
  assert.ok(!reason.includes("LimitRange"));
  assert.equal(containers.find(({ name }) => name === "load")?.ceiling, MOST);
  for (let i = 0; i < 8; i++) {
    for (const row of rows) assert.ok(await quotaOf(node, podOf(row)) <= CAP, row);
    await pause(250);
  }
  const body = { spec: { limits: [{ type: "Container", max: { cpu: `${TIGHTER}m` } }] } };
  const path = `${rangesOf("max")}/range`;
  await node.merge(path, body);
  await whenQuota(node, podOf("max"), (quota) => quota <= TIGHTER, SETTLED);
  for (const row of rows) {
    await assertNothingRefused(node, row);
    assert.equal(await refusalOf(node, row), "403 LimitRange", row);
  }
});

Deno.test("a pod that is older than a LimitRange which it can't meet is left as it is (LimitRange), and raised without it", async () => {
  using node = await openRealNode();
  const rows = Object.entries(REFUSALS);
  for (const [row, { problem }] of rows) {
    const { metadata } = await thePod(node, podOf(row));
    await until(`hold of ${row}`, async () => {
      const { status } = await node.allocation(metadata.namespace, metadata.uid) ?? {};
      assert.equal(status?.reason, "LimitRange");
      // Its beginning names pod, resource and container, as in resize_check_sentences_test.ts.
      assert.ok(status?.message?.endsWith(`: ${problem}`), status?.message);
      return true;
    }, SETTLED);
    assert.equal(metadata.generation, 1, "the pod is unchanged");
  }
  await assertLeftAlone(node, rows.map(([row]) => row));
  await Promise.all(rows.map(async ([row]) => {
    await assertNothingRefused(node, row);
    assert.equal(await refusalOf(node, row), "403 LimitRange", row);
    await assertRaisedWithout(node, row);
  }));
});

/** Limits of all other containers of the pod, by name. */
function otherLimits({ containers, initContainers }: Pod): readonly (number | undefined)[] {
  return [...containers, ...initContainers].filter(({ name }) => name !== "load")
    .map(({ limits: { cpu: limitCPU } }) => limitCPU);
}

/** The pod as a resize of `load` would make it. */
async function resizedDry(node: RealNode, row: string): Promise<Pod> {
  const { namespace, name } = podOf(row);
  const containers = [{ name: "load", resources: { limits: { cpu: `${MOST}m` } } }];
  return parsePod(
    await node.connection.request(
      patchRequest("strategic", {
        path: `/api/v1/namespaces/${namespace}/pods/${name}/resize`,
        query: { dryRun: "All" },
        body: { spec: { containers } },
      }),
    ),
  );
}

Deno.test("a pod that a resize would write a LimitRange's defaults into is left as it is (LimitRange), and raised without it", async () => {
  using node = await openRealNode();
  const rows = Object.entries(DEFAULTS);
  for (const [row, { subject }] of rows) {
    const { metadata } = await thePod(node, podOf(row));
    await until(`hold of ${row}`, async () => {
      const { status } = await node.allocation(metadata.namespace, metadata.uid) ?? {};
      assert.equal(status?.reason, "LimitRange");
      assert.ok(status.message?.includes(` into ${subject} (limits.cpu, requests.cpu), and`));
      return true;
    }, SETTLED);
  }
  await assertLeftAlone(node, rows.map(([row]) => row));
  await Promise.all(rows.map(async ([row]) => {
    await assertNothingRefused(node, row);
    assert.deepEqual(otherLimits(await resizedDry(node, row)), [150], `${row}: why it is held`);
    await assertRaisedWithout(node, row);
    assert.deepEqual(otherLimits(await thePod(node, podOf(row))), [undefined], row);
  }));
});
