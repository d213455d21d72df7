import assert from "node:assert/strict";
import fc from "fast-check";
import type { ResourceName } from "../api/pod.ts";
import { createBitWriter } from "./bit_text.ts";
import { createContainerRings, slotsOf } from "./container_rings.ts";
import { distributionOfSamples } from "./samples.ts";
import { type Coarseness, decodeSlots, encodeSlots } from "./usage_checkpoint.ts";
import { addCount, countAt, createUsageHistogram, type UsageHistogram } from "./usage_histogram.ts";
import type { UsageSample } from "./usage_sample.ts";

const WINDOW_MS = 86_400_000;
const NOW_MS = 1_800_000_000_000;
const WINDOW = { nowMs: NOW_MS, windowMs: WINDOW_MS } as const;
const RESOURCES = ["cpu", "memory"] as const;

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

type Slots = Record<ResourceName, UsageHistogram[]>;

/** All that a slot says, whatever span its counts are kept in. */
function content(slots: Readonly<Record<ResourceName, readonly UsageHistogram[]>>): unknown {
  return RESOURCES.map((resource) =>
    slots[resource].map((slot) => {
      const { count, min, max, oldestMs, newestMs, tiny, first, counts } = slot;
      const buckets = [...counts.keys()].map((place) => first + place)
        .map((bucket) => [bucket, countAt(slot, bucket)])
        .filter(([, samples]) => samples !== 0);
      return { count, min, max, oldestMs, newestMs, tiny, buckets };
    })
  );
}

function slotsOfSamples(
  cpu: readonly UsageSample[],
  memory: readonly UsageSample[],
): Slots {
  const rings = createContainerRings({ windowMs: WINDOW_MS });
  for (const sample of cpu) rings.cpu.add(sample, NOW_MS);
  for (const sample of memory) rings.memory.add(sample, NOW_MS);
  const { cpu: cpuSlots, memory: memorySlots } = slotsOf(rings);
  return { cpu: [...cpuSlots], memory: [...memorySlots] };
}

/** Of all sizes: logarithms are drawn evenly. */
const log = (most: number): fc.Arbitrary<number> =>
  fc.nat({ max: 1e6 }).map((part) => most ** (part / 1e6));
const second = fc.integer({ min: 1, max: WINDOW_MS / 1000 - 1 }).map((s) => NOW_MS - 1000 * s);
const millisecond = fc.integer({ min: 0, max: WINDOW_MS - 1 }).map((ms) => NOW_MS - ms);
const cpuValue = fc.oneof(log(2 ** 20), fc.constantFrom(0, 0.5));
const memoryValue = fc.oneof(log(2 ** 44).map(Math.floor), fc.constantFrom(0, 1000));

/** A sampler's, with the same times for both and in whole seconds; and any other. */
const drawnSlots = fc.oneof(
  fc.array(fc.tuple(second, cpuValue, memoryValue), { maxLength: 80 }).map((rows) =>
    slotsOfSamples(
      rows.map(([atMs, value]) => ({ atMs, value })),
      rows.map(([atMs, , value]) => ({ atMs, value })),
    )
  ),
  fc.tuple(
    fc.array(fc.record({ atMs: millisecond, value: cpuValue }), { maxLength: 80 }),
    fc.array(fc.record({ atMs: millisecond, value: memoryValue }), { maxLength: 80 }),
  ).map(([cpu, memory]) => slotsOfSamples(cpu, memory)),
);

pure("decodeSlots() gives back exactly what encodeSlots() was given", () => {
  fc.assert(
    fc.property(drawnSlots, (slots) => {
      const text = encodeSlots(slots);
      assert.match(text, /^1:[\w-]+$/);
      assert.deepEqual(content(decodeSlots(text)), content(slots));
    }),
  );
});

pure("decodeSlots() gives back counts beyond 16 bits", () => {
  const slot = createUsageHistogram();
  Object.assign(slot, { min: 2, max: 3, oldestMs: NOW_MS - 5, newestMs: NOW_MS });
  addCount(slot, { bucket: -1, count: 70_000 });
  addCount(slot, { bucket: 40, count: 10_000_000 });
  addCount(slot, { bucket: 693, count: 65_536 });
  const slots = { cpu: [slot], memory: [] };
  assert.deepEqual(content(decodeSlots(encodeSlots(slots))), content(slots));
});

pure(
  "encodeSlots() when coarser keeps quantiles within 3.1 and 9.5 %, and all else exactly",
  () => {
    const value = log(2 ** 20);
    const samples = fc.array(fc.record({ atMs: second, value }), { minLength: 1, maxLength: 120 });
    const told = (slots: readonly UsageHistogram[]): number[] => {
      const rings = createContainerRings({ windowMs: WINDOW_MS });
      rings.cpu.absorb(slots, NOW_MS);
      const { count, min, max, oldestMs, newestMs, quantile } = rings.cpu.distribution(WINDOW);
      return [count, min, max, oldestMs, newestMs, ...[0.5, 0.9, 0.95, 0.99].map(quantile)];
    };
    fc.assert(
      fc.property(samples, fc.constantFrom(1, 2), (drawn, coarseness) => {
        const slots = slotsOfSamples(drawn, []);
        const text = encodeSlots(slots, { coarseness });
        const fine = told(slots.cpu);
        const coarse = told(decodeSlots(text).cpu);
        assert.deepEqual(coarse.slice(0, 5), fine.slice(0, 5));
        const exact = distributionOfSamples(drawn, WINDOW);
        const most = coarseness === 1 ? 0.031 : 0.095;
        for (const [index, fraction] of [0.5, 0.9, 0.95, 0.99].entries()) {
          const expected = exact.quantile(fraction);
          const error = Math.abs(coarse[5 + index]! - expected);
          assert.ok(error <= most * expected * (1 + 1e-9), `${error} of ${expected}`);
        }
        assert.equal(encodeSlots(decodeSlots(text), { coarseness }), text);
        assert.ok(text.length <= encodeSlots(slots).length);
      }),
    );
  },
);

/** Version 1 as its first release wrote it. Never change these texts: clusters hold such ones. */
const GOLDEN_SECONDS =
  "1:DX9aRcYAB8ZQAPjKAB8ZQAPjKAAACACl6EgAgAt9bzRUCeCT8qBfIACsiTd5p7AAnKkaAAgAqf" +
  "__4CAC3kAAAAJzJNxm0zMCaiTcZtM0AmokhwGYJA";

pure(
  "property 31: decodeSlots() reads what version 1 wrote, and encodeSlots() still writes it",
  () => {
    const HALF_HOUR_MS = 1_800_000;
    const rows: [number, number, number][] = [
      [40, 0, 0],
      [30, 0.25, 1_048_575],
      [20, 123.456789, 104_857_600],
      [10, 1250, 73_847_603],
      [0, 99, 73_847_604],
    ];
    const expected = slotsOfSamples(
      rows.map(([back, value]) => ({ atMs: NOW_MS - back * HALF_HOUR_MS, value })),
      rows.map(([back, , value]) => ({ atMs: NOW_MS - back * HALF_HOUR_MS, value })),
    );
    const found = decodeSlots(GOLDEN_SECONDS);
    assert.deepEqual(content(found), content(expected));
    assert.deepEqual(found.cpu.map(({ max }) => max), [0, 0.25, 123.456789, 1250, 99]);
    assert.deepEqual([...found.cpu[2]!.counts.entries()].filter(([, count]) => count > 0), [[
      0,
      1,
    ]]);
    assert.equal(found.cpu[2]!.first, 240);
    assert.equal(encodeSlots(found), GOLDEN_SECONDS);
  },
);

pure("property 31: decodeSlots() gives unchanged what it is given once more, however often", () => {
  fc.assert(fc.property(drawnSlots, fc.constantFrom<Coarseness>(0, 1, 2), (slots, coarseness) => {
    const first = encodeSlots(slots, { coarseness });
    const again = encodeSlots(decodeSlots(encodeSlots(decodeSlots(first))), { coarseness });
    assert.equal(again, first);
  }));
});

pure("decodeSlots() refuses a text that differs in one character, or was cut", () => {
  const text = GOLDEN_SECONDS;
  const change = fc.record({
    place: fc.nat({ max: text.length - 1 }),
    character: fc.constantFrom(..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0189-_*é "),
  });
  fc.assert(
    fc.property(change, ({ place, character }) => {
      if (text[place] === character) return;
      const changed = text.slice(0, place) + character + text.slice(place + 1);
      assert.throws(() => decodeSlots(changed), {
        name: "SyntaxError",
        message: / usage checkpoint: /,
      });
    }),
  );
  for (let end = 0; end < text.length; end++) {
    assert.throws(() => decodeSlots(text.slice(0, end)), SyntaxError);
  }
  assert.throws(() => decodeSlots(`${text}A`), SyntaxError);
});

pure("decodeSlots() names the version that it does not know", () => {
  for (const version of [0, 2, 999]) {
    assert.throws(() => decodeSlots(`${version}:${GOLDEN_SECONDS.slice(2)}`), {
      name: "SyntaxError",
      message: new RegExp(`version .*${version}, .*1$`),
    });
  }
  assert.throws(() => decodeSlots("hello"), {
    name: "SyntaxError",
    message: / begin .*version$/,
  });
});

pure("decodeSlots() does not even look at text longer than a ConfigMap", () => {
  assert.throws(() => decodeSlots(`1:${"A".repeat(2 ** 20)}`), /1048578 .*1048576/);
});

/** A body with the version and the check sum (FNV-1a) that belong to it. */
function sealed(body: string): string {
  const text = `1:${body}`;
  let hash = 0x811c9dc5n;
  for (const character of text) {
    hash = (hash ^ BigInt(character.charCodeAt(0))) * 0x01000193n % 2n ** 32n;
  }
  const writer = createBitWriter();
  writer.fixed(Number(hash), 32);
  return text + writer.text();
}

pure("decodeSlots() refuses bodies that no version wrote, even with the right check sum", () => {
  assert.equal(sealed(GOLDEN_SECONDS.slice(2, -6)), GOLDEN_SECONDS);
  const unit = fc.constantFrom(..."AABCxyz0189-_*");
  let [ran, refused] = [0, 0];
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 300 }), (body) => {
      ran++;
      try {
        const { cpu, memory } = decodeSlots(sealed(body));
        assert.ok(cpu.length <= 257 && memory.length <= 257);
        for (const { counts } of [...cpu, ...memory]) assert.ok(counts.length <= 832);
      } catch (error) {
        assert.ok(error instanceof SyntaxError, String(error));
        refused++;
      }
    }),
  );
  assert.ok(refused > ran / 2, `${refused} of ${ran}`);
});

pure("decodeSlots() says which number in a body cannot be", () => {
  const body = (write: (writer: ReturnType<typeof createBitWriter>) => void): string => {
    const writer = createBitWriter();
    write(writer);
    return sealed(writer.text());
  };
  const manySlots = body((writer) => {
    writer.fixed(0, 2);
    writer.small(258);
  });
  assert.throws(() => decodeSlots(manySlots), /258 slots/);
  const oneSlot = (first: number, groups: number): string =>
    body((writer) => {
      writer.fixed(0, 2);
      writer.small(1);
      writer.fixed(1, 1);
      for (let field = 0; field < 4; field++) writer.sized(1);
      writer.small(0);
      writer.fixed(first, 10);
      writer.small(groups);
    });
  assert.throws(() => decodeSlots(oneSlot(600, 95)), /bucket 694 of 694/);
  assert.throws(() => decodeSlots(oneSlot(600, 94)), /character \d+ of /);
  const otherTimes = body((writer) => {
    writer.fixed(0, 2);
    writer.small(0);
    writer.fixed(1, 1);
    writer.small(1);
    writer.fixed(1, 1);
  });
  assert.throws(() => decodeSlots(otherTimes), /times of 0 slots/);
});
