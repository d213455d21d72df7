import assert from "node:assert/strict";
import { ApiError } from "../../../shared/api/api_error.ts";
import {
  sentRequest,
  serveCanned,
  statusAnswer,
  streamAnswer,
} from "../../../tests/fixtures/canned_server.ts";
import { lateRequest } from "../../../tests/fixtures/kube_connections.ts";
import { VERSION } from "../../../shared/version.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { createAccessReviews } from "./api_checks.ts";
import type { KubeConnection, KubeRequest, OpenKubeConnection } from "./connection.ts";
import { createHTTPConnection } from "./http_connection.ts";
import { type ObservedRequest, verbAndResource } from "./observed_request.ts";
import { responseError, statusError } from "./response_errors.ts";
import { environmentProxy } from "./environment_proxy.ts";

/** The error of a call; it must be an `ApiError`, and never contain the token. */
async function refusalOf(call: Promise<unknown>): Promise<ApiError> {
  const error = await call.then(() => assert.fail("it was not refused"), (error: unknown) => error);
  assert.ok(error instanceof ApiError, String(error));
  assert.ok(!/secret/.test(`${error.message} ${String(error.cause)}`), error.message);
  return error;
}

async function collect(lines: AsyncIterable<unknown>): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const line of lines) values.push(line);
  return values;
}

Deno.test("request() sends method, query, body and type, and reads the answer", async () => {
  await using server = serveCanned(() => ({ metadata: { name: "a" } }));
  const answer = await server.connection.request({
    method: "PATCH",
    path: "/api/v1/nodes/a%20b",
    query: { fieldManager: "mbcas" },
    contentType: "application/merge-patch+json",
    body: { spec: 1 },
  });
  assert.deepEqual(answer, { metadata: { name: "a" } });
  const [request = assert.fail("nothing was sent")] = server.requests;
  assert.deepEqual(sentRequest(request), {
    to: "PATCH /api/v1/nodes/a%20b",
    ...{ query: { fieldManager: "mbcas" }, body: { spec: 1 }, type: "merge" },
  });
  assert.equal(request.headers.get("content-type"), "application/merge-patch+json");
  assert.equal(request.headers.get("authorization"), "Bearer secret-0");
  assert.equal(request.headers.get("user-agent"), `coallocator-test/${VERSION}`);
});

Deno.test("request() throws the server's refusal with reason, causes and waiting time", async () => {
  const message = 'pods "a" is forbidden: node didn\'t have enough allocatable resources: cpu';
  const causes = { details: { causes: [{ reason: "NodeCapacity" }] } };
  const busy = { reason: "TooManyRequests", details: { retryAfterSeconds: 3 } };
  const later = { status: 503, headers: { "retry-after": "7" } };
  const rows: readonly (readonly [answer: Response, expected: Partial<ApiError>])[] = [
    [
      statusAnswer(403, { reason: "Forbidden", message, ...causes }),
      { status: 403, reason: "Forbidden", causes: ["NodeCapacity"], message },
    ],
    [statusAnswer(429, busy), { status: 429, retryAfterMs: 3000 }],
    [
      new Response("<h1>Bad  gateway</h1>", { status: 502 }),
      { status: 502, reason: "", message: "<h1>Bad gateway</h1>" },
    ],
    [new Response("later", later), {
      status: 503,
      reason: "ServiceUnavailable",
      retryAfterMs: 7000,
    }],
  ];
  for (const [answer, expected] of rows) {
    await using server = serveCanned(() => answer);
    const refusal = await refusalOf(server.connection.request({ path: "/" }));
    for (const [name, value] of Object.entries(expected)) {
      assert.deepEqual(refusal[name as keyof ApiError], value, name);
    }
  }
});

Deno.test("request() logs in again once when its token is refused", async () => {
  await using server = serveCanned(({ headers, path }) =>
    path === "/never" || headers.get("authorization") === "Bearer secret-0"
      ? statusAnswer(401, { reason: "Unauthorized" })
      : { ok: true }
  );
  assert.deepEqual(await server.connection.request({ path: "/" }), { ok: true });
  assert.equal((await refusalOf(server.connection.request({ path: "/never" }))).status, 401);
  assert.equal(server.requests.length, 4);
});

Deno.test("request() gives up after its time, and when it is aborted", async () => {
  const never = Promise.withResolvers<Response>();
  const stop = new AbortController();
  await using server = serveCanned(({ path }) => {
    if (path === "/abort") stop.abort();
    return never.promise;
  });
  const { connection } = server;
  const late = await refusalOf(connection.request({ path: "/late", timeoutMs: 20 }));
  assert.deepEqual([late.status, late.reason], [0, "Timeout"]);
  const aborted = await refusalOf(connection.request({ path: "/abort", signal: stop.signal }));
  assert.deepEqual([aborted.status, aborted.reason], [0, "Aborted"]);
  const before = await refusalOf(connection.request({ path: "/x", signal: stop.signal }));
  assert.equal(before.reason, "Aborted");
  never.resolve(new Response());
});

Deno.test("request() has status 0 when no server listens or the response is no JSON", async () => {
  let connection: KubeConnection | undefined;
  {
    await using server = serveCanned(() => new Response("<html>"));
    connection = server.connection;
    const html = await refusalOf(connection.request({ path: "/" }));
    assert.deepEqual([html.status, html.reason], [0, "BadAnswer"]);
  }
  const refused = await refusalOf(connection.request({ path: "/" }));
  assert.deepEqual([refused.status, refused.reason], [0, "Unreachable"]);
  assert.match(refused.message, /^GET \/: client error \(Connect\)/);
});

Deno.test("request() keeps its pool of connections until the server can't be reached", async () => {
  let opened = 0;
  await using server = serveCanned(() => ({ ok: true }));
  const connect = (url: string): OpenKubeConnection =>
    createHTTPConnection({
      program: "test",
      server: url,
      login: () => Promise.resolve({}),
      openClient() {
        opened++;
        if (opened === 2) return Promise.reject(new TypeError("the CA can't be read"));
        return Promise.resolve(Deno.createHttpClient({}));
      },
    });
  const lost = connect("http://127.0.0.1:1");
  for (let time = 1; time <= 3; time++) {
    assert.equal((await refusalOf(lost.request({ path: "/" }))).reason, "Unreachable");
    assert.equal(opened, time);
  }
  const reached = connect(server.url);
  for (let time = 0; time < 3; time++) await reached.request({ path: "/" });
  assert.equal(opened, 4);
  lost.close();
  reached.close();
});

Deno.test("lines() gives one value a line, however the bytes are cut", async () => {
  const bytes = new TextEncoder().encode('{"a":"é€😀"}\n\n{"a":2}\n');
  await using server = serveCanned(() =>
    streamAnswer([...bytes].map((byte) => Uint8Array.of(byte)))
  );
  const values = await collect(server.connection.lines({ path: "/" }));
  assert.deepEqual(values, [{ a: "é€😀" }, { a: 2 }]);
});

Deno.test("lines() throws when the stream ends within a line or holds no JSON", async () => {
  await using server = serveCanned(({ path }) =>
    streamAnswer(path === "/cut" ? ['{"a":1}\n{"a"'] : ["<html>\n"])
  );
  const cut = await refusalOf(collect(server.connection.lines({ path: "/cut" })));
  assert.deepEqual([cut.status, cut.reason], [0, "Broken"]);
  const html = await refusalOf(collect(server.connection.lines({ path: "/html" })));
  assert.equal(html.reason, "BadAnswer");
});

Deno.test("lines() throws when the server refuses, and when it falls silent", async () => {
  await using server = serveCanned(({ path }) =>
    path === "/gone"
      ? statusAnswer(410, { reason: "Expired", message: "too old resource version" })
      : streamAnswer(['{"a":1}\n'], { open: true })
  );
  const gone = await refusalOf(collect(server.connection.lines({ path: "/gone" })));
  assert.deepEqual([gone.status, gone.reason], [410, "Expired"]);
  const seen: unknown[] = [];
  const silent = await refusalOf((async () => {
    for await (const line of server.connection.lines({ path: "/", timeoutMs: 100 })) {
      seen.push(line);
    }
  })());
  assert.deepEqual([silent.status, silent.reason, seen], [0, "Timeout", [{ a: 1 }]]);
});

Deno.test("lines() ends without an error when it is aborted, and when its reader leaves", async () => {
  await using server = serveCanned(() => streamAnswer(['{"a":1}\n'], { open: true }));
  const stop = new AbortController();
  const seen: unknown[] = [];
  for await (const line of server.connection.lines({ path: "/", signal: stop.signal })) {
    seen.push(line);
    stop.abort();
  }
  for await (const line of server.connection.lines({ path: "/" })) {
    seen.push(line);
    break;
  }
  assert.deepEqual(await collect(server.connection.lines({ path: "/", signal: stop.signal })), []);
  assert.equal(seen.length, 2);
});

Deno.test("lines() throws once a request shows that its connections lead nowhere", async () => {
  const { next, close } = await lateRequest(10);
  try {
    const message = /^GET \/watch: .* connection /;
    await assert.rejects(next, { status: 0, reason: "Broken", message });
  } finally {
    await close();
  }
});

Deno.test("lines() goes on when a request is late while others are answered", async () => {
  const { next, say, close } = await lateRequest(9);
  try {
    say(2);
    assert.deepEqual(await next, { done: false, value: { a: 2 } });
  } finally {
    await close();
  }
});

Deno.test("responseError() reads Retry-After as seconds or as a date, and waits for a minute at most", () => {
  const nowMs = Date.UTC(2026, 0, 1);
  const rows: readonly (readonly [retryAfter: string, waitMs: number | undefined])[] = [
    ["30", 30_000],
    ["Thu, 01 Jan 2026 00:00:05 GMT", 5000],
    ["Wed, 31 Dec 2025 00:00:00 GMT", undefined],
    ["soon", undefined],
    ["86400", 60_000],
    ["9".repeat(310), 60_000],
    ["Fri, 31 Dec 9999 23:59:59 GMT", 60_000],
  ];
  for (const [retryAfter, waitMs] of rows) {
    const { retryAfterMs } = responseError({ status: 429, text: "", retryAfter }, nowMs);
    assert.equal(retryAfterMs, waitMs, retryAfter);
  }
  const text = '{"kind":"Status","details":{"retryAfterSeconds":1e300}}';
  assert.equal(responseError({ status: 503, text }, nowMs).retryAfterMs, 60_000);
  assert.equal(
    responseError({ status: 429, text: "" }, nowMs).message,
    "the server answered 429 without a message",
  );
});

Deno.test("statusError() has a status whatever the object is", () => {
  assert.deepEqual([statusError({}).status, statusError({}).reason], [500, "InternalError"]);
  assert.equal(statusError({ code: 410, reason: "Expired" }).status, 410);
  assert.equal(statusError(undefined).causes.length, 0);
});

pure("verbAndResource() are those of RBAC", () => {
  const shop = "/api/v1/namespaces/shop";
  const ours = "/apis/allocation.mbcas.io/v1alpha1";
  const own = `${ours}/namespaces/shop/podallocations`;
  const rows: readonly (readonly [KubeRequest, verb: string, resource: string])[] = [
    [{ path: "/api/v1/pods" }, "list", "pods"],
    [{ path: "/api/v1/pods", query: { watch: "true" } }, "watch", "pods"],
    [{ path: "/api/v1/namespaces" }, "list", "namespaces"],
    [{ path: shop }, "get", "namespaces"],
    [{ path: `${shop}/pods` }, "list", "pods"],
    [{ path: `${shop}/pods/web/resize`, method: "PATCH" }, "patch", "pods/resize"],
    [{ path: own, method: "POST" }, "create", "podallocations"],
    [{ path: `${own}/a`, method: "DELETE" }, "delete", "podallocations"],
    [{ path: `${own}/a/status`, method: "PUT" }, "update", "podallocations/status"],
    [{ path: ours }, "get", "none"],
    [{ path: "/version" }, "get", "none"],
  ];
  for (const [request, verb, resource] of rows) {
    assert.deepEqual(verbAndResource(request), { verb, resource }, request.path);
  }
});

Deno.test("createHTTPConnection() observes each request with the status of its response", async () => {
  const seen: ObservedRequest[] = [];
  await using server = serveCanned(
    ({ path }) =>
      path.endsWith("gone") ? statusAnswer(404, { reason: "NotFound" }) : new Response("{}\n"),
    { observe: (request) => void seen.push(request) },
  );
  const { connection } = server;
  await connection.request({ path: "/api/v1/nodes/a" });
  await connection.request({ path: "/api/v1/nodes/gone" }).catch(() => {});
  await connection.request({ path: "/api/v1/nodes/a", signal: AbortSignal.abort() }).catch(
    () => {},
  );
  for await (const _ of connection.lines({ path: "/api/v1/pods", query: { watch: "true" } }));
  assert.deepEqual(
    seen.map(({ verb, resource, status }) => [verb, resource, status]),
    [["get", "nodes", 200], ["get", "nodes", 404], ["get", "nodes", 0], ["watch", "pods", 200]],
  );
  assert.ok(seen.every(({ tookMs }) => tookMs >= 0));
});

const USER = { username: "u", uid: "1", groups: ["g"], extra: { "a/b": ["c"] } };
const RULE = { verb: "list", group: "", resource: "pods", namespace: "shop" };

Deno.test("createAccessReviews() asks for a token's user, and for a right of this user with all groups", async () => {
  const bodies: unknown[] = [];
  await using server = serveCanned(({ path, body }) => {
    bodies.push(body);
    const { spec: { token = "" } } = body as { spec: { token?: string } };
    return path.endsWith("/tokenreviews")
      ? { status: token === "good" ? { authenticated: true, user: USER } : { error: "expired" } }
      : { status: { allowed: true } };
  });
  const { userOf, isAllowed } = createAccessReviews(server.connection);
  assert.deepEqual(await userOf("good"), USER);
  assert.equal(await userOf("bad"), undefined);
  assert.equal(await isAllowed(USER, RULE), true);
  const { username: user, ...rest } = USER;
  assert.deepEqual(bodies.at(-1), {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    spec: { user, ...rest, resourceAttributes: RULE },
  });
});

Deno.test("createAccessReviews() takes a refusal for an error, and no answer for no permission", async () => {
  await using server = serveCanned(() => statusAnswer(403));
  const { userOf, isAllowed } = createAccessReviews(server.connection);
  await assert.rejects(userOf("good"), { status: 403 });
  await assert.rejects(isAllowed(USER, RULE), { status: 403 });
});

const PROXY = "http://proxy:3128";

/** The proxy of a server, of `https://api.example.com:6443` by default. */
function proxyOf(
  variables: Readonly<Record<string, string>>,
  server = "https://api.example.com:6443",
): string | undefined {
  return environmentProxy(server, (name) => variables[name]);
}

Deno.test("environmentProxy() reads the variable of the server's protocol", () => {
  const both = { HTTPS_PROXY: PROXY, HTTP_PROXY: "socks5://other" };
  assert.equal(proxyOf(both), PROXY);
  assert.equal(proxyOf(both, "http://api.example.com"), "socks5://other");
  assert.equal(proxyOf({ https_proxy: PROXY }), PROXY);
  assert.equal(proxyOf({ HTTPS_PROXY: "proxy:3128" }), PROXY);
  assert.equal(proxyOf({ HTTP_PROXY: PROXY }), undefined);
  assert.equal(proxyOf({}), undefined);
  assert.equal(proxyOf(both, "not an address"), undefined);
});

Deno.test("environmentProxy() connects directly to localhost, and where NO_PROXY matches", () => {
  for (const host of ["localhost", "127.0.0.1", "127.3.2.1", "[::1]"]) {
    assert.equal(proxyOf({ HTTPS_PROXY: PROXY }, `https://${host}:6443`), undefined, host);
  }
  const rows: readonly (readonly [terms: string, server: string, direct: boolean])[] = [
    ["example.com", "https://api.example.com:6443", true],
    ["EXAMPLE.com", "https://api.example.com:6443", true],
    ["example.com", "https://api.example.com.", true],
    ["example.com", "https://example.com", true],
    ["example.com", "https://badexample.com", false],
    [".example.com", "https://api.example.com", true],
    ["*.example.com", "https://api.example.com", true],
    [".example.com", "https://example.com", false],
    ["api.example.com:6443", "https://api.example.com:6443", true],
    ["api.example.com:443", "https://api.example.com", true],
    ["api.example.com:443", "https://api.example.com:6443", false],
    ["*", "https://api.example.com", true],
    ["one, 10.1.2.3", "https://10.1.2.3:6443", true],
    ["2.3", "https://10.1.2.3:6443", false],
    ["10.1.2.3:6443", "https://10.1.2.3:6443", true],
    ["10.1.2.3:443", "https://10.1.2.3:6443", false],
    ["10.0.0.0/8", "https://10.1.2.3:6443", true],
    ["10.0.0.0/8", "https://11.1.2.3:6443", false],
    ["10.0.0.0/99", "https://10.1.2.3:6443", false],
    ["10.0.0.0/8", "https://[fd00::1]:6443", false],
    ["fd00::/8", "https://[fd00::1]:6443", true],
    ["fd00::1", "https://[fd00::1]:6443", true],
    ["[fd00::1]:6443", "https://[fd00::1]:6443", true],
    ["[fd00::1]:443", "https://[fd00::1]:6443", false],
    [" ,", "https://api.example.com", false],
  ];
  for (const [NO_PROXY, server, direct] of rows) {
    const expected = direct ? undefined : PROXY;
    assert.equal(proxyOf({ HTTPS_PROXY: PROXY, NO_PROXY }, server), expected, NO_PROXY + server);
  }
  assert.equal(proxyOf({ HTTPS_PROXY: PROXY, no_proxy: "example.com" }), undefined);
});
