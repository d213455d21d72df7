import assert from "node:assert/strict";
import { Counter, Registry } from "prom-client";
import { VERSION } from "../shared/version.ts";
import { pure } from "../tests/fixtures/pure.ts";
import {
  healthRoutes,
  type HTTPServer,
  registerProgramMetrics,
  serveHTTP,
} from "./program_server.ts";
import { systemClock } from "./system_clock.ts";
import { serveTimed } from "./timed_server.ts";

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
  for (
    const [sent, requestMs, status] of [
      ["", 60_000, 408],
      ["GET / HTTP/1.1\r\nhost: a\r\n", 60_000, 408],
      ["POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nhalf", 50, 408],
      ["GET / HTTP/1.1\r\nhost: a b\r\nconnection: close\r\n\r\n", 60_000, 400],
      ["GET / HTTP/1.1\r\nhost: a/b?\r\nconnection: close\r\n\r\n", 60_000, 400],
    ] as const
  ) {
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

Deno.test("serveTimed() closes the connection of a client that does not read its response", async () => {
  const cancelled = Promise.withResolvers<string>();
  const server = await serveTimed({
    fetch: () =>
      new Response(
        new ReadableStream({
          pull: (part) => part.enqueue(ZEROS),
          cancel: () => cancelled.resolve("cancelled"),
        }),
      ),
  }, { address: "127.0.0.1:0", idleMs: 200 });
  using _slow = await connected(server, "GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  assert.equal(await inTime(cancelled.promise), "cancelled");
  await server.shutdown();
});

Deno.test("serveTimed() ends the stream that a HEAD asks for", async () => {
  const cancelled = Promise.withResolvers<string>();
  const server = await serveTimed({
    fetch: () => new Response(new ReadableStream({ cancel: () => cancelled.resolve("cancelled") })),
  }, { address: "127.0.0.1:0" });
  await (await fetch(`http://${server.address}/`, { method: "HEAD" })).text();
  assert.equal(await inTime(cancelled.promise), "cancelled");
  await server.shutdown();
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
