import assert from "node:assert/strict";
import { createCertificateFolder } from "./certificate_folder.ts";

Deno.test("createCertificateFolder() reads the files as they are now", async () => {
  const folder = await Deno.makeTempDir();
  const { read } = createCertificateFolder(folder);
  await assert.rejects(read(), { message: new RegExp(`^Cannot read ${folder}/tls\\.(crt|key): `) });
  await Deno.writeTextFile(`${folder}/tls.crt`, "one");
  await assert.rejects(read(), { message: new RegExp(`^Cannot read ${folder}/tls\\.key: `) });
  await Deno.writeTextFile(`${folder}/tls.key`, "two");
  assert.deepEqual(await read(), { cert: "one", key: "two" });
  await Deno.writeTextFile(`${folder}/tls.crt`, "three");
  assert.deepEqual(await read(), { cert: "three", key: "two" });
  await Deno.remove(folder, { recursive: true });
});
