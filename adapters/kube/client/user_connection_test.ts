import assert from "node:assert/strict";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import { VERSION } from "../../../shared/version.ts";
import {
  serveCanned,
  statusAnswer,
  userKubeconfig,
} from "../../../tests/fixtures/canned_server.ts";
import { withUser } from "../../../tests/fixtures/kube_connections.ts";
import { withFile } from "../../../tests/fixtures/lab/task_world.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { connectInCluster, connectKubeconfig } from "./connect.ts";
import { connectTo, createReachability } from "./connection_pool.ts";
import { createHTTPConnection } from "./http_connection.ts";
import { connectUser, type UserConnection } from "./user_connection.ts";
import { contextNames, type UserOptions } from "./user_kubeconfig.ts";

const none = (): undefined => undefined;

const getVersion = (user: UserConnection): Promise<unknown> => user.request({ path: "/version" });

/** The Authorization header with which this user arrives. */
async function authorizationOf(user: object): Promise<string | null | undefined> {
  await using server = serveCanned(() => ({}));
  const kubeconfig = userKubeconfig(server.url, { user });
  await withUser(kubeconfig, async (one) => {
    await getVersion(one);
    assert.equal(one.namespace, "shop");
  });
  return server.requests[0]?.headers.get("authorization");
}

Deno.test("connectUser() logs in by token, token file, password or not at all", async () => {
  assert.equal(await authorizationOf({ token: "abc" }), "Bearer abc");
  const tokenFile = `${Deno.cwd()}/tests/fixtures/service-account/token`;
  assert.equal(await authorizationOf({ tokenFile }), "Bearer secret-token");
  assert.equal(await authorizationOf({ username: "a", password: "b" }), "Basic YTpi");
  assert.equal(await authorizationOf({}), null);
});

/** The lines of the first request that `send` sends to a server, which gives this answer. */
async function firstRequest(
  answer: string,
  send: (server: string) => Promise<unknown>,
): Promise<readonly string[]> {
  using listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const { port } = listener.addr as Deno.NetAddr;
  const received = listener.accept().then(async (accepted) => {
    using from = accepted;
    const bytes = new Uint8Array(4096);
    const text = new TextDecoder().decode(bytes.subarray(0, await from.read(bytes) ?? 0));
    await from.write(new TextEncoder().encode(answer));
    return text.split("\r\n");
  });
  await send(`http://127.0.0.1:${port}`);
  return await received;
}

/** The headers of a request as they are sent: Deno joins those of one name when it reads them. */
async function headersOf(user: object, options: Partial<UserOptions> = {}): Promise<string[]> {
  const answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
  const lines = await firstRequest(
    answer,
    (server) => withUser(userKubeconfig(server, { user }), getVersion, options),
  );
  return lines.map((line) => line.toLowerCase())
    .filter((line) => /^(impersonate|user-agent)/.test(line)).sort();
}

Deno.test("connectUser() acts as the kubeconfig and the flags say, by the program's name", async () => {
  const agent = `user-agent: coallocator-kubectl/${VERSION}`;
  const jane = {
    ...{ as: "jane", "as-uid": "7", "as-groups": ["dev", "ops"] },
    "as-user-extra": { "example.com/team": ["shop"] },
  };
  const extra = "impersonate-extra-example.com%2fteam: shop";
  const [uid, user] = ["impersonate-uid: 7", "impersonate-user: jane"];
  const groups = ["impersonate-group: dev", "impersonate-group: ops"];
  assert.deepEqual(await headersOf({}), [agent]);
  assert.deepEqual(await headersOf(jane), [extra, ...groups, uid, user, agent]);
  assert.deepEqual(await headersOf(jane, { impersonation: { user: "joe", groups: ["qa"] } }), [
    ...[extra, "impersonate-group: qa", uid, "impersonate-user: joe", agent],
  ]);
});

/** The first line that a proxy receives, by either way to name it. */
async function proxiedLine(
  options: (proxy: string) => { readonly cluster?: object; readonly env?: UserOptions["env"] },
): Promise<string | undefined> {
  const [line] = await firstRequest("HTTP/1.1 403 Forbidden\r\n\r\n", async (proxy) => {
    const { cluster = {}, env = none } = options(proxy);
    const kubeconfig = userKubeconfig("https://api.example.com:6443", { cluster });
    await assert.rejects(withUser(kubeconfig, getVersion, { env }), ApiError);
  });
  return line;
}

Deno.test("connectUser() connects by the kubeconfig's proxy, else by the environment's", async () => {
  const line = "CONNECT api.example.com:6443 HTTP/1.1";
  const wrong = "http://127.0.0.1:1";
  const envOf = (proxy: string) => (name: string) => name === "HTTPS_PROXY" ? proxy : undefined;
  assert.equal(await proxiedLine((proxy) => ({ env: envOf(proxy) })), line);
  const both = (proxy: string) => ({ cluster: { "proxy-url": proxy }, env: envOf(wrong) });
  assert.equal(await proxiedLine(both), line);
});

Deno.test("connectUser() finds a plugin beside the file, and reports that it failed", async () => {
  await using server = serveCanned(() => ({}));
  const exec = { command: "./bin/login", installHint: "install it" };
  await withUser(userKubeconfig(server.url, { user: { exec } }), async (user, path) => {
    await assert.rejects(getVersion(user), (error: ApiError) => {
      assert.deepEqual([error.status, error.reason], [0, "LoginFailed"]);
      assert.ok(error.message.includes(join(dirname(path), "bin/login")), error.message);
      assert.match(error.message, /install it/);
      return true;
    });
  });
  assert.deepEqual(server.requests, []);
});

Deno.test("connectUser() runs a plugin once, and again when its token is refused", async () => {
  const counter = await Deno.makeTempFile();
  const script = `echo x >> ${counter}; n=$(wc -l < ${counter}); ` +
    `echo '{"status":{"token":"t'$n'"}}' | tr -d ' '`;
  await using server = serveCanned(({ headers }) =>
    headers.get("authorization") === "Bearer t1" ? statusAnswer(401) : {}
  );
  const user = { exec: { command: "sh", args: ["-c", script] } };
  await withUser(userKubeconfig(server.url, { user }), async (one) => {
    await one.request({ path: "/a" });
    await Promise.all([one.request({ path: "/b" }), one.request({ path: "/c" })]);
  });
  await Deno.remove(counter);
  const tokens = server.requests.map(({ headers }) => headers.get("authorization"));
  assert.deepEqual(tokens, ["Bearer t1", "Bearer t2", "Bearer t2", "Bearer t2"]);
});

Deno.test("connectUser() passes a plugin its variables and, where it asks, the cluster", async () => {
  await using server = serveCanned(() => ({}));
  const script =
    `printf '{"status":{"token":"%s"}}' "$(printf '%s' "$KUBERNETES_EXEC_INFO$X" | base64 -w0)"`;
  const exec = {
    ...{ command: "sh", args: ["-c", script], env: [{ name: "X", value: "!" }] },
    ...{ apiVersion: "client.authentication.k8s.io/v1", provideClusterInfo: true },
  };
  const extension = { audience: "shop" };
  await withFile("CA", async (file) => {
    const cluster = {
      "certificate-authority": file,
      "certificate-authority-data": btoa("the file takes precedence"),
      extensions: [{ name: "client.authentication.k8s.io/exec", extension }],
    };
    await withUser(userKubeconfig(server.url, { cluster, user: { exec } }), getVersion);
  });
  const token = server.requests[0]?.headers.get("authorization")?.replace("Bearer ", "") ?? "";
  const [info = ""] = atob(token).split("!");
  assert.deepEqual(JSON.parse(info), {
    kind: "ExecCredential",
    apiVersion: "client.authentication.k8s.io/v1",
    spec: {
      interactive: false,
      cluster: { server: server.url, "certificate-authority-data": btoa("CA"), config: extension },
    },
  });
});

Deno.test("connectUser() shows nothing of what a plugin prints", async () => {
  for (const output of ["secret", "{}"]) {
    const exec = { command: "sh", args: ["-c", `echo '${output}'`] };
    await withUser(userKubeconfig("http://127.0.0.1:1", { user: { exec } }), async (user) => {
      await assert.rejects(
        getVersion(user),
        (error: Error) =>
          !/secret/.test(Deno.inspect(error)) && /printed no ExecCredential/.test(error.message),
      );
    });
  }
});

Deno.test("connectUser() trusts the cluster's authority, its other name, or any server if it must", async () => {
  const [ca, key, cert] = await Promise.all(
    ["ca.crt", "server.key", "server.crt"].map((name) =>
      Deno.readTextFile(`tests/fixtures/tls/${name}`)
    ),
  );
  const server = createServer({ key, cert }, (_request, response) => response.end("{}"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const authority = { "certificate-authority-data": btoa(ca ?? "") };
  const rows: readonly (readonly [cluster: object, refused?: RegExp])[] = [
    [{}, /certificate/],
    [{ "insecure-skip-tls-verify": true }],
    [authority],
    [{ ...authority, "tls-server-name": "other.example" }, /other.example/],
  ];
  for (const [cluster, refused] of rows) {
    const answer = withUser(userKubeconfig(url, { cluster }), getVersion);
    if (refused === undefined) assert.deepEqual(await answer, {});
    else await assert.rejects(answer, { status: 0, reason: "Unreachable", message: refused });
  }
  server.close();
});

Deno.test("connectUser() takes the first of a name from the files of KUBECONFIG", async () => {
  await using server = serveCanned(() => ({ found: true }));
  const second = userKubeconfig("http://b").replace('"here"', '"there"')
    .replace('"contexts":[', '"contexts":[{"name":"there"},');
  await withFile(second, async (other) => {
    await withFile(userKubeconfig(server.url), async (path) => {
      const variables: Record<string, string> = { KUBECONFIG: `/no/such/file:${path}:${other}` };
      const user = connectUser({ program: "kubectl", env: (name) => variables[name] });
      assert.deepEqual(await getVersion(user), { found: true });
      user.close();
      assert.deepEqual(contextNames({ env: (name) => variables[name] }), ["here", "there", "here"]);
    });
  });
});

Deno.test("request() ends by its timeout or its signal, and throws the server's errors", async () => {
  const answer = Promise.withResolvers<unknown>();
  await using server = serveCanned(({ path }) =>
    path === "/late" ? answer.promise : statusAnswer(403, { reason: "Forbidden", message: "no" })
  );
  const stop = setTimeout(() => answer.resolve({}), 500);
  await withUser(userKubeconfig(server.url), async (user) => {
    await assert.rejects(user.request({ path: "/x" }), { status: 403, message: "no" });
    const late = { path: "/late", timeoutMs: 20 };
    await assert.rejects(user.request(late), { status: 0, reason: "Timeout" });
    const signal = AbortSignal.abort();
    await assert.rejects(user.request({ path: "/late", signal }), { reason: "Aborted" });
  });
  clearTimeout(stop);
  answer.resolve({});
  await withUser(userKubeconfig("http://localhost:1"), async (user) => {
    await assert.rejects(getVersion(user), { reason: "Unreachable", message: /ECONNREFUSED/ });
  });
});

Deno.test("bearerToken() is the user's own, and undefined for another login or another user", async () => {
  const rows = [
    [{ token: "own" }, "own"],
    [{ username: "me", password: "secret" }, undefined],
    [{ token: "own", as: "other" }, undefined],
  ] as const;
  for (const [user, token] of rows) {
    const kubeconfig = userKubeconfig("http://127.0.0.1:1", { user });
    assert.equal(await withUser(kubeconfig, (one) => one.bearerToken()), token);
  }
});

const directory = "tests/fixtures/service-account";

Deno.test({
  name: "connectInCluster() needs to read one directory and to reach one host, and nothing else",
  permissions: { net: ["127.0.0.1"], read: [directory] },
  async fn() {
    await using server = serveCanned(() => ({ ok: true }));
    const connection = await connectInCluster({ program: "test", server: server.url, directory });
    assert.deepEqual(await connection.request({ path: "/version" }), { ok: true });
    assert.equal(server.requests[0]?.headers.get("authorization"), "Bearer secret-token");
    connection.close();
  },
});

Deno.test("connectInCluster() fails at once outside of a pod", async () => {
  const outside = connectInCluster({ program: "test", directory: "tests/fixtures/none" });
  await assert.rejects(outside, Deno.errors.NotFound);
});

Deno.test("connectKubeconfig() connects by the file's token, and refuses what it does not understand", async () => {
  await using server = serveCanned(() => ({ ok: true }));
  const file = (user: object, cluster: object = {}): string =>
    userKubeconfig(server.url, { user, cluster });
  await withFile(file({ token: "abc" }), async (path) => {
    const connection = await connectKubeconfig({ program: "test", path });
    assert.deepEqual(await connection.request({ path: "/version" }), { ok: true });
    assert.equal(server.requests[0]?.headers.get("authorization"), "Bearer abc");
    connection.close();
  });
  const rows = [
    [file({ exec: { command: "login" } }), /has exec/],
    [file({}, { "insecure-skip-tls-verify": true }), /has insecure-skip-tls-verify/],
    ["just a text", /has no server/],
  ] as const;
  for (const [text, what] of rows) {
    await withFile(text, async (path) => {
      await assert.rejects(connectKubeconfig({ program: "test", path }), {
        name: "TypeError",
        message: what,
      });
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
    program: "test",
    server: server.url,
    clock: createVirtualClock({ wallStart: 0 }),
    login: () => Promise.resolve({}),
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
