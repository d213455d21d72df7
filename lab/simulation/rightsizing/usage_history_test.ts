import assert from "node:assert/strict";
import { pure } from "../../../tests/fixtures/pure.ts";
import { readUsage, scaledTo, usageHistory } from "./usage_history.ts";
import { readShippedText } from "../trace_files.ts";

const CPU = { name: "f", resource: "cpu" } as const;

pure("usageHistory() keeps gaps, and takes the most frequent distance for the step", () => {
  const { atMs, values, stepMs } = usageHistory(
    [0, 60, 120, 600, 660].map((atS) => ({ atS, value: atS / 1000 })),
    CPU,
  );
  assert.equal(stepMs, 60_000);
  assert.deepEqual([...atMs], [0, 60_000, 120_000, 600_000, 660_000]);
  assert.deepEqual([...values], [0, 60, 120, 600, 660]);
});

pure("usageHistory() takes the shorter of two distances that are as frequent", () => {
  const samples = [0, 30, 90].map((atS) => ({ atS, value: 1 }));
  assert.equal(usageHistory(samples, CPU).stepMs, 30_000);
});

pure("usageHistory() leaves bytes as they are", () => {
  const samples = [0, 60].map((atS) => ({ atS, value: 2 ** 30 }));
  const { values } = usageHistory(samples, { name: "f", resource: "memory" });
  assert.deepEqual([...values], [2 ** 30, 2 ** 30]);
});

pure("scaledTo() keeps the shape and sets the 95th percentile", () => {
  const samples = Array.from({ length: 101 }, (_, index) => ({ atS: 60 * index, value: index }));
  const scaled = scaledTo(usageHistory(samples, CPU), 1000);
  assert.ok(Math.abs((scaled.values[95] ?? 0) - 1000) < 1e-9);
  assert.ok(Math.abs((scaled.values[19] ?? 0) - 200) < 1e-9);
});

function prometheus(values: readonly (readonly [number, string])[]): string {
  const result = [{ metric: { pod: "web-0" }, values }];
  return JSON.stringify({ status: "success", data: { resultType: "matrix", result } });
}

pure("readUsage() reads CSV and Prometheus exports, and leaves gaps", () => {
  const csv = readUsage("ts,value\n0,0.5\n60,1\n600,2\n660,2\n", { name: "f", resource: "cpu" });
  assert.deepEqual([...csv.atMs], [0, 60_000, 600_000, 660_000]);
  assert.deepEqual([...csv.values], [500, 1000, 2000, 2000]);
  const range = readUsage(prometheus([[0, "0.25"], [30, "1"], [300, "1"]]), {
    name: "f",
    resource: "cpu",
  });
  assert.deepEqual([range.stepMs, ...range.values], [30_000, 250, 1000, 1000]);
});

pure("readUsage() takes gibibytes for memory, and not for cores", () => {
  const bytes = `0,${8 * 2 ** 30}\n60,${9 * 2 ** 30}\n`;
  const { values, resource } = readUsage(bytes, { name: "f", resource: "memory" });
  assert.deepEqual([resource, ...values], ["memory", 8 * 2 ** 30, 9 * 2 ** 30]);
  assert.throws(
    () => readUsage(bytes, { name: "f", resource: "cpu" }),
    /line 2 is "60,.*timestamp .* 0 to 1e9/,
  );
  const huge = prometheus([[0, "1e16"]]);
  assert.throws(
    () => readUsage(huge, { name: "f", resource: "memory" }),
    /"1e16" at 0, .*bytes .* 0 to 1e15/,
  );
});

Deno.test({
  name: "readUsage() reads production histories of days, a sample per minute without a gap",
  permissions: { read: [new URL("../traces/", import.meta.url)] },
  async fn() {
    for (const [name, days] of [["crane0", 8], ["crane4", 15], ["crane5", 16]] as const) {
      const shipped = await readShippedText(name);
      const history = readUsage(shipped.text, { ...shipped, name, resource: "cpu" });
      assert.equal(history.stepMs, 60_000);
      assert.equal(history.atMs.length, days * 1440);
      assert.equal((history.atMs.at(-1) ?? 0) - (history.atMs[0] ?? 0), (days * 1440 - 1) * 60_000);
    }
  },
});
