/** What becomes of open streams when a request over the same connections has no answer. */
import assert from "node:assert/strict";
import { createVirtualClock } from "../../simulation/virtual_clock.ts";
import { serveCanned } from "../../tests/fixtures/canned_server.ts";
import { createHTTPConnection } from "./http_connection.ts";

/** A stream that has told its first line, a request that is late, and time that the test sets. */
async function lateRequest(silentMs: number): Promise<{
  readonly next: Promise<IteratorResult<unknown>>;
  /** The server says `{"a": value}` on the stream. */
  readonly say: (value: number) => void;
  readonly close: () => Promise<void>;
}> {
  const never = Promise.withResolvers<Response>();
  const lines = new TransformStream<Uint8Array<ArrayBuffer>>();
  const writer = lines.writable.getWriter();
  // Rejects when the stream is cancelled, which some tests want.
  const say = (value: number): void =>
    void writer.write(new TextEncoder().encode(`{"a":${value}}\n`)).catch(() => {});
  writer.closed.catch(() => {});
  const server = serveCanned(({ path }) =>
    path === "/late" ? never.promise : new Response(lines.readable)
  );
  say(1);
  const clock = createVirtualClock({ wallStart: 0 });
  const connection = createHTTPConnection({
    server: server.url,
    login: () => Promise.resolve({ headers: {} }),
    openClient: () => Promise.resolve(Deno.createHttpClient({})),
    clock,
  });
  const stop = new AbortController();
  const stream = connection.lines({ path: "/watch", signal: stop.signal })[Symbol.asyncIterator]();
  assert.deepEqual(await stream.next(), { done: false, value: { a: 1 } });
  const next = stream.next();
  await clock.runUntil(silentMs);
  await assert.rejects(connection.request({ path: "/late", timeoutMs: 20 }), { reason: "Timeout" });
  return {
    next,
    say,
    async close() {
      stop.abort();
      await next.catch(() => {});
      connection.close();
      never.resolve(new Response());
      await server[Symbol.asyncDispose]();
    },
  };
}

Deno.test("lines() throws once a request shows that its connections lead nowhere", async () => {
  const { next, close } = await lateRequest(10);
  try {
    await assert.rejects(next, {
      status: 0,
      reason: "Broken",
      message: "GET /watch: Cannot read the stream: its connection leads nowhere",
    });
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
