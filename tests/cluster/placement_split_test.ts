/**
 * How replicas are divided on a real cluster: as they are made, when their number or their share changes,
 * and with pods that are never touched.
 *
 * @module
 */
import assert from "node:assert/strict";
import { splitReplicas, type SplitSpec } from "../../shared/placement/split.ts";
import { createKubectl } from "./kubectl.ts";
import { PLACEMENT_TIMES } from "./scene/all_components.ts";
import {
  admissionProbe,
  countsOf,
  placedWorkload,
  type PlacedWorkloadOptions,
  placementBed,
  placementTest,
  type SeenReplica,
} from "./scene/placement_bed.ts";
import { eventsOf, eventTexts, whenReported } from "./scene/reported.ts";
import { metricsByPod } from "./scene/product.ts";
import { pause, testsAtOnce } from "./scene/until.ts";

const SCENE = "split";
const kubectl = createKubectl();

const bed = placementBed([
  { name: "split-spot-1", class: "spot", scene: SCENE },
  { name: "split-spot-2", class: "spot", scene: SCENE },
  { name: "split-steady-1", class: "on-demand", scene: SCENE },
  { name: "split-steady-2", class: "on-demand", scene: SCENE },
]);

/**
 * Pods of 100 that the webhook leaves as they are sent, as it has no answer in time where the machine
 * has more to do than it can. A quiet one has none.
 */
const LATE = 10;

/** A move takes a look, an eviction, a new pod and the cooldown; the machine may be slow. */
const MOVES = { timeoutMs: 60_000 } as const;

type Wanted = Omit<PlacedWorkloadOptions, "namespace" | "scene">;

function manifest(wanted: Wanted): Record<string, unknown> {
  return placedWorkload({ ...wanted, namespace: bed.namespace, scene: SCENE });
}

async function apply(wanted: Wanted): Promise<void> {
  await kubectl.must(["apply", "-f", "-"], manifest(wanted));
}

function split(replicas: number, spec: SplitSpec): ReturnType<typeof splitReplicas> {
  return splitReplicas(replicas, spec);
}

/** The moves, by events. */
function movesOf(name: string): Promise<readonly string[]> {
  return eventTexts(bed.node, { namespace: bed.namespace, name, reason: "PodRescheduled" });
}

function uids(replicas: readonly SeenReplica[]): string[] {
  return replicas.map(({ uid }) => uid).toSorted();
}

placementTest(
  "100 pods created at once through the leader's webhook at P = 70 are exactly 70 and 30",
  async () => {
    const asked = async (): Promise<readonly number[]> =>
      [...(await metricsByPod(bed.node, "mbcas-controller")).values()].map((series) =>
        series.get(
          'spotalis_webhook_requests_total{operation="CREATE",resource_kind="Pod",result="Placed"}',
        ) ?? 0
      );
    const before = await asked();
    const late = new Set<string>();
    const moments = bed.replicas.everyMoment("burst", (replicas) => {
      for (const { uid, label } of replicas) if (label === undefined) late.add(uid);
    });
    await apply({ name: "burst", replicas: 100, share: "70%" });
    const pods = await bed.replicas.whenDivided("burst", { spot: 70, "on-demand": 30 }, {
      timeoutMs: 60_000,
    });
    const after = await asked();
    // Both serve metrics, and one of them was asked.
    const grown = after.filter((count, index) => count > (before[index] ?? 0));
    assert.deepEqual([after.length, grown.length], [2, 1], `${before} ${after}`);
    assert.ok(moments.end() > 0);
    assert.ok(late.size <= LATE, `${late.size} pods were not placed`);
    for (const { class: one, label = one } of pods) assert.equal(label, one);
    const moves = await movesOf("burst");
    assert.ok(moves.length <= late.size, `${moves} of ${late.size}`);
    await kubectl.must(["delete", "deployment/burst", "-n", bed.namespace]);
  },
);

placementTest("scale 5 → 15 → 8 keeps floor and share at every step that is whole", async () => {
  const name = "scale";
  const spec = { spotPercentage: 60, minOnDemand: 2 };
  await apply({ name, replicas: 5, share: "60%", floor: 2 });
  await bed.replicas.whenDivided(name, { spot: 3, "on-demand": 2 });
  const seen = new Set<number>();
  const moments = bed.replicas.everyMoment(name, (replicas) => {
    if (![5, 15, 8].includes(replicas.length) || !replicas.every(({ ready }) => ready)) return;
    seen.add(replicas.length);
    assert.deepEqual(countsOf(replicas), split(replicas.length, spec));
  });
  const scale = (to: number): Promise<string> =>
    kubectl.must(["scale", `deployment/${name}`, "-n", bed.namespace, `--replicas=${to}`]);
  await scale(15);
  await bed.replicas.whenDivided(name, { spot: 9, "on-demand": 6 });
  await scale(8);
  await bed.replicas.whenDivided(name, { spot: 4, "on-demand": 4 });
  moments.end();
  assert.ok(seen.has(15) && seen.has(8), `${[...seen]}`);
  assert.deepEqual(await movesOf(name), [], "no pod had to move");
});

placementTest("manifests of Spotalis' users work as they are, and stay as they are", async () => {
  const workloads: readonly Wanted[] = [
    { name: "label-percent", replicas: 10, share: "60%", floor: 2 },
    { name: "label-bare", replicas: 10, share: "60", floor: 2 },
    { name: "annotated", replicas: 10, share: "60%", floor: 2, enabledBy: "annotation" },
    { name: "annotated-bare", replicas: 10, share: "60", floor: 2, enabledBy: "annotation" },
    { kind: "StatefulSet", name: "set", replicas: 10, share: "60", floor: 2 },
  ];
  await Promise.all(workloads.map(apply));
  for (const { name } of workloads) {
    await bed.replicas.whenDivided(name, { spot: 6, "on-demand": 4 }, MOVES);
  }
  const items = workloads.map(manifest);
  const diff = await kubectl.run(["diff", "-f", "-"], { apiVersion: "v1", kind: "List", items });
  assert.deepEqual(diff, { ok: true, stdout: "", stderr: "" });
});

// They wait for what does not happen, and are few pods: a burst could delay the webhook's answers.
testsAtOnce({
  "StatefulSet with minAvailable 2 → only safe evictions": async () => {
    const name = "ordered";
    const budget = `/apis/policy/v1/namespaces/${bed.namespace}/poddisruptionbudgets`;
    await bed.node.create(budget, {
      metadata: { name },
      spec: { minAvailable: 3, selector: { matchLabels: { app: name } } },
    });
    const workload = { kind: "StatefulSet", name, replicas: 3 } as const;
    await apply({ ...workload, share: "0%" });
    const before = await bed.replicas.whenDivided(name, { spot: 0, "on-demand": 3 });
    const moments = bed.replicas.everyMoment(name, (replicas) => {
      const ready = replicas.filter((one) => one.ready).length;
      assert.ok(ready >= 2, `${ready} of 3 are Ready`);
    });
    await apply({ ...workload, share: "100%", floor: 1 });
    const reason = "BlockedByPDB";
    await whenReported(bed.node, { namespace: bed.namespace, name, reason });
    await pause(5 * PLACEMENT_TIMES.cooldownMs);
    assert.deepEqual(uids(bed.replicas.of(name)), uids(before), "the budget allows none to go");

    await kubectl.must([
      ...["patch", `pdb/${name}`, "-n", bed.namespace],
      ...["-p", JSON.stringify({ spec: { minAvailable: 2 } })],
    ]);
    const after = await bed.replicas.whenDivided(name, { spot: 2, "on-demand": 1 }, MOVES);
    moments.end();
    assert.deepEqual(
      after.toSorted((a, b) => a.name.localeCompare(b.name)).map((one) => one.class),
      ["on-demand", "spot", "spot"],
      "the lowest ordinal is the floor",
    );
    const first = ({ name }: SeenReplica): boolean => name.endsWith("-0");
    assert.equal(after.find(first)?.uid, before.find(first)?.uid);
    const moves = await movesOf(name);
    assert.deepEqual(moves.map((text) => /pod (\S+)/.exec(text)?.[1]).toSorted(), [
      `${name}-1`,
      `${name}-2`,
    ]);
  },
  "annotations missing or invalid → untouched": async () => {
    // Only the controller knows time zones.
    const unreadable = {
      "spotalis.io/disruption-schedule": "CRON_TZ=Atlantis/Capital 0 2 * * *",
      "spotalis.io/disruption-duration": "2h",
    };
    const enabled = { "spotalis.io/enabled": "true" };
    const workloads: readonly Wanted[] = [
      { name: "plain", replicas: 3 },
      { name: "untuned", replicas: 3, annotations: enabled },
      { name: "unreadable", replicas: 3, share: "50%", annotations: unreadable },
    ];
    await Promise.all(workloads.map(apply));
    const when = async (name: string, count: number): Promise<readonly SeenReplica[]> =>
      await bed.replicas.whenReady(name, count);
    const before = await Promise.all(workloads.map(({ name }) => when(name, 3)));
    const place = { namespace: bed.namespace, name: "unreadable" };
    const reported = await whenReported(bed.node, { ...place, reason: "ConfigurationError" });
    assert.match(reported, /disruption-schedule/);
    const probe = await admissionProbe(bed, { scene: SCENE, annotations: unreadable });
    const tried = await kubectl.run(["create", "--dry-run=server", "-f", "-"], probe.pod);
    assert.ok(tried.ok, tried.stderr);
    assert.match(tried.stderr, /^Warning: .*disruption-schedule/m);
    const again = { name: "again", replicas: 3, share: "50%", annotations: unreadable };
    const written = await kubectl.run(["apply", "--dry-run=server", "-f", "-"], manifest(again));
    assert.ok(written.ok, written.stderr);
    assert.match(
      written.stderr,
      /^Warning: .*\bDeployment again\b/m,
    );
    assert.match(written.stderr, /^Warning: .*disruption-schedule/m);

    await pause(5 * PLACEMENT_TIMES.cooldownMs);
    for (const [index, { name }] of workloads.entries()) {
      const after = bed.replicas.of(name);
      assert.deepEqual(uids(after), uids(before[index] ?? []), name);
      for (const { label } of after) assert.equal(label, undefined);
      const reasons = (await eventsOf(bed.node, { ...place, name })).map(({ reason }) => reason);
      assert.ok(!reasons.includes("PodRescheduled"), name);
    }

    const wrong = manifest({ name: "wrong", replicas: 3, share: "170%" });
    const { ok, stderr } = await kubectl.run(["apply", "-f", "-"], wrong);
    assert.equal(ok, false);
    assert.match(stderr, /spotalis\.io\/spot-percentage .*"170%"/);
  },
});
