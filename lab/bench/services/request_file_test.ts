import assert from "node:assert/strict";
import { encodeRequests, writeStart } from "./request_file.ts";

const LOG = {
  atMs: Float64Array.of(0.5, 20.25),
  costMs: Float64Array.of(8, 3.125),
  durationMs: 100,
};

Deno.test("encodeRequests() writes a header, then when each comes and its cost in ns", () => {
  const values = [...new BigUint64Array(encodeRequests(LOG).buffer)];
  assert.deepEqual(values, [
    ...[0n, 2n, 0n, 0n],
    ...[500_000n, 8_000_000n, 0n, 0n],
    ...[20_250_000n, 3_125_000n, 0n, 0n],
  ]);
});

Deno.test("writeStart() sets the first value and nothing else", async () => {
  const file = await Deno.makeTempFile();
  try {
    await Deno.writeFile(file, encodeRequests(LOG));
    await writeStart(file, 1_700_000_000_123);
    const bytes = await Deno.readFile(file);
    assert.equal(new DataView(bytes.buffer).getBigUint64(0, true), 1_700_000_000_123_000_000n);
    assert.deepEqual(bytes.slice(8), encodeRequests(LOG).slice(8));
  } finally {
    await Deno.remove(file);
  }
});
