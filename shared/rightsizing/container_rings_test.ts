import assert from "node:assert/strict";
import { createContainerRings, restoredRings, slotsOf } from "./container_rings.ts";
import { encodeSlots } from "./usage_checkpoint.ts";

const WINDOW_MS = 86_400_000;
const NOW_MS = 1_800_000_000_000;
const WINDOW = { nowMs: NOW_MS, windowMs: WINDOW_MS } as const;

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** The checkpoint of samples taken so long before now, each a hundred times that much. */
function checkpoint(backs: readonly number[]): string {
  const rings = createContainerRings({ windowMs: WINDOW_MS });
  for (const back of backs) {
    const sample = { atMs: NOW_MS - 1000 * back, value: 100 * back };
    rings.cpu.add(sample, NOW_MS);
    rings.memory.add(sample, NOW_MS);
  }
  return encodeSlots(slotsOf(rings));
}

pure("restoredRings() goes on with what was kept, in whatever shape it now keeps it", () => {
  const text = checkpoint([1, 2, 3, 40_000]);
  for (const shape of [{ windowMs: WINDOW_MS }, { windowMs: 7 * WINDOW_MS, slots: 32 }]) {
    const { rings, fault } = restoredRings(text, { shape, nowMs: NOW_MS });
    assert.equal(fault, undefined);
    assert.equal(rings.cpu.windowMs, shape.windowMs);
    for (const resource of ["cpu", "memory"] as const) {
      const { count, max, oldestMs } = rings[resource].distribution({ ...shape, nowMs: NOW_MS });
      assert.deepEqual([count, max, oldestMs], [4, 4_000_000, NOW_MS - 40_000_000]);
    }
  }
});

pure("restoredRings() leaves out what has left the window since", () => {
  const shape = { windowMs: WINDOW_MS };
  const at = (nowMs: number) => restoredRings(checkpoint([0]), { shape, nowMs }).rings;
  assert.equal(at(NOW_MS + WINDOW_MS - 1).cpu.contents().length, 1);
  assert.deepEqual(at(NOW_MS + WINDOW_MS).cpu.contents(), []);
});

pure(
  "restoredRings() begins anew where the text is damaged or of another version, and says so",
  () => {
    const text = checkpoint([1, 2]);
    for (const wrong of [`${text.slice(0, -1)}*`, text.replace("1:", "2:"), ""]) {
      const { rings, fault } = restoredRings(wrong, {
        shape: { windowMs: WINDOW_MS },
        nowMs: NOW_MS,
      });
      assert.match(fault ?? "", / usage checkpoint: /);
      assert.equal(rings.cpu.distribution(WINDOW).count, 0);
      assert.equal(rings.cpu.add({ atMs: NOW_MS, value: 7 }, NOW_MS), undefined);
      assert.equal(rings.cpu.distribution(WINDOW).count, 1);
    }
  },
);
