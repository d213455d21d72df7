import fc from "fast-check";
import assert from "node:assert/strict";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { type Interval, intervalBetween, type Reading } from "./sample.ts";
import {
  type ContainerInterval,
  type LevelMemory,
  NO_LEVEL_MEMORY,
  throttledTime,
} from "./throttled_time.ts";
import { createUsageWindow } from "./usage_window.ts";

const interval = (growth: Partial<Interval> = {}): Interval => ({
  ...{ at: 1000, intervalMs: 250, usageMs: 50, periods: 3, throttledPeriods: 2, throttledMs: 0 },
  ...growth,
});

/** One pod of one container, both levels the same in every interval; the last loss. */
function steady(containerMs: number, podMs: number, { cores = 2, threads = 99 } = {}): number {
  let memory: LevelMemory = NO_LEVEL_MEMORY;
  let lost = NaN;
  let roomMs = 0;
  for (let round = 0; round < 40; round++) {
    const result = throttledTime(memory, {
      pod: interval({ throttledMs: podMs }),
      containers: [{ interval: interval({ throttledMs: containerMs }), threads, roomMs }],
      cores,
    });
    memory = result.memory;
    ({ throttledMs: lost, roomMs } = result.containers[0] ?? { throttledMs: NaN, roomMs: NaN });
  }
  return lost;
}

pure("throttledTime() adds levels that count apart, and takes the larger of equal ones", () => {
  // Pauses that differ by less than 5 % are the same, once there is more than a period to compare.
  const rows = [[60, 130, 190], [150, 0, 150], [0, 150, 150], [150, 153, 153], [153, 150, 153]];
  for (const [container = 0, pod = 0, lost] of [...rows, [150, 165, 315]]) {
    assert.equal(steady(container, pod), lost);
  }
});

pure("throttledTime() knows the same pauses although they are counted in turn", () => {
  // Two pauses of 80 ms an interval, but every other time a third or only one falls into it.
  let memory: LevelMemory = NO_LEVEL_MEMORY;
  let lost = 0;
  for (let round = 0; round < 40; round++) {
    const result = throttledTime(memory, {
      pod: interval({ throttledMs: round % 2 === 0 ? 240 : 80 }),
      containers: [{ interval: interval({ throttledMs: 160 }) }],
      cores: 4,
    });
    memory = result.memory;
    lost += result.containers[0]?.throttledMs ?? NaN;
  }
  // Larger of each pair: (240 + 160) / 2 an interval; their sum would be 320.
  assert.equal(lost, 40 * 200);
});

pure("throttledTime() never gives more than the CPUs, or the threads, could have run", () => {
  assert.equal(steady(300, 500, { cores: 2 }), 2 * 250 - 50);
  assert.equal(steady(300, 500, { cores: 1 }), 250 - 50);
  assert.equal(steady(300, 500, { cores: 8, threads: 3 }), 3 * 250 - 50);
  assert.equal(steady(195, 115, { threads: 1 }), 250 - 50);
  assert.equal(steady(195, 115, { threads: 0 }), 250 - 50);
});

pure("throttledTime() carries one period of room, for a pause that ends after the interval", () => {
  const losses = [100, 290, 290].reduce<{ ms: number[]; roomMs: number }>(({ ms, roomMs }, own) => {
    const one = { interval: interval({ throttledMs: own }), threads: 1, roomMs };
    const [lost] = throttledTime(NO_LEVEL_MEMORY, { containers: [one], cores: 2 }).containers;
    assert.ok(lost);
    return { ms: [...ms, lost.throttledMs], roomMs: lost.roomMs };
  }, { ms: [], roomMs: 0 });
  // 200 are free in each interval: 100 are left of the first, 10 of those after the second.
  assert.deepEqual(losses.ms, [100, 290, 210]);
});

pure("throttledTime() shares the pod's time by use, and by quota without any usage", () => {
  const pod = interval({ usageMs: 80, throttledMs: 120, throttledPeriods: 3 });
  const losses = (containers: readonly ContainerInterval[]) =>
    throttledTime(NO_LEVEL_MEMORY, { pod, containers, cores: 4 }).containers.map((c) =>
      c.throttledMs
    );
  const used = (usageMs: number) => interval({ usageMs, throttledPeriods: 0 });
  assert.deepEqual(losses([60, 20, 0].map((ms) => ({ interval: used(ms) }))), [90, 30, 0]);
  // A third one used 40 of the pod's 80 ms but has no interval yet: its part goes to no other.
  assert.deepEqual(losses([{ interval: used(40) }]), [60]);
  const idle = { ...pod, usageMs: 0 };
  const byQuota = throttledTime(NO_LEVEL_MEMORY, {
    pod: idle,
    containers: [{ interval: used(0), quota: 300 }, { interval: used(0) }],
    cores: 4,
  });
  assert.deepEqual(byQuota.containers.map((c) => c.throttledMs), [120, 0]);
});

pure("throttledTime() takes a shared run queue's pause for the containers' own", () => {
  // Both hold the same CPU: the pod's level counts the pause once, each container its own.
  let memory: LevelMemory = NO_LEVEL_MEMORY;
  let last: readonly number[] = [];
  for (let round = 0; round < 20; round++) {
    const one = { interval: interval({ throttledMs: 160 }) };
    const pod = interval({ usageMs: 100, throttledMs: 160 });
    const result = throttledTime(memory, { pod, containers: [one, one], cores: 2 });
    memory = result.memory;
    last = result.containers.map(({ throttledMs }) => throttledMs);
  }
  assert.deepEqual(last, [160, 160]);
});

pure("throttledTime() counts periods at either level, never more than there were", () => {
  const periods = (own: number, pod: number) =>
    throttledTime(NO_LEVEL_MEMORY, {
      pod: interval({ throttledPeriods: pod, throttledMs: 150 }),
      containers: [{ interval: interval({ throttledPeriods: own, periods: 3, throttledMs: 20 }) }],
      cores: 2,
    }).containers[0]?.throttledPeriods;
  assert.equal(periods(1, 2), 3);
  assert.equal(periods(2, 3), 3);
});

pure("throttledTime() is a number where next to nothing was counted inside of the pod", () => {
  const growth = { usageMs: 0, periods: 0, throttledPeriods: 0 };
  const inside = [5e-324, 0].map((throttledMs) => interval({ ...growth, throttledMs }));
  const { containers } = throttledTime(NO_LEVEL_MEMORY, {
    pod: interval({ ...growth, throttledMs: 8.9e-16 }),
    containers: inside.map((each) => ({ interval: each })),
    cores: 4,
  });
  assert.deepEqual(containers.map(({ throttledMs }) => throttledMs), [8.9e-16, 0]);
});

const growth = fc.record({
  usageMs: fc.double({ min: 0, max: 4000, noNaN: true }),
  throttledMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
  periods: fc.nat(100),
  throttledPeriods: fc.nat(100),
}, { noNullPrototype: true }).map(interval);

forAll("throttledTime() stays between nothing and the CPUs' time for any growth", [
  fc.array(fc.record({ pod: growth, containers: fc.array(growth, { maxLength: 4 }) })),
], (samples) => {
  let memory: LevelMemory = NO_LEVEL_MEMORY;
  for (const { pod, containers } of samples) {
    const pairs = containers.map((each) => ({ interval: each }));
    const result = throttledTime(memory, { pod, containers: pairs, cores: 4 });
    memory = result.memory;
    for (const [index, { throttledMs, throttledPeriods }] of result.containers.entries()) {
      const { usageMs = 0, periods = 0, throttledPeriods: own = 0 } = containers[index] ?? {};
      assert.ok(throttledMs >= 0 && throttledMs <= Math.max(0, 4 * 250 - usageMs));
      assert.ok(throttledPeriods >= 0 && throttledPeriods <= Math.max(periods, own));
    }
  }
});

const zero: Reading = { at: 1000, usageMs: 50, periods: 10, throttledPeriods: 3, throttledMs: 80 };
const later: Reading = {
  ...{ at: 1250, usageMs: 100, periods: 12, throttledPeriods: 5, throttledMs: 230 },
};

pure("intervalBetween() gives the growth of all counters", () => {
  const pair = [{ ...zero, pressureMs: 5 }, { ...later, pressureMs: 105 }] as const;
  const grown = { usageMs: 50, periods: 2, throttledPeriods: 2, throttledMs: 150 };
  const expected = { at: 1250, intervalMs: 250, ...grown };
  assert.deepEqual(intervalBetween([zero, later], { cores: 1 }), expected);
  assert.deepEqual(intervalBetween(pair, { cores: 1 }), { ...expected, pressureMs: 100 });
});

pure("intervalBetween() gives none when the clock stood, jumped, or too little time passed", () => {
  for (const at of [1000, 999, -1e12, 1009.9, 61_001, 1e12, NaN, Infinity]) {
    assert.equal(intervalBetween([zero, { ...later, at }], { cores: 1000 }), undefined, `${at}`);
  }
  for (const at of [1010, 61_000]) {
    assert.ok(intervalBetween([zero, { ...later, at }], { cores: 1000 }), `${at}`);
  }
});

pure("intervalBetween() gives none when any counter went back", () => {
  const full = { ...later, pressureMs: 9 };
  const counters = ["usageMs", "periods", "throttledPeriods", "throttledMs", "pressureMs"] as const;
  for (const counter of counters) {
    const reset = { ...full, [counter]: 0 };
    const pair = [{ ...zero, pressureMs: 5 }, reset] as const;
    assert.equal(intervalBetween(pair, { cores: 1 }), undefined, counter);
  }
});

pure("intervalBetween() gives none when more CPU was used than the node has", () => {
  // 2 CPUs for 250 ms, and 20 ms by which the stamps may be off.
  const used = (usageMs: number) => ({ ...later, usageMs: zero.usageMs + usageMs });
  assert.ok(intervalBetween([zero, used(540)], { cores: 2 }));
  assert.equal(intervalBetween([zero, used(541)], { cores: 2 }), undefined);
});

function fill(values: readonly number[]) {
  const window = createUsageWindow();
  let usageMs = 7;
  window.add(0, usageMs);
  for (let tick = 1; tick <= values.length * 4; tick++) {
    usageMs += (values[Math.ceil(tick / 4) - 1] ?? 0) / 1000 * 250;
    window.add(tick * 250, usageMs);
  }
  return { window, usageMs, at: values.length * 1000 };
}

pure("percentile() is 0 before a step is full, and the usage where it is constant", () => {
  const window = createUsageWindow();
  assert.equal(window.percentile(), 0);
  window.add(0, 0);
  window.add(999, 500);
  assert.equal(window.percentile(), 0);
  window.add(1000, 500);
  assert.equal(window.percentile(), 500);
});

pure("percentile() is the nearest rank of the steps' means", () => {
  const ofHundred = (busy: number) =>
    fill(Array.from({ length: 100 }, (_, i) => i < busy ? 800 : 100)).window.percentile();
  // 5 of 100 seconds busy lie above the 95th percentile, 6 do not.
  assert.ok(Math.abs(ofHundred(5) - 100) < 0.01);
  assert.ok(Math.abs(ofHundred(6) - 800) < 0.01);
});

pure("percentile() forgets what is older than the window, and counts long gaps", () => {
  const after = (quiet: number) =>
    fill([...Array(20).fill(900), ...Array(quiet).fill(50)]).window.percentile();
  // 16 of 300 seconds busy lie within the highest 20th and one more, 15 do not.
  assert.ok(after(284) > 899);
  assert.ok(after(285) < 50.01);
  const { window, usageMs, at } = fill(Array(20).fill(900));
  window.add(at + 300_000, usageMs + 3000);
  assert.ok(Math.abs(window.percentile() - 10) < 0.01);
});

pure("add() begins anew after a reset or a clock that went back, and keeps what it knew", () => {
  const { window, at } = fill(Array(20).fill(300));
  window.add(at + 250, 0);
  window.add(at + 1250, 300);
  window.add(0, 600);
  window.add(1000, 900);
  assert.ok(Math.abs(window.percentile() - 300) < 0.01);
});
