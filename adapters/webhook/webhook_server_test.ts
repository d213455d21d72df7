import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type CertificateChain,
  certificateChain,
  createWebhookClient,
  SERVICE_NAME,
  type WebhookClientOptions,
} from "../../tests/fixtures/webhook/webhook_client.ts";
import type { PostApp } from "./admission_routes.ts";
import {
  type BodyReader,
  createBodyReader,
  type ReadBody,
  serveWebhook,
  type ServeWebhookOptions,
  type WebhookServer,
} from "./webhook_server.ts";

const chain = (name: string): Promise<CertificateChain> => certificateChain(name, Date.now());

const ECHO: PostApp = {
  answer: ({ body }) => Promise.resolve({ status: 200, text: new TextDecoder().decode(body) }),
};

async function serve(
  app: PostApp,
  { serving }: CertificateChain,
  options: Partial<ServeWebhookOptions> = {},
): Promise<WebhookServer> {
  return await serveWebhook(app, { address: "127.0.0.1:0", certificate: serving, ...options });
}

function client(
  { address }: WebhookServer,
  chains: readonly CertificateChain[],
  options: Partial<WebhookClientOptions> = {},
) {
  const bundle = chains.map(({ authority }) => authority.cert).join("");
  return createWebhookClient({ address, bundle, serverName: SERVICE_NAME, ...options });
}

/** A connection without TLS. */
function connected({ address }: WebhookServer): Promise<Deno.TcpConn> {
  const [hostname = "", port] = address.split(":");
  return Deno.connect({ hostname, port: Number(port) });
}

/** An app that answers with this text once it is let to. */
function waitingApp(text: string) {
  const begun = Promise.withResolvers<void>();
  const { promise, resolve: release } = Promise.withResolvers<void>();
  const app: PostApp = {
    async answer() {
      begun.resolve();
      await promise;
      return { status: 200, text };
    },
  };
  return { app, begun: begun.promise, release };
}

Deno.test("serveWebhook() answers clients that trust its authority, by TLS 1.2 and 1.3 only", async () => {
  const one = await chain("one");
  const two = await chain("two");
  const server = await serve(
    {
      answer: ({ method, target }) => Promise.resolve({ status: 200, text: `${method} ${target}` }),
    },
    one,
    { openingMs: 2000 },
  );
  for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
    using speaker = client(server, [one], { maxVersion });
    const target = "/mutate/pods?timeout=2s";
    const { text, protocol, status, headers } = await speaker.post("{}", target);
    assert.deepEqual([status, text, protocol], [200, `POST ${target}`, maxVersion]);
    // Node's own five seconds would be too short for an API server that comes back.
    assert.deepEqual([headers["connection"], headers["keep-alive"]], ["keep-alive", "timeout=120"]);
  }
  using old = client(server, [one], { maxVersion: "TLSv1.1" });
  await assert.rejects(old.post("{}"));
  using distrusting = client(server, [two]);
  await assert.rejects(distrusting.post("{}"));
  using misled = client(server, [one], { serverName: "other.svc" });
  await assert.rejects(misled.post("{}"));
  await server.shutdown();
});

Deno.test("serveWebhook() swaps its certificate under load without one failed request", async () => {
  const chains = await Promise.all(["one", "two", "three"].map(chain));
  const server = await serve(ECHO, chains[0]!);
  let stop = false;
  let answered = 0;
  const seen = new Set<string>();
  const load = [true, true, false, false].map(async (keepAlive) => {
    using speaker = client(server, chains, { keepAlive });
    while (!stop) {
      const body = `${"x".repeat(50_000)}${answered}`;
      const { text, authority, status } = await speaker.post(body);
      assert.equal(status, 200);
      assert.ok(text === body);
      seen.add(authority);
      answered++;
    }
  });
  for (const [index, { serving }] of chains.entries()) {
    server.useCertificate(serving);
    const before = answered;
    for (let request = 0; request < 15 || answered < before + 40; request++) {
      using probe = client(server, chains, { keepAlive: false });
      assert.equal((await probe.post("")).authority, ["one", "two", "three"][index]);
    }
  }
  stop = true;
  await Promise.all(load);
  assert.deepEqual([...seen].sort(), ["one", "three", "two"]);
  // A new connection sees the last one alone.
  using late = client(server, [chains[2]!]);
  assert.equal((await late.post("")).authority, "three");
  using early = client(server, [chains[0]!]);
  await assert.rejects(early.post(""));
  await server.shutdown();
});

Deno.test("serveWebhook() refuses what is no pair without key material, and serves on as before", async () => {
  const [one, two] = [await chain("one"), await chain("two")];
  const server = await serve(ECHO, one);
  const bad = { cert: one.serving.cert, key: two.serving.key };
  for (const pair of [bad, { ...bad, key: "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n" }]) {
    assert.throws(() => server.useCertificate(pair), (error: unknown) => {
      assert.ok(error instanceof TypeError && error.cause === undefined);
      assert.match(error.message, /^Cannot (use a certificate|read a key): /);
      assert.ok(!error.message.includes("c2VjcmV0"));
      return true;
    });
    await assert.rejects(serve(ECHO, { ...one, serving: pair }), TypeError);
  }
  using speaker = client(server, [one]);
  assert.equal((await speaker.post("still")).text, "still");
  await server.shutdown();
});

Deno.test("serveWebhook() ends what is in work before it shuts down, and takes nothing new", async () => {
  const one = await chain("one");
  const { app, begun, release } = waitingApp("done");
  const server = await serve(app, one);
  using speaker = client(server, [one]);
  const answer = speaker.post("");
  await begun;
  const end = server.shutdown();
  using late = client(server, [one]);
  await assert.rejects(late.post(""));
  release();
  assert.equal((await answer).text, "done");
  await end;
});

Deno.test("serveWebhook() does not wait for idle connections at its end, nor long for silent ones", async () => {
  const one = await chain("one");
  // A wait for this grace period would never end.
  const server = await serve(ECHO, one, { graceMs: 3_600_000, openingMs: 500 });
  const silent = await connected(server);
  using idle = client(server, [one]);
  assert.equal((await idle.post("a")).text, "a");
  await server.shutdown();
  await assertClosed(silent);
  silent.close();
  await assert.rejects(idle.post("b"));
});

Deno.test("serveWebhook() gives an answer up that takes longer than the grace at its end", async () => {
  const one = await chain("one");
  const { app, begun, release } = waitingApp("late");
  const server = await serve(app, one, { graceMs: 1 });
  using speaker = client(server, [one]);
  const answer = assert.rejects(speaker.post(""));
  await begun;
  await server.shutdown();
  await answer;
  release();
});

/** Speaks TLS to the server, sends this and waits until the server has had enough. */
async function cutShort(server: WebhookServer, { authority }: CertificateChain, text: string) {
  const cut = await Deno.startTls(await connected(server), {
    hostname: SERVICE_NAME,
    caCerts: [authority.cert],
  });
  // The end may come before the text on a slow machine.
  await cut.write(new TextEncoder().encode(text)).catch(() => 0);
  await assertClosed(cut);
  cut.close();
}

Deno.test("serveWebhook() closes connections that say nothing or too little, and idle ones in the end", async () => {
  const one = await chain("one");
  const server = await serve(ECHO, one, { openingMs: 1000, requestMs: 3_600_000 });
  const silent = await connected(server);
  assert.equal(await silent.read(new Uint8Array(1)), null);
  silent.close();
  await cutShort(server, one, "POST / HTTP/1.1\r\nhost: x\r\n");
  await server.shutdown();
  const head = "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\n";
  const strict = await serve(ECHO, one, { openingMs: 20, requestMs: 20, idleMs: 3_600_000 });
  await cutShort(strict, one, `${head}ab`);
  await strict.shutdown();
  const tidy = await serve(ECHO, one, { requestMs: 3_600_000, idleMs: 20 });
  await cutShort(tidy, one, `${head}abc`);
  await tidy.shutdown();
});

/** Reads until the other end has closed, in order or not. */
async function assertClosed(connection: Deno.Conn): Promise<void> {
  let read: number | null = 0;
  while (read !== null) read = await connection.read(new Uint8Array(100)).catch(() => null);
}

Deno.test("serveWebhook() lets go of what speaks no TLS, or too many headers, and serves on", async () => {
  const one = await chain("one");
  const server = await serve(ECHO, one);
  const plain = await connected(server);
  await plain.write(new TextEncoder().encode("GET / HTTP/1.1\r\n\r\n"));
  await assertClosed(plain);
  plain.close();
  using speaker = client(server, [one], { keepAlive: false });
  await assert.rejects(speaker.post("", `/${"x".repeat(20_000)}`));
  assert.equal((await speaker.post("others")).text, "others");
  await server.shutdown();
});

Deno.test("serveWebhook() answers 400 to a body that is too long, and 500 without the app's message", async () => {
  const one = await chain("one");
  const app = { answer: () => Promise.reject(new Error("secret")) };
  const server = await serve(app, one, { maxBytes: 1000 });
  using speaker = client(server, [one], { keepAlive: false });
  const failed = await speaker.post("x".repeat(1000));
  assert.deepEqual([failed.status, failed.text], [500, "internal error\n"]);
  const long = await speaker.post("x".repeat(1001));
  assert.equal(long.status, 400);
  assert.match(long.text, / 1000 bytes/);
  await server.shutdown();
});

Deno.test("serveWebhook() takes no more connections than configured", async () => {
  const one = await chain("one");
  const server = await serve(ECHO, one, { maxConnections: 1 });
  using first = client(server, [one]);
  assert.equal((await first.post("a")).text, "a");
  using second = client(server, [one]);
  await assert.rejects(second.post("b"));
  assert.equal((await first.post("c")).text, "c");
  await server.shutdown();
});

async function* chunksOf(sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (const [index, size] of sizes.entries()) {
    await Promise.resolve();
    yield new Uint8Array(size).fill(index);
  }
}

async function whole(
  reader: BodyReader,
  sizes: readonly number[],
): Promise<Extract<ReadBody, { readonly bytes: unknown }>> {
  const body = await reader.read(chunksOf(sizes));
  assert.ok("bytes" in body);
  return body;
}

Deno.test("createBodyReader() joins what comes in parts, refuses one that is too long, and counts it no more", async () => {
  const reader = createBodyReader({ maxBytes: 3, maxBytesInFlight: 4 });
  for (let times = 0; times < 3; times++) {
    const body = await reader.read(chunksOf([3, 1]));
    assert.ok("refusal" in body);
    assert.equal(body.status, 400);
  }
  assert.deepEqual([...(await whole(reader, [1, 0, 2])).bytes], [0, 2, 2]);
});

Deno.test("createBodyReader() refuses what is too much together, until others are done", async () => {
  const reader = createBodyReader({ maxBytes: 3, maxBytesInFlight: 4 });
  const first = await whole(reader, [3]);
  const second = await reader.read(chunksOf([2]));
  assert.equal("status" in second ? second.status : 0, 503);
  first[Symbol.dispose]();
  // Twice is not counted twice.
  first[Symbol.dispose]();
  const third = await whole(reader, [3]);
  assert.ok("refusal" in await reader.read(chunksOf([2])));
  third[Symbol.dispose]();
});

Deno.test("createBodyReader() counts a body that breaks off no more", async () => {
  const reader = createBodyReader({ maxBytes: 3, maxBytesInFlight: 3 });
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield* chunksOf([3]);
    throw new RangeError("gone");
  }
  await assert.rejects(reader.read(broken()), RangeError);
  assert.equal((await whole(reader, [3])).bytes.length, 3);
});

Deno.test("createBodyReader() has room for all again when none is in work", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(fc.nat(6)), { maxLength: 8 }), async (all) => {
      const reader = createBodyReader({ maxBytes: 10, maxBytesInFlight: 20 });
      const bodies = await Promise.all(all.map((sizes) => reader.read(chunksOf(sizes))));
      const read = bodies.filter((body) => "bytes" in body);
      assert.ok(read.reduce((sum, { bytes }) => sum + bytes.length, 0) <= 20);
      for (const one of read) one[Symbol.dispose]();
      assert.equal((await whole(reader, [10])).bytes.length, 10);
      assert.equal((await whole(reader, [10])).bytes.length, 10);
    }),
  );
});
