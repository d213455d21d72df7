import assert from "node:assert/strict";
import fc from "fast-check";
import { leastSafeMemory } from "../../../shared/rightsizing/guards/memory_decrease.ts";
import type { AdvisedContainer, ContainerAmounts } from "./advice_view.ts";
import { mergeableAmounts } from "./mergeable_amounts.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const MEBI = 2 ** 20;

function container(change: Partial<AdvisedContainer>): AdvisedContainer {
  return { name: "app", sidecar: false, pods: [], ...change };
}

function peakOf(max: number): NonNullable<AdvisedContainer["usage"]> {
  return { memory: { samples: 1, min: 0, p50: 0, p90: 0, p95: 0, p99: 0, max } };
}

pure("mergeableAmounts() cuts a request only at a limit that stays", () => {
  const recommended = { cpu: 300, memory: 64 * MEBI };
  const template = { cpuLimit: 200, memoryLimit: 128 * MEBI };
  const stays = mergeableAmounts(container({ recommended, template }));
  assert.deepEqual(stays.values, { cpu: 200, memory: 64 * MEBI });
  assert.equal(stays.notes.length, 1);
  assert.match(stays.notes[0] ?? "", /^cpu .*limit, 200m/);
  const moved = { ...recommended, cpuLimit: 400 };
  assert.deepEqual(mergeableAmounts(container({ recommended: moved, template })), {
    values: moved,
    notes: [],
  });
  const pods = [{ count: 1, cpuLimit: 250 }];
  assert.equal(mergeableAmounts(container({ recommended, pods })).values.cpu, 250);
  assert.equal(mergeableAmounts(container({ recommended, pods, template })).values.cpu, 200);
});

pure("mergeableAmounts() takes a memory limit where there was none for a decrease", () => {
  const recommended = { cpu: 1, memory: 64 * MEBI, memoryLimit: 70 * MEBI };
  const template = { memory: 64 * MEBI };
  const of = (max: number): ContainerAmounts =>
    mergeableAmounts(container({ recommended, template, usage: peakOf(max) })).values;
  const safe = { ...recommended, memoryLimit: leastSafeMemory(65 * MEBI) };
  assert.deepEqual(of(65 * MEBI), safe, "its request may stay");
  assert.deepEqual(of(60 * MEBI), recommended);
  const limited = { ...template, memoryLimit: 70 * MEBI };
  assert.deepEqual(
    mergeableAmounts(container({ recommended, template: limited })).values,
    recommended,
  );
});

pure("mergeableAmounts() never lowers memory below the largest sample + 15 %", () => {
  const bytes = fc.nat(1000);
  // As a server takes them: no request above its limit.
  const amounts = fc.record({ memory: bytes, memoryLimit: bytes }, { requiredKeys: [] })
    .filter(({ memory = 0, memoryLimit = Infinity }) => memory <= memoryLimit);
  fc.assert(
    fc.property(
      fc.record({ cpu: bytes, memory: bytes, memoryLimit: bytes }, {
        requiredKeys: ["cpu", "memory"],
      }),
      fc.tuple(amounts, fc.option(bytes, { nil: undefined })),
      (recommended, [template, max]) => {
        const usage = max === undefined ? {} : { usage: peakOf(max) };
        const { values } = mergeableAmounts(container({ recommended, template, ...usage }));
        const least = (max ?? Infinity) * 1.15;
        const { memory, memoryLimit } = values;
        // A request that is cut at the limit that stays is no choice of ours: the server insists.
        const isCut = memory !== undefined && memory < recommended.memory;
        if (memory !== undefined && !isCut && memory < (template.memory ?? 0)) {
          assert.ok(memory >= least);
        }
        if (memoryLimit !== undefined && memoryLimit < (template.memoryLimit ?? Infinity)) {
          assert.ok(memoryLimit >= least);
        }
        assert.equal(values.cpu, recommended.cpu);
        // What is raised is never throttled.
        const raised = recommended.memory >= (template.memory ?? 0) &&
          (recommended.memoryLimit ?? Infinity) >= (template.memoryLimit ?? Infinity);
        if (raised) assert.ok(memory !== undefined);
      },
    ),
  );
});
