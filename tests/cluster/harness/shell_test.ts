import assert from "node:assert/strict";
import { packagesFor } from "./install/packages.ts";
import { findProgram, isExecutable, run, wholePath } from "./shell.ts";

Deno.test({
  name: "wholePath() adds root's folders once, behind the user's",
  permissions: "none",
  fn() {
    const whole = wholePath("/mine:/usr/sbin");
    assert.ok(whole.startsWith("/mine:/usr/sbin:"));
    assert.equal(wholePath(whole), whole);
    assert.ok(wholePath(undefined).startsWith("/usr/local/bin:"));
  },
});

Deno.test("findProgram() gives the first that may be run, in the order of the PATH", async () => {
  const root = await Deno.makeTempDir({ dir: "/tmp" });
  try {
    for (const folder of ["a", "b", "c"]) await Deno.mkdir(`${root}/${folder}`);
    await Deno.writeTextFile(`${root}/a/tool`, "", { mode: 0o644 });
    await Deno.writeTextFile(`${root}/b/tool`, "", { mode: 0o755 });
    await Deno.writeTextFile(`${root}/c/tool`, "", { mode: 0o755 });
    const path = ["none", "a", "b", "c"].map((folder) => `${root}/${folder}`).join(":");
    assert.equal(await findProgram("tool", path), `${root}/b/tool`);
    assert.equal(await findProgram("other", path), undefined);
    assert.equal(await isExecutable(`${root}/b`), false);
    assert.equal(await isExecutable(`${root}/b/tool/deeper`), false);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("run() gives what a program writes, and its complaint when it fails", async () => {
  assert.equal(
    await run(["sh", "-c", "cat; echo $A"], { input: "in ", env: { A: "b" } }),
    "in b\n",
  );
  await assert.rejects(run(["sh", "-c", "echo why >&2; exit 3"]), /exit code 3\nwhy/);
});

Deno.test({
  name: "packagesFor() names each package once",
  permissions: "none",
  fn() {
    assert.deepEqual(packagesFor(["ctr", "containerd", "nft", "containernetworking-plugins"]), [
      "containerd",
      "containernetworking-plugins",
      "nftables",
    ]);
  },
});
