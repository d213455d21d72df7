import assert from "node:assert/strict";
import fc from "fast-check";
import { NO_RESOURCES } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import type { WorkloadTemplate } from "../../../shared/api/workload.ts";
import type {
  ContainerAmounts,
  WorkloadRecord,
} from "../../../shared/rightsizing/workload_record.ts";
import { sampleAllocation } from "../../../tests/contract/support/sample_objects.ts";
import {
  reportsOf,
  shopPods,
  shopRecords,
  shopTemplates,
  template,
} from "../../../tests/fixtures/cli/advised_shop.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { workloadRecords } from "../../../tests/fixtures/rightsizing/workload_records.ts";
import type {
  AdviceView,
  AdvisedContainer,
  AdvisedWorkload,
} from "../../../shared/view/advice_view.ts";
import { type AdviceInput, adviseAll } from "../../../shared/view/advise.ts";
import { changeCell, inForceText } from "./recommend_detail.ts";
import { changesOf, changesText, sumOfChanges } from "../../../shared/view/changes.ts";
import { recommendTable } from "./recommend_table.ts";

const MEBI = 2 ** 20;
const [WEB, DB] = shopRecords();
assert.ok(WEB !== undefined && DB !== undefined);

/** The workloads of these records, with what else is known. */
function advised(
  records: readonly WorkloadRecord[],
  input: Partial<AdviceInput> = {},
): readonly AdvisedWorkload[] {
  const reports = reportsOf(records);
  return adviseAll({ reports, templates: undefined, pods: undefined, allocations: [], ...input });
}

function viewOf(workloads: readonly AdvisedWorkload[]): AdviceView {
  const changes = sumOfChanges(workloads.map((one) => one.changes));
  return { workloads, changes, notes: ["a note"] };
}

/** Names of all containers that a record reports, once each. */
function containersOf({ recommendations, inForce, usage = [] }: WorkloadRecord): string[] {
  const named = [...recommendations, ...inForce, ...usage].map(({ container }) => container);
  return [...new Set(named)].sort();
}

pure("adviseAll() shows each container of the reports once, as recommendTable() does", () => {
  const drawn = workloadRecords("shop", { mostContainers: 128, mostWorkloads: 8 });
  fc.assert(fc.property(drawn, fc.boolean(), (records, knowsPods) => {
    const reports = reportsOf(records).toReversed();
    const workloads = advised([], { reports, pods: knowsPods ? shopPods() : undefined });
    const found = workloads.map(({ kind, name, containers }) => [
      `${kind}/${name}`,
      containers.map((one) => one.name).toSorted(),
    ]);
    const wanted = records.map((record) => [
      `${record.workload.kind}/${record.workload.name}`,
      containersOf(record),
    ]);
    assert.deepEqual(found, wanted.toSorted());
    if (records.length === 0) return;
    const rows = recommendTable(viewOf(workloads), { nowMs: 0 }).split("\n")
      .filter((line) => line.startsWith("shop ")).map((line) => line.split(/ {3,}/));
    const expected = records.flatMap((record) => {
      const { kind, name } = record.workload;
      const names = containersOf(record);
      const shown = names.length > 0 ? names : ["-"];
      return shown.map((container) => `${kind.toLowerCase()}/${name} ${container}`);
    });
    const shown = rows.map(([, workload, container]) => `${workload} ${container}`);
    assert.deepEqual(shown.toSorted(), expected.toSorted());
  }));
});

pure("adviseAll() begins with the template's containers, recommendations or not", () => {
  const bare = { sidecar: false, ...NO_RESOURCES };
  const templates = [
    template("Deployment/web", 1, [{ name: "new", ...bare }, { name: "proxy", ...bare }]),
  ];
  const [web] = advised([WEB], { templates });
  assert.deepEqual(
    web?.containers.map(({ name, template, recommended }) => [name, !!template, !!recommended]),
    [["new", true, false], ["proxy", true, true], ["app", false, true]],
  );
});

pure("adviseAll() shows a workload once that two reports have", () => {
  const reports = reportsOf([WEB]);
  assert.deepEqual(advised([], { reports: [...reports, ...reports] }), advised([], { reports }));
});

pure("adviseAll() takes own requests of a Guaranteed pod in the market for what it has", () => {
  const [pod] = shopPods();
  assert.ok(pod !== undefined);
  const cpuOf = (status: PodAllocation["status"]): number | undefined => {
    const allocations = [{ ...sampleAllocation(pod), status }];
    const [web] = advised([WEB], { pods: [pod], allocations });
    return web?.containers.find(({ name }) => name === "app")?.pods[0]?.cpu;
  };
  assert.equal(cpuOf(undefined), 500);
  assert.equal(cpuOf({ originalRequests: [{ name: "app", cpu: "125m" }] }), 125);
  assert.equal(cpuOf({ originalRequests: [{ name: "other", cpu: "125m" }] }), 500);
});

pure("adviseAll() reports what is gone from what it can't know", () => {
  const exists = (templates: readonly WorkloadTemplate[] | undefined) =>
    advised(shopRecords(), { templates }).map((one) => one.exists);
  assert.deepEqual(exists(undefined), [undefined, undefined, undefined]);
  assert.deepEqual(exists(shopTemplates().slice(1)), [true, false, true]);
  const without = advised(shopRecords(), { templates: shopTemplates() });
  assert.deepEqual(without.map(({ pods }) => pods), [undefined, undefined, undefined]);
  // Template × replicas: 3 × (500 − 336).
  assert.equal(without[1]?.changes.cpu.shrinks, 492);
});

pure("adviseAll() leaves out pods that have ended, are ending, or belong to another owner", () => {
  const count = (pods: ReturnType<typeof shopPods>) =>
    advised(shopRecords(), { pods }).map((one) => one.pods);
  assert.deepEqual(count(shopPods()), [1, 3, 2]);
  const [first, second, third, ...others] = shopPods();
  assert.ok(first !== undefined && second !== undefined && third !== undefined);
  const ended = { ...first, phase: "Failed" as const };
  const ending = { ...second, metadata: { ...second.metadata, terminating: true } };
  const elsewhere = { ...third, metadata: { ...third.metadata, namespace: "far" } };
  assert.deepEqual(count([ended, ending, elsewhere, ...others]), [1, 0, 2]);
});

function container(change: Partial<AdvisedContainer>): AdvisedContainer {
  return { name: "app", sidecar: false, pods: [], ...change };
}

const RECOMMENDED = { cpu: 300, memory: 64 * MEBI, cpuLimit: 500 };

pure("changeCell() sets raises apart from what shrinks, and from what stays", () => {
  const cell = (name: "cpu" | "cpuLimit", ...amounts: (number | undefined)[]) => {
    const pods = amounts.map((
      amount,
    ) => (amount === undefined ? { count: 1 } : { count: 1, [name]: amount }));
    return changeCell(container({ recommended: RECOMMENDED, pods }), name);
  };
  for (
    const [tone, ...amounts] of [
      ["yellow", 200],
      ["green", 400],
      ["dim", 300],
      ["yellow", undefined],
      ["yellow", 200, 300],
      ["green", 300, 400],
      [undefined, 200, 400],
    ] as const
  ) assert.equal(cell("cpu", ...amounts).tone, tone, amounts.join());
  // A limit that is not set is above all others.
  assert.deepEqual(cell("cpuLimit", undefined), { text: "none → 500m", tone: "green" });
  assert.deepEqual(cell("cpuLimit", 200), { text: "200m → 500m", tone: "yellow" });
});

pure("changeCell() reports what is not set, not known, and left alone", () => {
  const template = { cpu: 100, cpuLimit: 200 };
  const recommended = { cpu: 300, memory: 1 };
  const pods = [{ count: 2, cpu: 150 }, { count: 1, cpu: 120 }];
  for (
    const [text, change, name = "cpu"] of [
      ["- → 300m", { recommended }],
      ["100m → 300m", { recommended, template }],
      ["100m → -", { template }],
      ["200m", { template, recommended }, "cpuLimit"],
      ["120m..150m → -", { template, pods }],
      ["none..120m..150m → -", { pods: [...pods, { count: 1 }] }],
    ] as const
  ) assert.equal(changeCell(container(change), name).text, text);
  assert.equal(inForceText(container({ inForce: { memory: 84.5 * MEBI } }), "memory"), "84.5Mi");
  assert.equal(inForceText(container({}), "cpu"), "-");
  const memory = { grows: 0, shrinks: 1.5 * 1024 * MEBI };
  const text = changesText({ cpu: { grows: 1290, shrinks: 328 }, memory });
  assert.match(text, /CPU .* 0\.33 .* 1\.29 cores, memory .* 1\.5Gi .* 0$/);
});

const NONE = { grows: 0, shrinks: 0 };

pure("changesOf() takes the template × replicas where pods can't be read, and else nothing", () => {
  const [recommended, template] = [{ cpu: 300, memory: 50 }, { cpu: 500, memory: 50 }];
  const of = (change: Partial<AdvisedContainer>, pods?: number, replicas?: number) =>
    changesOf(container(change), { pods, replicas });
  const saved = { cpu: { grows: 0, shrinks: 800 }, memory: NONE };
  assert.deepEqual(of({ recommended, template }, undefined, 4), saved);
  assert.equal(of({ recommended }, undefined, 4), undefined);
  assert.equal(of({ recommended, template }), undefined);
  assert.equal(of({ template }, undefined, 4), undefined);
  // A workload that is scaled to zero saves nothing.
  assert.deepEqual(of({ recommended, template }, 0, 4), { cpu: NONE, memory: NONE });
});

const amount = fc.nat(1_000_000);
const amounts: fc.Arbitrary<ContainerAmounts> = fc.record(
  { cpu: amount, memory: amount, cpuLimit: amount, memoryLimit: amount },
  { requiredKeys: [] },
);

pure("changesOf() is what all pods would request less what they request at present", () => {
  const pods = fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), amounts), { maxLength: 5 });
  fc.assert(fc.property(fc.record({ cpu: amount, memory: amount }), pods, (recommended, drawn) => {
    const groups = drawn.map(([count, one]) => ({ count, ...one }));
    const pods = groups.reduce((sum, { count }) => sum + count, 0);
    const changes = changesOf({ recommended, pods: groups }, { pods, replicas: undefined });
    assert.ok(changes !== undefined);
    for (const resource of ["cpu", "memory"] as const) {
      const each = groups.map((one) => one.count * (recommended[resource] - (one[resource] ?? 0)));
      const grows = each.reduce((sum, one) => sum + Math.max(0, one), 0);
      const shrinks = each.reduce((sum, one) => sum + Math.max(0, -one), 0);
      assert.deepEqual(changes[resource], { grows, shrinks });
    }
    assert.deepEqual(sumOfChanges([changes, undefined]), changes);
  }));
});

pure("sumOfChanges() stays a number that can be counted", () => {
  const most = Number.MAX_SAFE_INTEGER;
  const huge = { cpu: { grows: most, shrinks: 0 }, memory: { grows: 0, shrinks: most } };
  assert.deepEqual(sumOfChanges([huge, huge]), huge);
  const pods = [{ count: 9, memory: most }];
  const counts = { pods: 9, replicas: 9 };
  assert.deepEqual(changesOf({ recommended: { cpu: most, memory: 0 }, pods }, counts), huge);
});
