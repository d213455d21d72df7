import assert from "node:assert/strict";
import { serveCanned } from "../../../tests/fixtures/canned_server.ts";
import { userKubeconfig } from "../../../tests/fixtures/user_kubeconfig.ts";
import { withFile } from "../../../tests/fixtures/cli/task_world.ts";
import { connectInCluster, connectKubeconfig } from "./connect.ts";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { connectTo, createReachability } from "./connection_pool.ts";
import { createHTTPConnection } from "./http_connection.ts";

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

Deno.test("connectKubeconfig() connects by the file's token, and refuses what it does not understand", async () => {
  await using server = serveCanned(() => ({ ok: true }));
  const file = (user: object, cluster: object = {}): string =>
    userKubeconfig(server.url, { user, cluster });
  await withFile(file({ token: "abc" }), async (path) => {
    const connection = await connectKubeconfig({ path });
    assert.deepEqual(await connection.request({ path: "/version" }), { ok: true });
    assert.equal(server.requests[0]?.headers.get("authorization"), "Bearer abc");
    connection.close();
  });
  for (
    const [text, what] of [
      [file({ exec: { command: "login" } }), /has exec/],
      [file({}, { "insecure-skip-tls-verify": true }), /has insecure-skip-tls-verify/],
      ["just a text", /has no server/],
    ] as const
  ) {
    await withFile(text, async (path) => {
      await assert.rejects(connectKubeconfig({ path }), { name: "TypeError", message: what });
    });
  }
});

pure("ensure() attempts nothing without a doubt, and once for all callers that wait", async () => {
  let attempts = 0;
  let answer = Promise.withResolvers<void>();
  const reachability = createReachability(() => {
    attempts++;
    return answer.promise;
  });
  await reachability.ensure();
  assert.equal(attempts, 0);
  reachability.doubt();
  const refused = [reachability.ensure(), reachability.ensure()];
  answer.reject(new TypeError("refused"));
  for (const one of refused) await assert.rejects(one, /refused/);
  assert.equal(attempts, 1);
  answer = Promise.withResolvers();
  const reached = [reachability.ensure(), reachability.ensure()];
  answer.resolve();
  await Promise.all(reached);
  await reachability.ensure();
  assert.equal(attempts, 2);
  reachability.doubt();
  reachability.confirm();
  await reachability.ensure();
  assert.equal(attempts, 2);
});

Deno.test("connectTo() comes about with a server, and names host and port without", async () => {
  let url = "";
  {
    await using server = serveCanned(() => ({}));
    url = server.url;
    await connectTo(url)();
  }
  await assert.rejects(connectTo(url)(), {
    name: "TypeError",
    message: new RegExp(`^Cannot connect to ${new URL(url).host}: .*refused`, "i"),
  });
});

Deno.test("request() sends nothing to a server that could not be reached until a connection comes about", async () => {
  await using server = serveCanned(() => ({ ok: true }));
  let lost = true;
  let attempts = 0;
  const connection = createHTTPConnection({
    server: server.url,
    clock: createVirtualClock({ wallStart: 0 }),
    login: () => Promise.resolve({ headers: {} }),
    openClient: () =>
      lost ? Promise.reject(new TypeError("no way")) : Promise.resolve(Deno.createHttpClient({})),
    connect() {
      attempts++;
      return lost ? Promise.reject(new TypeError("refused")) : Promise.resolve();
    },
  });
  const unreachable = { status: 0, reason: "Unreachable" };
  await assert.rejects(connection.request({ path: "/" }), unreachable);
  assert.equal(attempts, 0);
  const all = [1, 2, 3].map(() => connection.request({ path: "/" }));
  for (const one of all) await assert.rejects(one, { ...unreachable, message: "GET /: refused" });
  assert.equal(attempts, 1);
  assert.equal(server.requests.length, 0);
  lost = false;
  for (let time = 0; time < 3; time++) {
    assert.deepEqual(await connection.request({ path: "/" }), { ok: true });
  }
  assert.equal(attempts, 2);
  connection.close();
});
