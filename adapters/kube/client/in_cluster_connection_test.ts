import assert from "node:assert/strict";
import { serveCanned } from "../../../tests/fixtures/canned_server.ts";
import { connectInCluster } from "./in_cluster_connection.ts";

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
