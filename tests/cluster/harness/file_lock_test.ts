import assert from "node:assert/strict";
import { lockFile } from "./file_lock.ts";

Deno.test("lockFile() says which process it waits for", async () => {
  const folder = await Deno.makeTempDir({ dir: "/tmp" });
  const path = `${folder}/new/lock`;
  try {
    const first = await lockFile(path, { progress: { say: () => {}, now: () => 0 } });
    const said = Promise.withResolvers<string>();
    const waiting = lockFile(path, { progress: { say: said.resolve, now: () => 0 } });
    assert.equal(await said.promise, `waiting for process ${Deno.pid}, which holds ${path}`);
    first[Symbol.dispose]();
    (await waiting)[Symbol.dispose]();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("lockFile() is held by one alone when the one before removed the file", async () => {
  const folder = await Deno.makeTempDir({ dir: "/tmp" });
  const path = `${folder}/lock`;
  const said = Promise.withResolvers<string>();
  const progress = { say: said.resolve, now: () => 0 };
  try {
    const first = await lockFile(path, { progress });
    const second = lockFile(path, { progress });
    await said.promise;
    await first.remove();
    first[Symbol.dispose]();
    using held = await second;
    // What is held is the file that the next run opens.
    assert.equal(await Deno.readTextFile(path), `${Deno.pid}\n`);
    await held.remove();
    await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
