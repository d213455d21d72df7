import assert from "node:assert/strict";
import { Registry } from "prom-client";
import { createVirtualClock } from "../lab/simulation/virtual_clock.ts";
import { counter, gauge, histogram } from "../shared/metrics/metric.ts";
import { cgroupTreeContract } from "../tests/contract/clock_and_cgroup_contracts.ts";
import { serveCanned } from "../tests/fixtures/canned_server.ts";
import { pure } from "../tests/fixtures/pure.ts";
import { VERSION } from "../shared/version.ts";
import { boundedFetch } from "./bounded_fetch.ts";
import { type CgroupTreeOptions, type OpenCgroupTree, openCgroupTree } from "./cgroup_files.ts";
import { createHTTPLogin, createTokenReader, type HTTPLogin } from "./http_login.ts";
import { registerMetrics, registerScraped, type Series } from "./registered_metrics.ts";
import { createMemoryTree } from "../tests/fixtures/memory_tree.ts";

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

interface Folder extends Disposable {
  readonly root: string;
  readonly tree: OpenCgroupTree;
  write(file: string, text: string): void;
  remove(directory: string): void;
}

function folder(options: CgroupTreeOptions = {}): Folder {
  const root = Deno.makeTempDirSync({ prefix: "cgroup-files-" });
  const tree = openCgroupTree(root, options);
  return {
    root,
    tree,
    write(file, text) {
      Deno.mkdirSync(`${root}/${file.slice(0, Math.max(0, file.lastIndexOf("/")))}`, {
        recursive: true,
      });
      Deno.writeTextFileSync(`${root}/${file}`, text);
    },
    remove: (directory) => Deno.removeSync(`${root}/${directory}`, { recursive: true }),
    [Symbol.dispose]() {
      tree[Symbol.dispose]();
      Deno.removeSync(root, { recursive: true });
    },
  };
}

cgroupTreeContract("openCgroupTree()", folder);
// The smallest limit takes the path that closes a file at each read.
cgroupTreeContract("openCgroupTree() with one open file", () => folder({ maxOpenFiles: 1 }));

Deno.test("openCgroupTree() refuses paths that leave the root", () => {
  using subject = folder();
  for (const path of ["../secret", "a/../../secret", "/etc/passwd", "a/..", "a\0b"]) {
    assert.throws(() => subject.tree.read(path), { name: "RangeError", message: /leaves/ });
    assert.throws(() => subject.tree.children(path), { name: "RangeError", message: /leaves/ });
  }
});

Deno.test("read() refuses a file that is longer than any of the kernel's", () => {
  using subject = folder();
  subject.write("a/long", "x".repeat(16 * 1024));
  assert.throws(() => subject.tree.read("a/long"), { name: "RangeError", message: /a\/long/ });
  subject.write("a/longest", "x".repeat(16 * 1024 - 1));
  assert.equal(subject.tree.read("a/longest")?.length, 16 * 1024 - 1);
});

Deno.test({
  name: "read() and children() name the missing permission",
  permissions: { read: false },
  fn() {
    using tree = openCgroupTree("/host/cgroup");
    const expected = { name: "NotCapable", message: /read access to.*mount the host's/s };
    assert.throws(() => tree.read("cpu.stat"), expected);
    assert.throws(() => tree.children(""), expected);
  },
});

Deno.test("release() closes what is open below a directory, and nothing beside it", () => {
  using subject = folder();
  for (const file of ["a/one", "a/b/two", "ab/three"]) {
    subject.write(file, file);
    subject.tree.read(file);
  }
  // A removed file can be read on for as long as it is held open: that is how it shows.
  subject.remove("a");
  subject.remove("ab");
  subject.tree.release("a");
  assert.equal(subject.tree.read("a/one"), undefined);
  assert.equal(subject.tree.read("a/b/two"), undefined);
  assert.equal(subject.tree.read("ab/three"), "ab/three");
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

cgroupTreeContract("createMemoryTree()", () => {
  const tree = createMemoryTree();
  return { tree, write: tree.write, remove: tree.remove, [Symbol.dispose]: () => {} };
});
