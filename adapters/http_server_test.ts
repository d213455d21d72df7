import assert from "node:assert/strict";
import { serveHTTP } from "./http_server.ts";

Deno.test("serveHTTP() answers at the address that it tells, until it is shut down", async () => {
  const server = serveHTTP({ fetch: () => new Response("here") }, { address: "127.0.0.1:0" });
  const answer = await fetch(`http://${server.address}/`);
  assert.equal(await answer.text(), "here");
  await server.shutdown();
  await assert.rejects(fetch(`http://${server.address}/`));
});

Deno.test("serveHTTP() answers 500 without the error's words", async () => {
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
