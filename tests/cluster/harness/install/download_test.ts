import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { download, publishedSum } from "./download.ts";
import { folderEntries } from "./folder_entries.ts";
import { isExecutable } from "../shell.ts";

const CONTENT = "a program\n".repeat(10_000);
const SUM = createHash("sha256").update(CONTENT).digest("hex");

/** A server that keeps its promises only under `/good`. */
function answer(request: Request): Response {
  const half = new TextEncoder().encode(CONTENT.slice(0, 1000));
  switch (new URL(request.url).pathname) {
    case "/good":
      return new Response(CONTENT);
    case "/good.sha256":
      return new Response(`${SUM}\n`);
    case "/page.sha256":
      return new Response("<html>log in</html>");
    case "/stall":
      return new Response(new ReadableStream({ start: (stream) => stream.enqueue(half) }));
    case "/break":
      return new Response(
        new ReadableStream({
          start: (stream) => stream.enqueue(half),
          pull: (stream) => stream.error(new Error("broken off")),
        }),
      );
    default:
      return new Response("no\n", { status: 403 });
  }
}

async function withServer(test: (origin: string, folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ dir: "/tmp" });
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {}, onError: () => new Response() },
    answer,
  );
  try {
    await test(`http://127.0.0.1:${server.addr.port}`, folder);
  } finally {
    await server.shutdown();
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("download() puts an executable in place with a sum that is the published one", async () => {
  await withServer(async (origin, folder) => {
    const sum = await publishedSum(`${origin}/good`);
    assert.equal(sum, SUM);
    await download(`${origin}/good`, `${folder}/program`, { sum });
    assert.equal(await Deno.readTextFile(`${folder}/program`), CONTENT);
    assert.ok(await isExecutable(`${folder}/program`));
    assert.deepEqual((await folderEntries(folder)).map(({ name }) => name), ["program"]);
  });
});

Deno.test("download() throws and leaves nothing when refused, broken off, stalled or wrong", async () => {
  await withServer(async (origin, folder) => {
    const target = `${folder}/program`;
    const outcomes = [
      { path: "refused", error: /Cannot get \S+: status 403/ },
      { path: "break", error: /./ },
      { path: "stall", error: /nothing came for 0\.05 s/, stallMs: 50 },
      { path: "good", error: /Cannot use \S+: its SHA-256 is \w+, expected 00/, sum: "00" },
    ];
    for (const { path, error, ...options } of outcomes) {
      await assert.rejects(download(`${origin}/${path}`, target, { sum: SUM, ...options }), error);
      assert.deepEqual(await folderEntries(folder), [], path);
    }
  });
});

Deno.test("publishedSum() throws for a refusal and for a page that is no sum", async () => {
  await withServer(async (origin) => {
    await assert.rejects(publishedSum(`${origin}/none`), /status 403/);
    await assert.rejects(publishedSum(`${origin}/page`), /it begins "<html>log in/);
  });
});
