import assert from "node:assert/strict";
import { folderEntries } from "../install/folder_entries.ts";
import { type PolicyOptions, removeLeftPolicy, withoutServices } from "./service_policy.ts";

const OWN = "#!/bin/sh\nexit 101\n";

async function inFolder(test: (options: Required<PolicyOptions>) => Promise<void>): Promise<void> {
  const stateRoot = await Deno.makeTempDir({ dir: "/tmp" });
  const progress = { say: () => {}, now: () => 0 };
  try {
    await test({ stateRoot, progress, file: `${stateRoot}/policy` });
  } finally {
    await Deno.remove(stateRoot, { recursive: true });
  }
}

/** The policy while packages are installed. */
function during(options: Required<PolicyOptions>): Promise<string> {
  return withoutServices(() => Deno.readTextFile(options.file), options);
}

Deno.test("withoutServices() forbids services for as long as its action takes", async () => {
  await inFolder(async (options) => {
    assert.match(await during(options), /^#!\/bin\/sh\n#.+\nexit 101\n$/);
    await assert.rejects(withoutServices(() => Promise.reject(new Error("no")), options), /no/);
    assert.deepEqual(await folderEntries(options.stateRoot), []);
  });
});

Deno.test("withoutServices() keeps the machine's own policy, as removeLeftPolicy() does", async () => {
  await inFolder(async (options) => {
    await Deno.writeTextFile(options.file, OWN, { mode: 0o755 });
    assert.equal(await during(options), OWN);
    await removeLeftPolicy(options);
    assert.equal(await Deno.readTextFile(options.file), OWN);
  });
});

Deno.test("removeLeftPolicy() removes what a killed run left, as withoutServices() does", async () => {
  await inFolder(async (options) => {
    const left = await during(options);
    const lock = `${options.stateRoot}/_packages.lock`;
    for (const remove of [removeLeftPolicy, during]) {
      await Deno.writeTextFile(options.file, left, { mode: 0o755 });
      await Deno.writeTextFile(lock, "1\n");
      await remove(options);
      assert.deepEqual(await folderEntries(options.stateRoot), []);
    }
  });
});
