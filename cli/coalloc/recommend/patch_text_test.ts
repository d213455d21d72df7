import assert from "node:assert/strict";
import fc from "fast-check";
import { parseAllDocuments } from "yaml";
import type { WorkloadTemplate } from "../../../shared/api/workload.ts";
import { NO_RESOURCES } from "../../../shared/api/pod.ts";
import { parseBytes, parseCPU } from "../../../shared/quantity.ts";
import { leastSafeMemory } from "../../../shared/rightsizing/guards/memory_decrease.ts";
import type { WorkloadRecord } from "../../../shared/rightsizing/workload_record.ts";
import {
  reportsOf,
  shopPods,
  shopRecords,
  template,
} from "../../../tests/fixtures/cli/advised_shop.ts";
import { pure, pureYAML } from "../../../tests/fixtures/pure.ts";
import { workloadRecords } from "../../../tests/fixtures/rightsizing/workload_records.ts";
import type { AdvisedContainer } from "../../../shared/view/advice_view.ts";
import { adviseAll } from "../../../shared/view/advise.ts";
import { sumOfChanges } from "../../../shared/view/changes.ts";
import { mergeableAmounts, patchText } from "./patch_text.ts";
import { usagePlot } from "./recommend_detail.ts";

const MEBI = 2 ** 20;
const [WEB, DB] = shopRecords();
assert.ok(WEB !== undefined && DB !== undefined);

function container(change: Partial<AdvisedContainer>): AdvisedContainer {
  return { name: "app", sidecar: false, pods: [], ...change };
}

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
  assert.match(text, /^# proxy of deployment\/web: left out: .*template/m);
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

const USAGE = { samples: 9, min: 20, p50: 50, p90: 60, p95: 61, p99: 62, max: 80 };
const same = (value: number) => ({
  ...{ samples: 1, min: value, p50: value, p90: value, p95: value, p99: value, max: value },
});

pure("usagePlot() shows where the samples lie, and the recommended request among them", () => {
  for (
    const [usage, options, plot] of [
      [USAGE, { recommended: 100, width: 10 }, "··███▓───│"],
      [USAGE, { recommended: 30, width: 16 }, "····██│███▓▓────"],
      [USAGE, { width: 16 }, "····██████▓▓────"],
      [{ ...USAGE, p95: 70, p99: 75 }, { width: 16 }, "····██████▓▓▒▒░─"],
      [same(0), { width: 5 }, "█····"],
      [same(0), { recommended: 50, width: 5 }, "█···│"],
      [same(40), { recommended: 48, width: 6 }, "·····│"],
      [same(40), { width: 5 }, "····█"],
    ] as const
  ) assert.equal(usagePlot(usage, options), plot);
});

pure("usagePlot() is as wide as asked, in the order of the figures, with one request", () => {
  const value = fc.nat(10_000);
  const figures = fc.tuple(value, value, value, value, value, value).map((all) => {
    const [min = 0, p50 = 0, p90 = 0, p95 = 0, p99 = 0, max = 0] = all.toSorted((a, b) => a - b);
    return { samples: 9, min, p50, p90, p95, p99, max };
  });
  const widths = fc.integer({ min: 1, max: 100 });
  fc.assert(fc.property(figures, value, widths, (usage, recommended, width) => {
    const plot = usagePlot(usage, { recommended, width });
    assert.equal(plot.length, width);
    assert.equal(plot.split("│").length, 2, plot);
    assert.match(plot.replace("│", ""), /^·*█*▓*▒*░*─*·*$/);
    const bare = usagePlot(usage, { width });
    assert.doesNotMatch(bare, /│/);
    assert.match(bare, /[█▓▒░─]/);
  }));
});
