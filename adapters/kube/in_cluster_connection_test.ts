import assert from "node:assert/strict";
import { serveCanned } from "../../tests/fixtures/canned_server.ts";
import { createVirtualClock } from "../../simulation/virtual_clock.ts";
import { connectInCluster } from "./in_cluster_connection.ts";
import { createTokenReader } from "./token_file.ts";

const directory = "tests/fixtures/service-account";

Deno.test({
  name: "connectInCluster() needs to read one directory and to reach one host, and nothing else",
  permissions: { net: ["127.0.0.1"], read: [directory] },
  async fn() {
    await using server = serveCanned(() => ({ ok: true }));
    const connection = await connectInCluster({ server: server.url, directory });
    assert.deepEqual(await connection.request({ path: "/version" }), { ok: true });
    assert.equal(server.requests[0]?.headers.get("authorization"), "Bearer secret-token");
    connection.close();
  },
});

Deno.test("connectInCluster() fails at once outside of a pod", async () => {
  await assert.rejects(
    connectInCluster({ directory: "tests/fixtures/none" }),
    Deno.errors.NotFound,
  );
});

Deno.test("createTokenReader() reads anew after a minute and on demand, and survives a gap", async () => {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/token`;
  try {
    await Deno.writeTextFile(path, "one\n");
    const clock = createVirtualClock({ wallStart: 0 });
    const read = createTokenReader(path, { clock });
    assert.equal(await read({ refresh: false }), "one");
    await Deno.writeTextFile(path, "two\n");
    await clock.runUntil(59_999);
    assert.equal(await read({ refresh: false }), "one");
    await clock.runUntil(60_000);
    assert.equal(await read({ refresh: false }), "two");
    await Deno.writeTextFile(path, "three\n");
    assert.equal(await read({ refresh: true }), "three");
    await Deno.remove(path);
    assert.equal(await read({ refresh: true }), "three");
    await assert.rejects(
      createTokenReader(path, { clock })({ refresh: false }),
      Deno.errors.NotFound,
    );
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
