import assert from "node:assert/strict";
import { amountsOf, millisecondsOf, timeText, writtenAmounts } from "./workload_record.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("writtenAmounts() writes what there is as quantities, and amountsOf() reads it again", () => {
  const amounts = { cpu: 250, memory: 2 ** 26, cpuLimit: 1000, memoryLimit: 100 };
  const written = { cpu: "250m", memory: "64Mi", cpuLimit: "1", memoryLimit: "100" };
  assert.deepEqual(writtenAmounts(amounts), written);
  assert.deepEqual(amountsOf(written), amounts);
  assert.deepEqual([writtenAmounts({}), amountsOf({})], [{}, {}]);
});

test("timeText() writes a time that millisecondsOf() reads, which throws at another text", () => {
  assert.equal(timeText(1), "1970-01-01T00:00:00.001Z");
  assert.equal(millisecondsOf(timeText(1)), 1);
  assert.throws(() => millisecondsOf("soon"), /^SyntaxError: .*soon/);
});
