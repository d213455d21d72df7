import assert from "node:assert/strict";
import { readIfThere } from "./daemon.ts";

Deno.test("readIfThere() gives undefined for what is not there", async () => {
  const file = await Deno.makeTempFile({ dir: "/tmp" });
  await Deno.writeTextFile(file, "text");
  assert.equal(await readIfThere(file), "text");
  await Deno.remove(file);
  assert.equal(await readIfThere(file), undefined);
});
