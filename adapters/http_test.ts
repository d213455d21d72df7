import assert from "node:assert/strict";
import { Counter, Registry } from "prom-client";
import { createVirtualClock } from "../lab/simulation/virtual_clock.ts";
import { counter, gauge, histogram } from "../shared/metrics/metric.ts";
import { VERSION } from "../shared/version.ts";
import { serveCanned } from "../tests/fixtures/canned_server.ts";
import { pure } from "../tests/fixtures/pure.ts";
import { boundedFetch } from "./bounded_fetch.ts";
import { createHTTPLogin, createTokenReader, type HTTPLogin } from "./http_login.ts";
import {
  healthRoutes,
  type HTTPServer,
  registerProgramMetrics,
  serveHTTP,
} from "./program_server.ts";
import { registerMetrics, registerScraped, type Series } from "./registered_metrics.ts";
import { systemClock } from "./system_clock.ts";
import { serveTimed } from "./timed_server.ts";

const NEVER = new AbortController().signal;
const clock = createVirtualClock({ wallStart: 0 });
const TLS = "tests/fixtures/tls";

/** Both servers keep to the same. */
const SERVERS = { serveHTTP, serveTimed };

for (const [name, serve] of Object.entries(SERVERS)) {
  Deno.test(`${name}() answers at the address that it returns, until it is shut down`, async () => {
    const server = await serve({ fetch: () => new Response("here") }, { address: "127.0.0.1:0" });
    const answer = await fetch(`http://${server.address}/`);
    assert.equal(await answer.text(), "here");
    await server.shutdown();
    await assert.rejects(fetch(`http://${server.address}/`));
  });

  Deno.test(`${name}() answers 500 without the error's message`, async () => {
    const server = await serve({
      fetch() {
        throw new Error("secret");
      },
    }, { address: "127.0.0.1:0" });
    const answer = await fetch(`http://${server.address}/`);
    assert.equal(answer.status, 500);
    assert.equal(await answer.text(), "internal error\n");
    await server.shutdown();
  });

  Deno.test(`${name}() names an address that is wrong or taken`, async () => {
    const app = { fetch: () => new Response("") };
    const serveAt = async (address: string) => await serve(app, { address });
    await assert.rejects(serveAt("8080"), /listen on "8080"/);
    const server = await serveAt("127.0.0.1:0");
    const { address } = server;
    await assert.rejects(serveAt(address), {
      message: new RegExp(`^Cannot listen on ${address}: `),
    });
    await server.shutdown();
  });

  Deno.test({
    name: `${name}() shuts down while clients send no request, or do not read their responses`,
    // The server that is given up keeps its sockets until its clients leave.
    sanitizeOps: false,
    sanitizeResources: false,
    async fn() {
      const stream = () =>
        new Response(new ReadableStream({ pull: (part) => part.enqueue(ZEROS) }));
      const server = await serve({ fetch: stream }, { address: "127.0.0.1:0" });
      using _silent = await connected(server, "");
      using _half = await connected(server, "GET / HT");
      using _slow = await connected(server, "GET / HTTP/1.1\r\nhost: a\r\n\r\n");
      await systemClock.sleep(50);
      assert.equal(await inTime(server.shutdown().then(() => "down")), "down");
    },
  });
}

const ZEROS = new Uint8Array(65_536);

async function connected(server: HTTPServer, sent: string): Promise<Deno.TcpConn> {
  const { hostname, port } = new URL(`http://${server.address}`);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  await connection.write(new TextEncoder().encode(sent));
  return connection;
}

/** `late` after ten seconds. */
async function inTime(result: Promise<string>): Promise<string> {
  const found = new AbortController();
  const late = systemClock.sleep(10_000, found.signal).then(() => "late");
  return await Promise.race([result, late]).finally(() => found.abort());
}

Deno.test("serveTimed() forwards requests and answers as they are, a stream until its client leaves", async () => {
  const cancelled = Promise.withResolvers<void>();
  const server = await serveTimed({
    async fetch(request) {
      const { method, url, headers } = request;
      const { pathname } = new URL(url);
      if (pathname === "/stream") {
        const first = new TextEncoder().encode("first");
        return new Response(
          new ReadableStream({
            start: (controller) => controller.enqueue(first),
            cancel: cancelled.resolve,
          }),
        );
      }
      const answer = new Response(
        `${method} ${url} ${headers.get("cookie")} ${await request.text()}`,
        { status: 201 },
      );
      for (const cookie of ["a=1", "b=2"]) answer.headers.append("set-cookie", cookie);
      return answer;
    },
  }, { address: "127.0.0.1:0" });
  const url = `http://${server.address}/path?q=1`;
  const response = await fetch(url, { method: "POST", body: "body", headers: { cookie: "c=3" } });
  assert.deepEqual(
    [response.status, response.headers.getSetCookie(), await response.text()],
    [201, ["a=1", "b=2"], `POST ${url} c=3 body`],
  );
  const head = await fetch(url, { method: "HEAD" });
  assert.deepEqual([head.status, await head.text()], [201, ""]);
  const stream = (await fetch(`http://${server.address}/stream`)).body?.getReader();
  assert.equal(new TextDecoder().decode((await stream?.read())?.value), "first");
  await stream?.cancel();
  await cancelled.promise;
  await server.shutdown();
});

Deno.test("serveTimed() closes connections with requests that do not come, or are none", async () => {
  const rows = [
    ["", 60_000, 408],
    ["GET / HTTP/1.1\r\nhost: a\r\n", 60_000, 408],
    ["POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nhalf", 50, 408],
    ["GET / HTTP/1.1\r\nhost: a b\r\nconnection: close\r\n\r\n", 60_000, 400],
    ["GET / HTTP/1.1\r\nhost: a/b?\r\nconnection: close\r\n\r\n", 60_000, 400],
  ] as const;
  for (const [sent, requestMs, status] of rows) {
    const server = await serveTimed(
      { fetch: async (request) => new Response(await request.text()) },
      { address: "127.0.0.1:0", headersMs: 50, requestMs },
    );
    using connection = await connected(server, sent);
    // Ends when the server closes the connection.
    const text = await inTime(new Response(connection.readable).text());
    assert.match(text, new RegExp(`^HTTP/1.1 ${status} `), sent);
    await server.shutdown();
  }
});

Deno.test("serveTimed() ends the stream of a client that does not read its response, or asks for its head", async () => {
  for (const method of ["GET", "HEAD"]) {
    const { promise, resolve } = Promise.withResolvers<string>();
    const stream: UnderlyingDefaultSource = {
      pull: (part) => part.enqueue(ZEROS),
      cancel: () => resolve("cancelled"),
    };
    const server = await serveTimed({
      fetch: () => new Response(new ReadableStream(stream)),
    }, { address: "127.0.0.1:0", idleMs: method === "GET" ? 200 : 60_000 });
    using _client = await connected(
      server,
      `${method} / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`,
    );
    assert.equal(await inTime(promise), "cancelled", method);
    await server.shutdown();
  }
});

pure("healthRoutes() answers 200, or 503 with the reason", async () => {
  let unready: string | undefined = "NotSynced";
  const app = healthRoutes({
    unhealthy: () => undefined,
    unready: () => unready,
    registry: new Registry(),
  });
  const readyz = await app.request("/readyz");
  assert.deepEqual([readyz.status, await readyz.text()], [503, "NotSynced\n"]);
  assert.equal((await app.request("/healthz")).status, 200);
  unready = undefined;
  assert.equal((await app.request("/readyz")).status, 200);
  assert.equal((await app.request("/other")).status, 404);
});

pure("healthRoutes() serves its registry's metrics, and the process's own", async () => {
  const registry = new Registry();
  new Counter({ name: "things_total", help: "Things.", registers: [registry] }).inc(3);
  const observe = registerProgramMetrics(registry, { program: "agent", startedAtMs: 5000 });
  const resize = { verb: "patch", resource: "pods/resize", tookMs: 20 };
  observe({ ...resize, status: 200 });
  observe({ ...resize, status: 0 });
  observe({ verb: "watch", resource: "pods", status: 200, tookMs: 9 });
  const app = healthRoutes({ unhealthy: () => undefined, unready: () => undefined, registry });
  const answer = await app.request("/metrics");
  assert.match(answer.headers.get("content-type") ?? "", /^text\/plain/);
  const text = await answer.text();
  assert.match(text, /^things_total 3$/m);
  const build = `program="agent",version="${VERSION}",deno="${Deno.version.deno}"`;
  const requests = "mbcas_api_requests_total";
  for (
    const line of [
      `coallocator_build_info{${build}} 1`,
      "process_start_time_seconds 5",
      `${requests}{verb="patch",resource="pods/resize",code="200"} 1`,
      `${requests}{verb="patch",resource="pods/resize",code="error"} 1`,
      `${requests}{verb="watch",resource="pods",code="200"} 1`,
    ]
  ) assert.ok(text.includes(`\n${line}\n`), line);
  assert.deepEqual(text.match(/^mbcas_api_request_duration_seconds_count.*$/gm), [
    'mbcas_api_request_duration_seconds_count{verb="patch"} 2',
  ]);
  assert.match(text, /^process_resident_memory_bytes \d{7,}$/m);
  assert.match(text, /^process_cpu_seconds_total 0?\.?\d/m);
});

/** A folder with these files, for the length of a test. */
async function withFiles(
  files: Readonly<Record<string, string>>,
  check: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    for (const [name, text] of Object.entries(files)) {
      await Deno.writeTextFile(`${folder}/${name}`, text);
    }
    await check(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function ask(url: string, login: HTTPLogin) {
  const answer = await boundedFetch(
    { program: "test", url, login, timeoutMs: 5000, maxBytes: 1000 },
    NEVER,
  );
  login.close();
  return answer;
}

Deno.test("createHTTPLogin() sends a token, or user and password in UTF-8, from files", async () => {
  await withFiles({ token: "t0ken\n", password: "pässword\n" }, async (folder) => {
    await using server = serveCanned(() => ({}));
    await ask(server.url, createHTTPLogin({ tokenFile: `${folder}/token` }, { clock }));
    const user = { name: "reader", passwordFile: `${folder}/password` };
    await ask(server.url, createHTTPLogin({ user }, { clock }));
    await ask(server.url, createHTTPLogin({}, { clock }));
    assert.deepEqual(
      server.requests.map(({ headers }) => headers.get("authorization")),
      ["Bearer t0ken", "Basic cmVhZGVyOnDDpHNzd29yZA==", null],
    );
  });
});

Deno.test("boundedFetch() reads the login anew, once, when it is refused", async () => {
  await withFiles({ token: "old" }, async (folder) => {
    const login = createHTTPLogin({ tokenFile: `${folder}/token` }, { clock });
    await login.parts({ refresh: false });
    await Deno.writeTextFile(`${folder}/token`, "new");
    let valid = "new";
    await using server = serveCanned(({ headers }) =>
      headers.get("authorization") === `Bearer ${valid}` ? {} : new Response("no", { status: 401 })
    );
    const answer = await ask(server.url, login);
    assert.equal("status" in answer && answer.status, 200);
    valid = "other";
    const refused = await ask(server.url, login);
    assert.equal("status" in refused && refused.status, 401);
    assert.equal(server.requests.length, 4);
  });
});

Deno.test("boundedFetch() wants answers as they are, and reads packed ones, too", async () => {
  const packed = new Response("[1,2]").body?.pipeThrough(new CompressionStream("gzip")) ?? null;
  await using server = serveCanned(() =>
    new Response(packed, { headers: { "content-encoding": "gzip" } })
  );
  const answer = await ask(server.url, createHTTPLogin({}, { clock }));
  assert.equal("text" in answer && answer.text, "[1,2]");
  const headers = server.requests[0]?.headers;
  assert.equal(headers?.get("accept-encoding"), "identity");
  assert.equal(headers?.get("user-agent"), `coallocator-test/${VERSION}`);
});

Deno.test("createHTTPLogin() names a file that is of no use, and shows nothing of it", async () => {
  await withFiles({ token: "hunter2\nhunter2", empty: "", ca: "hunter2" }, async (folder) => {
    await using server = serveCanned(() => ({}));
    const files = [
      ...["token", "empty", "none"].map((name) => ({ tokenFile: `${folder}/${name}` })),
      { caFile: `${folder}/ca` },
    ];
    for (const one of files) {
      const answer = await ask(server.url, createHTTPLogin(one, { clock }));
      assert.ok("failed" in answer && answer.failed.includes(Object.values(one)[0] ?? ""));
      assert.ok(!answer.failed.includes("hunter2"));
    }
    assert.deepEqual(server.requests, []);
  });
});

Deno.test("createHTTPLogin() trusts a server by the authorities of its file, and no other way", async () => {
  const cert = await Deno.readTextFile(`${TLS}/server.crt`);
  const key = await Deno.readTextFile(`${TLS}/server.key`);
  const address = { hostname: "127.0.0.1", port: 0, onListen() {} };
  await using server = Deno.serve({ ...address, cert, key }, () => Response.json({}));
  const url = `https://127.0.0.1:${server.addr.port}`;
  const trusted = await ask(url, createHTTPLogin({ caFile: `${TLS}/ca.crt` }, { clock }));
  assert.equal("status" in trusted && trusted.status, 200);
  const unknown = await ask(url, createHTTPLogin({}, { clock }));
  assert.match("failed" in unknown ? unknown.failed : "", /certificate/);
});

Deno.test("createTokenReader() reads anew after a minute and on demand, and survives a gap", async () => {
  await withFiles({ token: "one\n" }, async (folder) => {
    const path = `${folder}/token`;
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
  });
});

const linesOf = async (registry: Registry): Promise<readonly string[]> =>
  (await registry.metrics()).split("\n").filter((line) =>
    line !== "" && !line.startsWith("# HELP")
  );

pure("registerMetrics() serves the series of a metric under its alias, too", async () => {
  const registry = new Registry();
  const { moves, waits } = registerMetrics(registry, {
    moves: counter("moves_total", { help: "Moves.", labels: ["kind"], alias: "old_moves_total" }),
    waits: histogram("waits_seconds", {
      help: "Waits.",
      buckets: [1],
      labels: ["kind"],
      alias: "old_waits_seconds",
    }),
  });
  moves.inc({ kind: "a" }, 2);
  waits.observe({ kind: "a" }, 0.5);
  const lines = await linesOf(registry);
  const served = lines.filter((line) => !line.includes("old_"));
  assert.ok(served.includes('moves_total{kind="a"} 2') && served.length === 7, served.join("\n"));
  const renamed = lines.filter((line) => line.includes("old_"));
  assert.deepEqual(renamed.map((line) => line.replace("old_", "")).sort(), served.toSorted());
  moves.remove({ kind: "a" });
  assert.ok(!(await linesOf(registry)).some((line) => line.includes("moves_total{")));
});

pure("registerScraped() serves the series of the moment, or none", async () => {
  const registry = new Registry();
  let series: readonly Series[] = [];
  registerScraped(registry, {
    metric: gauge("pods", { help: "Pods.", labels: ["phase"] }),
    series: () => series,
  });
  registerScraped(registry, {
    metric: gauge("size", { help: "Size." }),
    series: () => series.slice(0, 1).map(([, n]) => [{}, n]),
  });
  const values = async () => (await linesOf(registry)).filter((line) => !line.startsWith("#"));
  assert.deepEqual(await values(), []);
  series = [[{ phase: "a" }, 1], [{ phase: "a" }, 1], [{ phase: "b" }, 1]];
  assert.deepEqual(await values(), ['pods{phase="a"} 2', 'pods{phase="b"} 1', "size 1"]);
  series = [];
  assert.deepEqual(await values(), []);
});
