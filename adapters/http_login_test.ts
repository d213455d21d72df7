import assert from "node:assert/strict";
import { createVirtualClock } from "../lab/simulation/virtual_clock.ts";
import { serveCanned } from "../tests/fixtures/canned_server.ts";
import { boundedFetch } from "./bounded_fetch.ts";
import { createHTTPLogin, createTokenReader, type HTTPLogin } from "./http_login.ts";

const NEVER = new AbortController().signal;
const clock = createVirtualClock({ wallStart: 0 });
const TLS = "tests/fixtures/tls";

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
  const answer = await boundedFetch({ url, login, timeoutMs: 5000, mostBytes: 1000 }, NEVER);
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
    assert.deepEqual(server.requests.map(({ headers }) => headers.get("authorization")), [
      "Bearer t0ken",
      "Basic cmVhZGVyOnDDpHNzd29yZA==",
      null,
    ]);
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
  assert.equal(server.requests[0]?.headers.get("accept-encoding"), "identity");
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
  const [cert, key] = await Promise.all(
    ["server.crt", "server.key"].map((name) => Deno.readTextFile(`${TLS}/${name}`)),
  );
  assert.ok(cert !== undefined && key !== undefined);
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, cert, key, onListen() {} },
    () => Response.json({}),
  );
  try {
    const url = `https://127.0.0.1:${server.addr.port}`;
    const trusted = await ask(url, createHTTPLogin({ caFile: `${TLS}/ca.crt` }, { clock }));
    assert.equal("status" in trusted && trusted.status, 200);
    const unknown = await ask(url, createHTTPLogin({}, { clock }));
    assert.match("failed" in unknown ? unknown.failed : "", /certificate/);
  } finally {
    await server.shutdown();
  }
});

Deno.test("createTokenReader() reads anew after a minute and on demand, and survives a gap", async () => {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/token`;
  try {
    await Deno.writeTextFile(path, "one\n");
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
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
