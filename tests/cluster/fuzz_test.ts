/**
 * Odd annotations on pods and namespaces, and odd allocations, on a real server: nothing breaks, limits
 * stay where they belong, and users see it. `FUZZ_SEED` repeats a run.
 *
 * @module
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { allocationPath } from "../../adapters/kube/kinds/allocations.ts";
import { listOf, objectOf } from "../../adapters/kube/client/json_fields.ts";
import { readNode } from "../../adapters/kube/kinds/nodes.ts";
import { BURST_FACTOR } from "../../shared/api/market_keys.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import { parseCPU } from "../../shared/quantity.ts";
import {
  anyPlacedText,
  badValues,
  type PlacedText,
  textsAt,
} from "../fixtures/market/market_annotations.ts";
import { WRITTEN } from "../fixtures/market/written_allocations.ts";
import { appliedAllocation, SETTLED } from "./scene/pods/agreement.ts";
import { type LoadContainer, loadPod } from "./scene/pods/load_pod.ts";
import { enforcedLimits, podDirectories } from "./scene/pods/node_cgroups.ts";
import { watchPrograms } from "./scene/product/programs_alive.ts";
import { openRealNode, type RealNode } from "./scene/real_node.ts";
import { type ScratchNamespace, scratchNamespace } from "./scene/scratch_namespace.ts";
import { pause, until } from "./scene/until.ts";

/** Pods with odd annotations, and namespaces with some. */
const PODS = 40;
const NAMESPACES = 8;
/** Pods with allocations that are written over, and how often. */
const OVERWRITTEN = 6;
const ROUNDS = 8;
/** So many pods start one after another, on a machine that has other things to do. */
const STARTED = { timeoutMs: 300_000 };
/** What all annotations of an object may take together is 256 KiB; ours are not alone. */
const LONGEST_TEXT = 200_000;

const OWN = 20;
const IDLE: LoadContainer = { name: "load", request: "10m", limit: `${OWN}m` };

function seedOf(): number {
  const given = Deno.env.get("FUZZ_SEED");
  const seed = given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);
  console.log(`FUZZ_SEED=${seed}`);
  return seed;
}

/** What a server takes for a label's value; annotations take all text that is text. */
const LABEL = /^([A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?)?$/;

function isStorable({ place, text }: PlacedText): boolean {
  return place.endsWith("label") ? LABEL.test(text) : text.isWellFormed();
}

/** Values without effect in their place. */
function badValuesOf(places: readonly PlacedText["place"][], { seed, count }: {
  readonly seed: number;
  readonly count: number;
}): PlacedText[] {
  const fitting = anyPlacedText.filter((value) =>
    places.includes(value.place) && isStorable(value) && badValues([value]).length === 1 &&
    new TextEncoder().encode(value.text).length < LONGEST_TEXT
  );
  return fc.sample(fitting, { seed, numRuns: count });
}

/** Writes the value on the pod or the namespace. */
async function writeValue(
  { connection }: RealNode,
  path: string,
  value: PlacedText,
): Promise<void> {
  const texts = textsAt([value], value.place);
  const metadata = value.place.endsWith("label") ? { labels: texts } : { annotations: texts };
  await connection.request({
    method: "PATCH",
    path,
    contentType: "application/merge-patch+json",
    body: { metadata },
  });
}

/** The notes of warnings on the pod, or that came about by it on what it shares. */
async function warningsOf({ connection }: RealNode, pod: Pod): Promise<readonly string[]> {
  const { namespace, uid } = pod.metadata;
  const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
  const query = { fieldSelector: "reason=AnnotationIgnored" };
  const list = objectOf(await connection.request({ path, query }));
  return listOf(list["items"]).map(objectOf).filter(({ regarding, related }) =>
    [regarding, related].some((one) => objectOf(one)["uid"] === uid)
  ).map(({ note }) => String(note));
}

/** Waits for the pod's one warning, and fails unless it names the key and value. */
async function assertReported(node: RealNode, pod: Pod, { key, text }: PlacedText): Promise<void> {
  const warnings = await until(`warning on ${pod.metadata.name}`, async () => {
    const found = await warningsOf(node, pod);
    return found.length > 0 ? found : undefined;
  }, SETTLED);
  assert.equal(warnings.length, 1);
  const begin = /^[\w.,% -]{0,20}/.exec(text)?.[0] ?? "";
  assert.ok(warnings[0]?.includes(`${key}: "${begin}`), `${key}: ${warnings[0]}`);
  assert.match(warnings[0] ?? "", /^[^\p{C}]{1,1024}$/u);
}

/** The pod's bounds, without what differs from pod to pod. */
async function boundsOf(node: RealNode, { metadata }: Pod): Promise<unknown> {
  const { status } = await node.allocation(metadata.namespace, metadata.uid) ?? {};
  const { rules, containers } = status?.bounds ?? {};
  return { rules, containers: containers?.map((one) => ({ ...one, containerID: "" })) };
}

/** Fails unless the market still raises a pod that needs more. */
async function assertServed(node: RealNode, namespace: ScratchNamespace): Promise<void> {
  const name = { namespace: namespace.name, name: "witness" };
  const containers = [{ name: "load", request: "50m", limit: "100m", burstSeconds: 60 }];
  const pod = await node.run(loadPod({ ...name, containers }), STARTED);
  await appliedAllocation(node, pod);
  await node.signal(name, "load");
  const directories = podDirectories(pod);
  await until(
    "raise of the witness",
    () => (enforcedLimits(directories).containers.get("load") ?? 0) > 150 || undefined,
    SETTLED,
  );
}

Deno.test("odd annotations on pods and namespaces change no limit, and each is reported once", async () => {
  const seed = seedOf();
  using node = await openRealNode();
  const assertAlive = await watchPrograms(node);
  await using namespace = await scratchNamespace(node.connection, {
    // Floors are ceilings then: a limit that moves has been moved by an annotation.
    labels: { [BURST_FACTOR]: "1" },
  });
  const run = (name: string, place = namespace): Promise<Pod> =>
    node.run(loadPod({ name, namespace: place.name, containers: [IDLE] }), STARTED);
  const plain = await run("plain");
  const pods = await Promise.all(Array.from({ length: PODS }, (_, index) => run(`odd-${index}`)));
  for (const pod of [plain, ...pods]) await appliedAllocation(node, pod);
  const usual = await boundsOf(node, plain);

  const values = badValuesOf(["pod label", "pod annotation"], { seed, count: PODS });
  await Promise.all(
    pods.map((pod, index) =>
      writeValue(
        node,
        `/api/v1/namespaces/${namespace.name}/pods/${pod.metadata.name}`,
        values[index]!,
      )
    ),
  );
  for (const [index, pod] of pods.entries()) {
    await assertReported(node, pod, values[index]!);
    assert.deepEqual(await boundsOf(node, pod), usual);
    const now = await node.pod(pod.metadata);
    assert.deepEqual(now?.containers[0]?.limits.cpu, OWN);
    assert.equal(enforcedLimits(podDirectories(pod)).containers.get("load"), OWN);
  }
  assert.deepEqual(await warningsOf(node, plain), []);

  // The same on namespaces, where a plain one reports what the bounds are.
  await using other = await scratchNamespace(node.connection);
  const free = await run("free", other);
  await appliedAllocation(node, free);
  const theirs = badValuesOf(["namespace", "namespace label"], { seed, count: NAMESPACES });
  await Promise.all(theirs.map(async (value) => {
    await using odd = await scratchNamespace(node.connection);
    await writeValue(node, `/api/v1/namespaces/${odd.name}`, value);
    const pod = await run("tenant", odd);
    await appliedAllocation(node, pod);
    await assertReported(node, pod, value);
    assert.deepEqual(await boundsOf(node, pod), await boundsOf(node, free));
  }));
  await assertServed(node, other);
  await assertAlive();
});

/** The spec as a patch that could be the agent's: stale clearings are held for that alone. */
function plausible(spec: object, observedBounds: number): object {
  const { market, ...rest } = spec as Readonly<Record<string, unknown>>;
  return {
    ...rest,
    // It must be the sum of the containers', or not there.
    ...("containers" in rest ? { desiredCPULimit: null } : {}),
    market: { ...objectOf(market), observedBounds },
  };
}

/** Writes over the halves of the pod's allocation; the number of writes that the server took. */
async function overwrite(
  node: RealNode,
  { metadata: { namespace, uid: name } }: Pod,
  written: object,
): Promise<number> {
  const { connection } = node;
  const { status } = await node.allocation(namespace, name) ?? {};
  const revision = status?.bounds?.revision ?? 0;
  const path = allocationPath({ namespace, name });
  let taken = 0;
  for (const [member, value] of Object.entries(written)) {
    try {
      await connection.request({
        method: "PATCH",
        path: member === "status" ? `${path}/status` : path,
        contentType: "application/merge-patch+json",
        body: { [member]: member === "spec" ? plausible(value, revision) : value ?? null },
      });
      taken++;
    } catch (error) {
      // The schema's message; or there is no allocation any more, or again.
      if (!(error instanceof ApiError) || ![400, 404, 422].includes(error.status)) throw error;
    }
  }
  return taken;
}

/** An allocation without an owner, or one that claims another's pod. */
function orphan(name: string, { metadata: { namespace }, nodeName }: Pod): object {
  return {
    apiVersion: "allocation.mbcas.io/v1alpha1",
    kind: "PodAllocation",
    metadata: { name, namespace },
    spec: {
      podName: name,
      podUID: `${name}-uid`,
      nodeName,
      namespace,
      containers: [{ name: "app", cpuLimit: "999" }],
    },
  };
}

Deno.test("allocations that another client overwrites leave limits within bounds", async (test) => {
  const seed = seedOf();
  using node = await openRealNode();
  const assertAlive = await watchPrograms(node);
  await using namespace = await scratchNamespace(node.connection);
  const container = { request: "10m", limit: "50m" };
  const containers = [{ ...container, name: "app" }, { ...container, name: "proxy" }];
  const pods = await Promise.all(
    Array.from(
      { length: OVERWRITTEN },
      (_, index) =>
        node.run(
          loadPod({ name: `over-${index}`, namespace: namespace.name, containers }),
          STARTED,
        ),
    ),
  );
  for (const pod of pods) await appliedAllocation(node, pod);
  const all = fc.sample(WRITTEN, { seed, numRuns: OVERWRITTEN * ROUNDS });

  /** Fails unless each limit lies within these, m. */
  const assertWithin = async (least: number, most: number): Promise<void> => {
    for (const { metadata } of pods) {
      for (
        const { name, limits: { cpu: limitCPU = 0 } } of (await node.pod(metadata))?.containers ??
          []
      ) {
        assert.ok(limitCPU >= least && limitCPU <= most, `${metadata.name}/${name} ${limitCPU}m`);
      }
    }
  };

  const statusOf = async ({ metadata }: Pod): Promise<PodAllocation["status"]> =>
    (await node.allocation(metadata.namespace, metadata.uid))?.status;
  const own = [{ name: "app", cpu: "50m" }, { name: "proxy", cpu: "50m" }];

  /** Waits until each limit of the pod that has bounds lies within them. */
  const untilBounded = (pod: Pod): Promise<true> =>
    until(`limits of ${pod.metadata.name} within their bounds`, async () => {
      const { bounds } = await statusOf(pod) ?? {};
      const { containers = [] } = await node.pod(pod.metadata) ?? {};
      return containers.every(({ name, limits: { cpu: limitCPU = 0 } }) => {
        const bound = bounds?.containers.find((one) => one.name === name);
        return bound === undefined || (limitCPU >= bound.floor && limitCPU <= bound.ceiling);
      }) || undefined;
    }, SETTLED);

  await test.step("what the agent writes is written by another client", async () => {
    let taken = 0;
    for (let round = 0; round < ROUNDS; round++) {
      for (const [index, pod] of pods.entries()) {
        const { spec } = all[round * OVERWRITTEN + index] as { readonly spec?: object };
        if (spec !== undefined) taken += await overwrite(node, pod, { spec });
      }
      for (let look = 0; look < 10; look++) {
        // The floor is the original limit, the ceiling market.leastCeiling.
        await assertWithin(50, 500);
        await pause(200);
      }
      for (const pod of pods) {
        await untilBounded(pod);
        assert.deepEqual((await statusOf(pod))?.originalLimits, own);
      }
    }
    assert.ok(taken > ROUNDS, `the server took ${taken}`);
    for (const pod of pods) {
      await until(`an agent's write on ${pod.metadata.name}`, async () => {
        const { spec } = await node.allocation(pod.metadata.namespace, pod.metadata.uid) ?? {};
        const limits = spec?.containers?.map(({ cpuLimit }) => parseCPU(cpuLimit)) ?? [];
        return limits.length === 2 && limits.every((one) => one >= 50 && one <= 500) || undefined;
      }, SETTLED);
    }
  });

  await test.step("bounds and records are written by another client, and orphans are there", async () => {
    const [first] = pods;
    assert.ok(first !== undefined);
    const { allocatableCPU } = await readNode(node.connection, first.nodeName);
    for (const name of ["00-orphan", "zz-orphan"]) {
      await node.create(
        allocationPath({ namespace: namespace.name, name }).replace(/\/[^/]+$/, ""),
        orphan(name, first),
      );
    }
    let taken = 0;
    for (let round = 0; round < ROUNDS; round++) {
      for (const [index, pod] of pods.entries()) {
        taken += await overwrite(node, pod, all[round * OVERWRITTEN + index] ?? {});
      }
      const records = await Promise.all(pods.map(statusOf));
      for (let look = 0; look < 10; look++) {
        // What the original limit is says the record: what bounds it then is request and node.
        await assertWithin(10, 0.9 * allocatableCPU);
        await pause(200);
      }
      for (const [index, pod] of pods.entries()) {
        await untilBounded(pod);
        // The record stays as the hand has left it, or reports the pod's original limits again.
        for (const entry of (await statusOf(pod))?.originalLimits ?? []) {
          const said = [...records[index]?.originalLimits ?? [], ...own]
            .filter(({ name }) => name === entry.name);
          assert.ok(said.some(({ cpu }) => cpu === entry.cpu), JSON.stringify([entry, said]));
        }
      }
    }
    assert.ok(taken > ROUNDS, `the server took ${taken}`);
  });
  await using other = await scratchNamespace(node.connection);
  await assertServed(node, other);
  await assertAlive();
});
