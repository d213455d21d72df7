import assert from "node:assert/strict";
import fc from "fast-check";
import { type BodyReader, createBodyReader, type ReadBody } from "./body_reader.ts";

async function* chunksOf(sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (const [index, size] of sizes.entries()) {
    await Promise.resolve();
    yield new Uint8Array(size).fill(index);
  }
}

async function whole(reader: BodyReader, sizes: readonly number[]): Promise<ReadBody> {
  const body = await reader.read(chunksOf(sizes));
  assert.ok("bytes" in body);
  return body;
}

Deno.test("createBodyReader() joins what comes in parts", async () => {
  const reader = createBodyReader({ mostBytes: 3, mostBytesInWork: 3 });
  const { bytes } = await whole(reader, [1, 0, 2]);
  assert.deepEqual([...bytes], [0, 2, 2]);
});

Deno.test("createBodyReader() refuses one that is too long, and counts it no more", async () => {
  const reader = createBodyReader({ mostBytes: 3, mostBytesInWork: 4 });
  for (let times = 0; times < 3; times++) {
    const body = await reader.read(chunksOf([3, 1]));
    assert.ok("refusal" in body);
    assert.equal(body.status, 400);
    assert.match(body.refusal, / 3 bytes$/);
  }
  assert.equal((await whole(reader, [3])).bytes.length, 3);
});

Deno.test("createBodyReader() refuses what is too much together, until others are done", async () => {
  const reader = createBodyReader({ mostBytes: 3, mostBytesInWork: 4 });
  const first = await whole(reader, [3]);
  const second = await reader.read(chunksOf([2]));
  assert.equal("status" in second ? second.status : 0, 503);
  first.done();
  // Twice is not counted twice.
  first.done();
  const third = await whole(reader, [3]);
  assert.ok("refusal" in await reader.read(chunksOf([2])));
  third.done();
});

Deno.test("createBodyReader() counts a body that breaks off no more", async () => {
  const reader = createBodyReader({ mostBytes: 3, mostBytesInWork: 3 });
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield* chunksOf([3]);
    throw new RangeError("gone");
  }
  await assert.rejects(reader.read(broken()), RangeError);
  assert.equal((await whole(reader, [3])).bytes.length, 3);
});

Deno.test("createBodyReader() has room for all again when none is in work", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(fc.nat(6)), { maxLength: 8 }), async (all) => {
      const reader = createBodyReader({ mostBytes: 10, mostBytesInWork: 20 });
      const bodies = await Promise.all(all.map((sizes) => reader.read(chunksOf(sizes))));
      const read = bodies.filter((body) => "bytes" in body);
      assert.ok(read.reduce((sum, { bytes }) => sum + bytes.length, 0) <= 20);
      for (const { done } of read) done();
      assert.equal((await whole(reader, [10])).bytes.length, 10);
      assert.equal((await whole(reader, [10])).bytes.length, 10);
    }),
  );
});
