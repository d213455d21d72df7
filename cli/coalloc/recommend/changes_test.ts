import assert from "node:assert/strict";
import fc from "fast-check";
import type { Change, ContainerAmounts } from "./advice_view.ts";
import { changesOf, sumOfChanges } from "./changes.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const amount = fc.nat(1_000_000);
const amounts: fc.Arbitrary<ContainerAmounts> = fc.record(
  { cpu: amount, memory: amount, cpuLimit: amount, memoryLimit: amount },
  { requiredKeys: [] },
);

pure("changesOf() counts each pod by what it has, and what grows apart from what shrinks", () => {
  const recommended = { cpu: 300, memory: 50 };
  const pods = [{ count: 2, cpu: 500, memory: 10 }, { count: 1, cpu: 200 }];
  assert.deepEqual(changesOf({ recommended, pods }, { pods: 3, replicas: 9 }), {
    cpu: { grows: 100, shrinks: 400 },
    memory: { grows: 2 * 40 + 50, shrinks: 0 },
  });
});

pure("changesOf() takes the template × replicas where pods can't be read, and else nothing", () => {
  const [recommended, template] = [{ cpu: 300, memory: 50 }, { cpu: 500, memory: 50 }];
  const unread = { pods: undefined, replicas: 4 };
  assert.deepEqual(changesOf({ recommended, template, pods: [] }, unread), {
    cpu: { grows: 0, shrinks: 800 },
    memory: { grows: 0, shrinks: 0 },
  });
  assert.equal(changesOf({ recommended, pods: [] }, unread), undefined);
  assert.equal(
    changesOf({ recommended, template, pods: [] }, { pods: undefined, replicas: undefined }),
    undefined,
  );
  assert.equal(changesOf({ template, pods: [] }, unread), undefined);
  // A workload that is scaled to zero saves nothing.
  assert.deepEqual(changesOf({ recommended, template, pods: [] }, { pods: 0, replicas: 4 }), {
    cpu: { grows: 0, shrinks: 0 },
    memory: { grows: 0, shrinks: 0 },
  });
});

pure("changesOf() is what all pods would request less what they request at present", () => {
  const pods = fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), amounts), { maxLength: 5 });
  fc.assert(
    fc.property(fc.record({ cpu: amount, memory: amount }), pods, (recommended, drawn) => {
      const groups = drawn.map(([count, one]) => ({ count, ...one }));
      const pods = groups.reduce((sum, { count }) => sum + count, 0);
      const changes = changesOf({ recommended, pods: groups }, { pods, replicas: undefined });
      assert.ok(changes !== undefined);
      for (const resource of ["cpu", "memory"] as const) {
        const now = groups.reduce((sum, one) => sum + one.count * (one[resource] ?? 0), 0);
        const { grows, shrinks }: Change = changes[resource];
        assert.equal(grows - shrinks, recommended[resource] * pods - now);
        assert.ok(grows >= 0 && shrinks >= 0);
      }
      assert.deepEqual(sumOfChanges([changes, undefined]), changes);
    }),
  );
});

pure("sumOfChanges() stays a number that can be counted", () => {
  const most = Number.MAX_SAFE_INTEGER;
  const huge = { cpu: { grows: most, shrinks: 0 }, memory: { grows: 0, shrinks: most } };
  assert.deepEqual(sumOfChanges([huge, huge]), huge);
  const pods = [{ count: 9, memory: most }];
  assert.deepEqual(
    changesOf({ recommended: { cpu: most, memory: 0 }, pods }, {
      pods: 9,
      replicas: 9,
    }),
    huge,
  );
});
