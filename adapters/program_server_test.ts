import { pure } from "../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { healthRoutes, registerProcessMetrics, serveHTTP } from "./program_server.ts";
import { Counter, Registry } from "prom-client";

Deno.test("serveHTTP() answers at the address that it returns, until it is shut down", async () => {
  const server = serveHTTP({ fetch: () => new Response("here") }, { address: "127.0.0.1:0" });
  const answer = await fetch(`http://${server.address}/`);
  assert.equal(await answer.text(), "here");
  await server.shutdown();
  await assert.rejects(fetch(`http://${server.address}/`));
});

Deno.test("serveHTTP() answers 500 without the error's message", async () => {
  const server = serveHTTP({
    fetch() {
      throw new Error("secret");
    },
  }, { address: "127.0.0.1:0" });
  const answer = await fetch(`http://${server.address}/`);
  assert.equal(answer.status, 500);
  assert.equal(await answer.text(), "internal error\n");
  await server.shutdown();
});

Deno.test("serveHTTP() names an address that is wrong or taken", async () => {
  const app = { fetch: () => new Response("") };
  assert.throws(() => serveHTTP(app, { address: "8080" }), /listen on "8080"/);
  const server = serveHTTP(app, { address: "127.0.0.1:0" });
  const { address } = server;
  assert.throws(() => serveHTTP(app, { address }), {
    message: new RegExp(`^Cannot listen on ${address}: `),
  });
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

pure(
  "healthRoutes() serves its registry's metrics, and the process's own without permissions",
  async () => {
    const registry = new Registry();
    new Counter({ name: "things_total", help: "Things.", registers: [registry] }).inc(3);
    registerProcessMetrics(registry, { startedAtMs: 5000 });
    const app = healthRoutes({ unhealthy: () => undefined, unready: () => undefined, registry });
    const answer = await app.request("/metrics");
    assert.match(answer.headers.get("content-type") ?? "", /^text\/plain/);
    const text = await answer.text();
    assert.match(text, /^things_total 3$/m);
    assert.match(text, /^process_start_time_seconds 5$/m);
    assert.match(text, /^process_resident_memory_bytes \d{7,}$/m);
    assert.match(text, /^process_cpu_seconds_total 0?\.?\d/m);
  },
);
