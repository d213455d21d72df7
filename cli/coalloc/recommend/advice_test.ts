import fc from "fast-check";
import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { NO_RESOURCES } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import type { WorkloadTemplate } from "../../../shared/api/workload.ts";
import { parseBytes, parseCPU } from "../../../shared/quantity.ts";
import { leastSafeMemory } from "../../../shared/rightsizing/guards/memory_decrease.ts";
import type { WorkloadRecord } from "../../../shared/rightsizing/workload_record.ts";
import type { AdvisedContainer, AdvisedWorkload } from "../../../shared/view/advice_view.ts";
import { type AdviceInput, adviseAll } from "../../../shared/view/advise.ts";
import { changesOf, changesText, sumOfChanges } from "../../../shared/view/changes.ts";
import { sampleAllocation } from "../../../tests/contract/support/sample_objects.ts";
import {
  reportsOf,
  shopPods,
  shopRecords,
  shopTemplates,
  template,
} from "../../../tests/fixtures/cli/advised_shop.ts";
import { pure, pureYAML } from "../../../tests/fixtures/pure.ts";
import { workloadRecords } from "../../../tests/fixtures/rightsizing/workload_records.ts";
import { mergeableAmounts, patchText } from "./patch_text.ts";
import { changeCell, inForceText } from "./recommend_detail.ts";

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

pure("adviseAll() shows each container of the reports once, and a workload of two reports", () => {
  const inForce = [{ container: "old", cpu: 1 }, { container: "app", cpu: 1 }];
  const usage = WEB.usage?.map((one) => ({ ...one, container: "seen" })) ?? [];
  const reports = reportsOf([{ ...WEB, inForce, usage }]);
  const workloads = advised([], { reports: [...reports, ...reports] });
  const names = workloads.map(({ containers }) => containers.map(({ name }) => name).toSorted());
  assert.deepEqual(names, [["app", "old", "proxy", "seen"]]);
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
  const rows = [
    ["yellow", 200],
    ["green", 400],
    ["dim", 300],
    ["yellow", undefined],
    ["yellow", 200, 300],
    ["green", 300, 400],
    [undefined, 200, 400],
  ] as const;
  for (const [tone, ...amounts] of rows) {
    assert.equal(cell("cpu", ...amounts).tone, tone, amounts.join());
  }
  // A limit that is not set is above all others.
  assert.deepEqual(cell("cpuLimit", undefined), { text: "none → 500m", tone: "green" });
  assert.deepEqual(cell("cpuLimit", 200), { text: "200m → 500m", tone: "yellow" });
});

pure("changeCell() reports what is not set, not known, and left alone", () => {
  const template = { cpu: 100, cpuLimit: 200 };
  const recommended = { cpu: 300, memory: 1 };
  const pods = [{ count: 2, cpu: 150 }, { count: 1, cpu: 120 }];
  const rows = [
    ["- → 300m", { recommended }],
    ["100m → 300m", { recommended, template }],
    ["100m → -", { template }],
    ["200m", { template, recommended }, "cpuLimit"],
    ["120m..150m → -", { template, pods }],
    ["none..120m..150m → -", { pods: [...pods, { count: 1 }] }],
  ] as const;
  for (const [text, change, name = "cpu"] of rows) {
    assert.equal(changeCell(container(change), name).text, text);
  }
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

pure("sumOfChanges() stays a number that can be counted", () => {
  const most = Number.MAX_SAFE_INTEGER;
  const huge = { cpu: { grows: most, shrinks: 0 }, memory: { grows: 0, shrinks: most } };
  assert.deepEqual(sumOfChanges([huge, huge]), huge);
  const pods = [{ count: 9, memory: most }];
  const counts = { pods: 9, replicas: 9 };
  assert.deepEqual(changesOf({ recommended: { cpu: most, memory: 0 }, pods }, counts), huge);
});

function peakOf(max: number): NonNullable<AdvisedContainer["usage"]> {
  return { memory: { samples: 1, min: 0, p50: 0, p90: 0, p95: 0, p99: 0, max } };
}

pure("mergeableAmounts() cuts a request only at a limit that stays", () => {
  const recommended = { cpu: 300, memory: 64 * MEBI };
  const template = { cpuLimit: 200, memoryLimit: 128 * MEBI };
  const pods = [{ count: 1, cpuLimit: 250 }];
  const cpuOf = (change: Partial<AdvisedContainer>) =>
    mergeableAmounts(container({ recommended, ...change })).values.cpu;
  assert.deepEqual(
    [cpuOf({ template }), cpuOf({ pods }), cpuOf({ pods, template })],
    [200, 250, 200],
  );
  const moved = { ...recommended, cpuLimit: 400 };
  const both = mergeableAmounts(container({ recommended: moved, template }));
  assert.deepEqual(both, { values: moved, notes: [] });
});

pure("mergeableAmounts() takes a memory limit where there was none for a decrease", () => {
  const recommended = { cpu: 1, memory: 64 * MEBI, memoryLimit: 70 * MEBI };
  const template = { memory: 64 * MEBI };
  const of = (change: Partial<AdvisedContainer>) =>
    mergeableAmounts(container({ recommended, template, ...change })).values;
  const safe = { ...recommended, memoryLimit: leastSafeMemory(65 * MEBI) };
  assert.deepEqual(of({ usage: peakOf(65 * MEBI) }), safe, "its request may stay");
  assert.deepEqual(of({ usage: peakOf(60 * MEBI) }), recommended);
  assert.deepEqual(of({ template: { ...template, memoryLimit: 70 * MEBI } }), recommended);
});

pure("mergeableAmounts() never lowers memory below the largest sample + 15 %", () => {
  const bytes = fc.nat(1000);
  // As a server takes them: no request above its limit.
  const present = fc.record({ memory: bytes, memoryLimit: bytes }, { requiredKeys: [] })
    .filter(({ memory = 0, memoryLimit = Infinity }) => memory <= memoryLimit);
  const wanted = fc.record({ cpu: bytes, memory: bytes, memoryLimit: bytes }, {
    requiredKeys: ["cpu", "memory"],
  });
  const peak = fc.option(bytes, { nil: undefined });
  fc.assert(fc.property(wanted, present, peak, (recommended, template, max) => {
    const usage = max === undefined ? {} : { usage: peakOf(max) };
    const { values } = mergeableAmounts(container({ recommended, template, ...usage }));
    const { memory, memoryLimit } = values;
    const least = (max ?? Infinity) * 1.15;
    // A request that is cut at the limit that stays is no choice of ours: the server insists.
    const isCut = memory !== undefined && memory < recommended.memory;
    if (memory !== undefined && !isCut && memory < (template.memory ?? 0)) {
      assert.ok(memory >= least);
    }
    if (memoryLimit !== undefined && memoryLimit < (template.memoryLimit ?? Infinity)) {
      assert.ok(memoryLimit >= least);
    }
    assert.equal(values.cpu, recommended.cpu);
    // A raised value is never throttled.
    const raised = recommended.memory >= (template.memory ?? 0) &&
      (recommended.memoryLimit ?? Infinity) >= (template.memoryLimit ?? Infinity);
    if (raised) assert.ok(memory !== undefined);
  }));
});

/** The patches' text, and each container's amounts by workload, as a reader of YAML has them. */
function patched(records: readonly WorkloadRecord[], templates?: readonly WorkloadTemplate[]) {
  const input = { templates, pods: shopPods(), allocations: [] };
  const workloads = adviseAll({ reports: reportsOf(records), ...input });
  const changes = sumOfChanges(workloads.map((one) => one.changes));
  const text = patchText({ workloads, changes, notes: ["a note"] });
  const documents = parseAllDocuments(text);
  assert.deepEqual(documents.flatMap(({ errors }) => errors), []);
  const read = documents.map((document) => {
    const { kind, metadata: { namespace, name }, spec } = document.toJS();
    const { containers = [], initContainers = [] } = spec.template.spec;
    const amounts = [...containers, ...initContainers].map(({ name, resources }) => ({
      container: name,
      ...amountsOf(["cpu", "memory"], resources.requests),
      ...amountsOf(["cpuLimit", "memoryLimit"], resources.limits),
    }));
    return [`${kind} ${namespace}/${name}`, amounts] as const;
  });
  return { text, read: new Map(read) };
}

function amountsOf(
  [cpuName, memoryName]: readonly [string, string],
  { cpu, memory }: { readonly cpu?: string; readonly memory?: string } = {},
) {
  return {
    ...(cpu === undefined ? {} : { [cpuName]: parseCPU(cpu) }),
    ...(memory === undefined ? {} : { [memoryName]: parseBytes(memory) }),
  };
}

pureYAML("patchText() is read again as what was recommended, each container once", () => {
  fc.assert(fc.property(workloadRecords("shop", { mostWorkloads: 8 }), (drawn) => {
    // Nothing is lowered and nothing cut: other tests have that.
    const records = drawn.map((record) => ({
      ...record,
      recommendations: record.recommendations.map(({ cpuLimit, memoryLimit, ...one }) => ({
        ...one,
        ...(cpuLimit === undefined ? {} : { cpuLimit: Math.max(one.cpu, cpuLimit) }),
        ...(memoryLimit === undefined ? {} : { memoryLimit: Math.max(one.memory, memoryLimit) }),
      })),
    }));
    const bare = { sidecar: false, requests: {} };
    const templates = records.map(({ workload: { kind, name }, recommendations }) =>
      template(
        `${kind}/${name}`,
        1,
        recommendations.map(({ container, memoryLimit }) => (
          { name: container, ...bare, limits: memoryLimit === undefined ? {} : { memory: 0 } }
        )),
      )
    );
    const wanted = records.filter(({ recommendations }) => recommendations.length > 0)
      .map(({ workload: { kind, name }, recommendations }) =>
        [
          `${kind} shop/${name}`,
          recommendations.map(({ explanation: _explanation, ...one }) => one),
        ] as const
      );
    assert.deepEqual(patched(records, templates).read, new Map(wanted));
  }));
});

pureYAML("patchText() makes no container of one that the template no longer has", () => {
  const { text, read } = patched(shopRecords(), [
    template("Deployment/web", 1, [{ name: "app", sidecar: false, ...NO_RESOURCES }]),
    template("StatefulSet/db", 1, []),
  ]);
  assert.deepEqual([...read.keys()], ["Deployment shop/web"]);
  assert.match(text, /^# proxy of deployment\/web: .*template/m);
});

pureYAML("patchText() lowers memory no nearer to the usage than is safe, in any mode", () => {
  const [usage] = WEB.usage ?? [];
  assert.ok(usage?.memory !== undefined);
  const own = { name: "app", sidecar: false, requests: { memory: 128 * MEBI }, limits: {} };
  const memoryAt = (max: number, change: Partial<WorkloadRecord> = {}): unknown => {
    const record = { ...WEB, usage: [{ ...usage, memory: { ...usage.memory!, max } }], ...change };
    return [...patched([record], [template("Deployment/web", 1, [own])]).read.values()][0]?.[0];
  };
  // 88617123 / 1.15 = 77058367.8.
  assert.partialDeepStrictEqual(memoryAt(77_058_367), { cpu: 336, memory: 88_617_123 });
  assert.partialDeepStrictEqual(memoryAt(77_058_368), { memory: 88_617_124 });
  // The workload's reason may be of another container.
  const reason = "UnsafeMemoryDecrease";
  assert.partialDeepStrictEqual(memoryAt(1, { reason }), { memory: 88_617_123 });
});

pureYAML("patchText() lets no text out of comments, and is one where nothing is to patch", () => {
  const explanation = "x\n---\nkind: Secret\r\u2028apiVersion: v1";
  const recommendations = [{ container: "app", cpu: 1, memory: 1, explanation }];
  const { read } = patched([{ ...WEB, recommendations }]);
  assert.deepEqual([...read.keys()], ["Deployment shop/web"]);
  const none = patched([]);
  assert.equal(none.read.size, 0);
  assert.match(none.text, /^# No recommendations here\.$/m);
});
