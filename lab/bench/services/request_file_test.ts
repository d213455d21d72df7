import assert from "node:assert/strict";
import { decodeRequests, encodeRequests, writeStart } from "./request_file.ts";

const LOG = {
  atMs: Float64Array.of(0.5, 20.25),
  costMs: Float64Array.of(8, 3.125),
  durationMs: 100,
};

Deno.test("decodeRequests() gives back what was written, and that nothing is done yet", () => {
  const { atMs, costMs, takenMs, doneMs } = decodeRequests(encodeRequests(LOG));
  assert.deepEqual([atMs, costMs], [LOG.atMs, LOG.costMs]);
  assert.ok([...takenMs, ...doneMs].every(Number.isNaN));
});

Deno.test("decodeRequests() refuses a list that is cut off", () => {
  assert.throws(() => decodeRequests(encodeRequests(LOG).slice(0, 64)), {
    name: "RangeError",
    message: "Cannot read requests: 64 bytes hold no 2 of them",
  });
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
