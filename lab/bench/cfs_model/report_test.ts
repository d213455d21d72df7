import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import type { LevelCounters } from "../../../tests/host/level_counters.ts";
import { type Cell, grid } from "./grid.ts";
import { cfsModelTable, compareCell, type LevelRates, median } from "./report.ts";
import { machineUsageMs, tickOf, timerInterrupts } from "./tick.ts";

const CELL: Cell = {
  quota: 500,
  threads: 2,
  levels: 1,
  busyMs: null,
  cycleMs: 100,
  warmUpMs: 200,
  wallMs: 1000,
};
const NONE: LevelCounters = { periods: 0, throttledPeriods: 0, throttledMs: 0, usageMs: 0 };

function rates(throttledMs: number, { pod = 0 } = {}): LevelRates {
  const counters = { periods: 10, throttledPeriods: 10, throttledMs, usageMs: 500 };
  return { container: counters, pod: { ...counters, throttledMs: pod } };
}

pure("compareCell() allows 5 % of the kernel's figure, or 1 % of threads and time", () => {
  const verdict = (kernel: number, model: number): boolean =>
    compareCell(CELL, { runs: [rates(kernel)], model: rates(model) }).passes;
  assert.deepEqual([verdict(1500, 1575), verdict(1500, 1425)], [true, true]);
  assert.deepEqual([verdict(1500, 1576), verdict(1500, 1424)], [false, false]);
  assert.deepEqual([verdict(100, 120), verdict(100, 121)], [true, false]);
  assert.deepEqual([verdict(0, 20), verdict(0, 21)], [true, false]);
});

pure("compareCell() takes the median of the repetitions", () => {
  const runs = [rates(0), rates(1500), rates(1490), rates(9000), rates(1510)];
  const { figures, passes } = compareCell(CELL, { runs, model: rates(1500) });
  assert.deepEqual(figures.throttledMs.kernel, [1500, 1500]);
  assert.ok(passes);
});

pure("compareCell() counts a pause once where the kernel may count it at two levels", () => {
  const cell: Cell = { ...CELL, levels: 2 };
  const runs = [rates(900, { pod: 1000 })];
  const verdict = (container: number, pod: number): boolean =>
    compareCell(cell, { runs, model: rates(container, { pod }) }).passes;
  assert.ok(verdict(1000, 0));
  assert.ok(verdict(500, 600));
  assert.ok(!verdict(900, 0));
  assert.ok(!verdict(1000, 1000));
});

pure("cfsModelTable() names the kernel, marks what differs and sums up", () => {
  const cells = [
    compareCell(CELL, { runs: [rates(1490)], model: rates(1500) }),
    compareCell({ ...CELL, busyMs: 7, cycleMs: 47 }, { runs: [rates(0)], model: rates(300) }),
  ];
  const text = cfsModelTable({
    kernel: "6.1.0-test",
    cgroups: 1,
    cpus: 2,
    tickMs: 4,
    repetitions: 5,
    repeated: 3,
    disturbed: 0,
    cells,
    passes: false,
  });
  assert.match(text, /^Kernel 6\.1\.0-test, cgroup v1, 2 CPUs, .* 4 ms/);
  assert.match(text, /500m +2 +1 +always .* 1490 \/ 1500 .* agrees/);
  assert.match(text, /7 of 47 ms .* 0 \/ 300! .* DIFFERS/);
  assert.match(text, /^1 of 2 cells agree/m);
});

pure("median() takes the middle", () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 2, 3]), 2.5);
  assert.throws(() => median([]), /no values/);
});

pure("grid() asks for no more threads than there are CPUs", () => {
  assert.ok(grid({ quick: false, cpus: 1 }).every(({ threads }) => threads === 1));
  const all = grid({ quick: false, cpus: 2 });
  assert.equal(new Set(all.map((cell) => JSON.stringify(cell))).size, all.length);
  assert.ok(grid({ quick: true, cpus: 2 }).length < all.length / 3);
});

pure("tickOf() finds the kernel's tick in what the CPUs' timers did", () => {
  const text = (counts: string): string =>
    `           CPU0       CPU1\n  1:         9          9   IO-APIC\nLOC: ${counts}   Local timer interrupts\n`;
  const before = timerInterrupts(text("1000 2000"));
  assert.deepEqual(before, [1000, 2000]);
  assert.equal(tickOf({ before, after: timerInterrupts(text("1140 2010")), ms: 520 }), 4);
  assert.equal(tickOf({ before, after: timerInterrupts(text("1540 2010")), ms: 520 }), 1);
  assert.throws(() => tickOf({ before, after: before, ms: 520 }), /0 interrupts/);
});

pure(
  "machineUsageMs() adds up all that CPUs do but wait",
  () => assert.equal(machineUsageMs("cpu  1 2 3 400 500 4 5 6 0 0\ncpu0 9 9"), 210),
);

pure("compareCell() finds nothing to say against nothing", () => {
  const idle = { pod: NONE, container: NONE };
  assert.ok(compareCell(CELL, { runs: [idle], model: idle }).passes);
});
