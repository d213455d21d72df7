import assert from "node:assert/strict";
import fc from "fast-check";
import { readShippedTrace } from "../../simulation/trace_files.ts";
import { checkpointData } from "./checkpoint_data.ts";
import { createContainerRings, slotsOf } from "./container_rings.ts";
import { type ContainerSlots, decodeSlots, encodeSlots } from "./usage_checkpoint.ts";

const WINDOW_MS = 86_400_000;
const NOW_MS = 1_800_000_000_000;
const SAMPLE_MS = 30_000;
const MOST_BYTES = 1_000_000;

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** A day of both resources, one sample every 30 s from one pod. */
function dayOf(usage: (index: number) => { cpu: number; memory: number }): ContainerSlots {
  const rings = createContainerRings({ windowMs: WINDOW_MS });
  for (let index = 0; index < WINDOW_MS / SAMPLE_MS; index++) {
    const atMs = NOW_MS - index * SAMPLE_MS;
    const { cpu, memory } = usage(index);
    rings.cpu.add({ atMs, value: cpu }, NOW_MS);
    rings.memory.add({ atMs, value: memory }, NOW_MS);
  }
  return slotsOf(rings);
}

function named(
  count: number,
  slots: (index: number) => ContainerSlots,
): Map<string, ContainerSlots> {
  return new Map(
    Array.from({ length: count }, (_, index) => [`Deployment.web-${index}.app`, slots(index)]),
  );
}

/** Noise over four decades, which fills every slot with as many buckets as it has samples. */
const WILD = dayOf((index) => ({
  cpu: 10 ** (index * 7919 % 997 / 250),
  memory: 2 ** 20 * 10 ** (index * 7919 % 991 / 250),
}));
const CALM = dayOf((index) => ({ cpu: 100 + index % 5, memory: 2 ** 28 }));

Deno.test("checkpointData() holds 500 containers with a recorded day each, unabridged", async () => {
  const days: ContainerSlots[] = [];
  for (const name of ["crane0", "crane1", "crane2", "crane3", "crane4", "crane5"]) {
    const { values } = await readShippedTrace(name);
    // A minute a value and in units of their own: scaled to a CPU at most, and 2 GiB.
    const day = values.subarray(0, 1440);
    const most = day.reduce((greatest, value) => Math.max(greatest, value), 0);
    days.push(dayOf((index) => {
      const share = (day[Math.floor(index / 2)] ?? 0) / most;
      return { cpu: 1000 * share, memory: 2 ** 30 * (1 + share) };
    }));
  }
  const { data, bytes, coarseness, leftOut } = checkpointData(
    named(500, (index) => days[index % days.length]!),
  );
  assert.deepEqual([coarseness, leftOut, Object.keys(data).length], [0, [], 500]);
  assert.ok(bytes <= MOST_BYTES);
  const counted = Object.entries(data).reduce(
    (sum, [key, text]) => sum + key.length + text.length,
    0,
  );
  assert.equal(bytes, counted);
});

pure("checkpointData() is as fine as lets all fit, and decodes to what was kept", () => {
  const one = named(1, () => WILD);
  const sizes = ([0, 1, 2] as const).map((coarseness) =>
    "Deployment.web-0.app".length + encodeSlots(WILD, { coarseness }).length
  );
  assert.deepEqual(sizes, sizes.toSorted((a, b) => b - a));
  for (const [coarseness, mostBytes] of sizes.entries()) {
    const found = checkpointData(one, { mostBytes });
    assert.deepEqual([found.coarseness, found.bytes, found.leftOut], [coarseness, mostBytes, []]);
    const text = found.data["Deployment.web-0.app"] ?? "";
    const count = decodeSlots(text).cpu.reduce((sum, slot) => sum + slot.count, 0);
    assert.equal(count, WINDOW_MS / SAMPLE_MS);
    const less = checkpointData(one, { mostBytes: mostBytes - 1 });
    assert.ok(less.coarseness > coarseness || less.leftOut.length === 1);
  }
});

pure("checkpointData() leaves out the longest where even the coarsest do not fit", () => {
  const mixed = named(6, (index) => index % 2 === 0 ? WILD : CALM);
  const calmBytes = 3 *
    ("Deployment.web-0.app".length + encodeSlots(CALM, { coarseness: 2 }).length);
  const found = checkpointData(mixed, { mostBytes: calmBytes });
  assert.deepEqual(Object.keys(found.data).toSorted(), [
    "Deployment.web-1.app",
    "Deployment.web-3.app",
    "Deployment.web-5.app",
  ]);
  assert.deepEqual(found.leftOut, [
    "Deployment.web-0.app",
    "Deployment.web-2.app",
    "Deployment.web-4.app",
  ]);
  assert.equal(found.bytes, calmBytes);
});

pure("checkpointData() never passes its size, and holds or names every container", () => {
  fc.assert(
    fc.property(fc.nat({ max: 8 }), fc.nat({ max: 12_000 }), (count, mostBytes) => {
      const all = named(count, (index) => index % 3 === 0 ? WILD : CALM);
      const { data, bytes, leftOut } = checkpointData(all, { mostBytes });
      assert.ok(bytes <= mostBytes);
      assert.deepEqual([...Object.keys(data), ...leftOut].toSorted(), [...all.keys()].toSorted());
    }),
  );
});
