import { dirname, join } from "node:path";
import { ApiError } from "../../../shared/api/api_error.ts";
import { VERSION } from "../../../shared/version.ts";
import assert from "node:assert/strict";
import { serveCanned, statusAnswer } from "../../../tests/fixtures/canned_server.ts";
import { withFile } from "../../../tests/fixtures/cli/task_world.ts";
import { connectInCluster, connectKubeconfig } from "./connect.ts";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import { createExecPlugin, parseKubeconfig } from "./kubeconfig.ts";
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

/** A kubeconfig as JSON, which is YAML too. */
function config(server: string, change: { cluster?: object; user?: object } = {}): string {
  return JSON.stringify({
    "current-context": "here",
    contexts: [
      { name: "here", context: { cluster: "local", user: "me", namespace: "shop" } },
    ],
    clusters: [{ name: "local", cluster: { server, ...change.cluster } }],
    users: [{ name: "me", user: change.user ?? {} }],
  });
}

/** The Authorization header with which this user arrives. */
async function authorizationOf(user: object): Promise<string | null | undefined> {
  await using server = serveCanned(() => ({}));
  await withFile(config(server.url, { user }), async (path) => {
    const connection = await connectKubeconfig({ path });
    assert.equal(connection.namespace, "shop");
    await connection.request({ path: "/version" });
    connection.close();
  });
  return server.requests[0]?.headers.get("authorization");
}

Deno.test("connectKubeconfig() logs in by token, token file, password or not at all", async () => {
  assert.equal(await authorizationOf({ token: "abc" }), "Bearer abc");
  const tokenFile = `${Deno.cwd()}/${directory}/token`;
  assert.equal(await authorizationOf({ tokenFile }), "Bearer secret-token");
  assert.equal(await authorizationOf({ username: "a", password: "b" }), "Basic YTpi");
  assert.equal(await authorizationOf({}), null);
});

Deno.test("connectKubeconfig() acts as the user, UID and groups of the kubeconfig, by its name", async () => {
  // Deno joins headers of one name when it reads them, so the bytes are read.
  using listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const { port } = listener.addr as Deno.NetAddr;
  const user = {
    ...{ as: "jane", "as-uid": "7", "as-groups": ["dev", "ops"] },
    "as-user-extra": { "example.com/team": ["shop"] },
  };
  const received = listener.accept().then(async (accepted) => {
    using from = accepted;
    const bytes = new Uint8Array(4096);
    const text = new TextDecoder().decode(bytes.subarray(0, await from.read(bytes) ?? 0));
    await from.write(
      new TextEncoder().encode(
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}",
      ),
    );
    return text.toLowerCase().split("\r\n");
  });
  await withFile(config(`http://127.0.0.1:${port}`, { user }), async (path) => {
    const connection = await connectKubeconfig({ path, program: "kubectl" });
    await connection.request({ path: "/version" });
    connection.close();
  });
  const headers = (await received).filter((line) => /^(impersonate|user-agent)/.test(line));
  assert.deepEqual(headers.sort(), [
    "impersonate-extra-example.com%2fteam: shop",
    "impersonate-group: dev",
    "impersonate-group: ops",
    "impersonate-uid: 7",
    "impersonate-user: jane",
    `user-agent: coallocator-kubectl/${VERSION}`,
  ]);
});

Deno.test("connectKubeconfig() finds a plugin beside the file, and reports that it failed", async () => {
  await using server = serveCanned(() => ({}));
  const user = { exec: { command: "./bin/login", installHint: "install it" } };
  await withFile(config(server.url, { user }), async (path) => {
    const connection = await connectKubeconfig({ path });
    const error: unknown = await connection.request({ path: "/version" })
      .then(() => assert.fail("connected"), (failure) => failure);
    assert.ok(error instanceof ApiError);
    assert.deepEqual([error.status, error.reason], [0, "LoginFailed"]);
    assert.ok(error.message.includes(join(dirname(path), "bin/login")));
    connection.close();
  });
  assert.deepEqual(server.requests, []);
});

Deno.test("connectKubeconfig() runs a plugin, and again when its token is refused", async () => {
  const counter = await Deno.makeTempFile();
  const script = `echo x >> ${counter}; n=$(wc -l < ${counter}); ` +
    `echo '{"status":{"token":"t'$n'"}}' | tr -d ' '`;
  await using server = serveCanned(({ headers }) =>
    headers.get("authorization") === "Bearer t1" ? statusAnswer(401) : {}
  );
  try {
    const user = { exec: { command: "sh", args: ["-c", script] } };
    await withFile(config(server.url, { user }), async (path) => {
      const connection = await connectKubeconfig({ path });
      await connection.request({ path: "/a" });
      await connection.request({ path: "/b" });
      connection.close();
    });
  } finally {
    await Deno.remove(counter);
  }
  const tokens = server.requests.map(({ headers }) => headers.get("authorization"));
  assert.deepEqual(tokens, ["Bearer t1", "Bearer t2", "Bearer t2"]);
});

Deno.test("createExecPlugin() keeps credentials until they expire, and shows no secret", async () => {
  const clock = createVirtualClock({ wallStart: Date.UTC(2026, 0, 1) });
  const plugin = (script: string, more: object = {}) =>
    createExecPlugin({ command: "sh", args: ["-c", script], ...more }, { clock });
  const answer = '{"status":{"token":"\'$$\'","expirationTimestamp":"2026-01-01T00:01:00Z"}}';
  const login = plugin(`echo '${answer}'`);
  const first = await login({ refresh: false });
  assert.deepEqual(await login({ refresh: false }), first);
  await clock.runUntil(60_000);
  assert.notDeepEqual(await login({ refresh: false }), first);
  const value = '{"status":{"clientCertificateData":"C","clientKeyData":"K"}}';
  const script = 'printf "%s" "$REPLY_WITH"; test -n "$KUBERNETES_EXEC_INFO"';
  const pair = plugin(script, { env: [{ name: "REPLY_WITH", value }] });
  assert.deepEqual(await pair({ refresh: false }), {
    headers: {},
    certificate: { cert: "C", key: "K" },
  });
  const failed = plugin("echo secret")({ refresh: false });
  await assert.rejects(failed, (error: Error) => !/secret/.test(error.message));
});

Deno.test("connectKubeconfig() refuses what it can't do, with a remedy", async () => {
  const refused = (change: { cluster?: object; user?: object }, message: RegExp): Promise<void> =>
    withFile(config("https://127.0.0.1:1", change), async (path) => {
      await assert.rejects(connectKubeconfig({ path }), { name: "TypeError", message });
    });
  await refused({ user: { "auth-provider": { name: "oidc" } } }, /"oidc" is not supported.*exec/);
  await refused({ cluster: { "insecure-skip-tls-verify": true } }, /certificate-authority/);
});

Deno.test("connectKubeconfig() finds the file as kubectl does", async () => {
  await using server = serveCanned(() => ({ found: true }));
  await withFile(config(server.url), async (path) => {
    const variables: Record<string, string> = { KUBECONFIG: `/no/such/file:${path}` };
    const connection = await connectKubeconfig({ env: (name) => variables[name] });
    assert.deepEqual(await connection.request({ path: "/" }), { found: true });
    connection.close();
  });
  await assert.rejects(
    connectKubeconfig({ env: (name) => name === "HOME" ? "/no/such/home" : undefined }),
    Deno.errors.NotFound,
  );
});

Deno.test("parseKubeconfig() takes the first of a name, and paths from beside the file", () => {
  const second = config("https://b").replace('"here"', '"there"');
  const user = { "client-certificate": "a.crt", "client-key": "/k/a.key" };
  const merged = parseKubeconfig([
    { path: "/etc/one/config", text: config("https://a/", { user }) },
    { path: "/etc/two/config", text: second },
  ]);
  assert.equal(merged.currentContext, "here");
  assert.deepEqual(merged.clusters.map(({ server }) => server), ["https://a"]);
  const [{ certFile, keyFile } = {}] = merged.users;
  assert.deepEqual([certFile, keyFile], ["/etc/one/a.crt", "/k/a.key"]);
  assert.throws(() => parseKubeconfig([{ path: "/c", text: "a: [b" }]), { name: "SyntaxError" });
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
