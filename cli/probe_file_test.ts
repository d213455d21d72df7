import assert from "node:assert/strict";
import { probeFile } from "./probe_file.ts";

async function inFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("probeFile() leaves a file as it is, and none where there was none", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/old.html`, "kept");
    await probeFile(`${folder}/old.html`);
    await probeFile(`${folder}/new.html`);
    assert.equal(await Deno.readTextFile(`${folder}/old.html`), "kept");
    assert.deepEqual((await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name), [
      "old.html",
    ]);
  }));

Deno.test("probeFile() rejects a missing folder, a directory, and a file in place of a folder", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/file`, "");
    const { IsADirectory, NotADirectory, NotFound } = Deno.errors;
    await assert.rejects(probeFile(`${folder}/missing/a.html`), NotFound);
    await assert.rejects(probeFile(folder), IsADirectory);
    await assert.rejects(probeFile(`${folder}/file/a.html`), NotADirectory);
  }));
