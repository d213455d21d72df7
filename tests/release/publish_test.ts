/** Commands of `deno task release:publish` against a registry and a repository on this machine. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { VERSION } from "../../shared/version.ts";
import { goProgram } from "../../tools/release/go_program.ts";
import { ONLY_TAGGED, publishSteps } from "../../tools/release/publish.ts";
import { CHART_FILE, RELEASE_FOLDER } from "../../tools/release/release_names.ts";
import { run } from "../cluster/harness/shell.ts";

/** A registry by the OCI Distribution Specification that keeps what is pushed. */
function startRegistry(): { readonly host: string; [Symbol.asyncDispose](): Promise<void> } {
  const kept = new Map<string, Uint8Array<ArrayBuffer>>();
  const digestOf = (content: Uint8Array): string =>
    `sha256:${createHash("sha256").update(content).digest("hex")}`;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    const [name = ""] = /[^/]+$/.exec(pathname) ?? [];
    if (request.method === "POST") {
      return new Response(null, { status: 202, headers: { location: `${pathname}1` } });
    }
    if (request.method === "PUT") {
      const content = await request.bytes();
      const digest = digestOf(content);
      kept.set(searchParams.get("digest") ?? pathname, content).set(digest, content);
      return new Response(null, { status: 201, headers: { "docker-content-digest": digest } });
    }
    const content = kept.get(pathname) ?? kept.get(decodeURIComponent(name));
    if (content === undefined) return new Response(null, { status: 404 });
    const isManifest = pathname.includes("/manifests/");
    const headers = {
      "content-length": String(content.length),
      "docker-content-digest": digestOf(content),
      "content-type": isManifest
        ? "application/vnd.oci.image.manifest.v1+json"
        : "application/octet-stream",
    };
    return new Response(request.method === "HEAD" ? null : content, { headers });
  });
  return {
    host: `127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

Deno.test("helm pushes the chart where the release's users pull it from", async () => {
  await using registry = startRegistry();
  const folder = await Deno.makeTempDir();
  try {
    const place = { registry: `${registry.host}/owner/name`, home: "" };
    const steps = publishSteps({
      place,
      version: "1.0.0",
      digests: new Map(),
      files: [CHART_FILE],
    });
    const [, ...args] = steps.find(([program]) => program === "helm") ?? [];
    const helm = await goProgram("helm");
    const source = new URL("../../charts/coallocator", import.meta.url).pathname;
    await run([helm, "package", source, "--destination", `${folder}/${RELEASE_FOLDER}`]);
    await run([helm, ...args, "--plain-http"], { directory: folder });
    const chart = `oci://${place.registry}/charts/coallocator`;
    await run([helm, "pull", chart, "--version", VERSION, "--plain-http"], { directory: folder });
    const [pushed, pulled] = [`${RELEASE_FOLDER}/${CHART_FILE}`, CHART_FILE];
    assert.deepEqual(
      await Deno.readFile(`${folder}/${pulled}`),
      await Deno.readFile(`${folder}/${pushed}`),
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("only the commit of the version's tag is published", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const git = (...args: string[]) =>
      run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", ...args], { directory: folder });
    await git("init", "-q");
    await git("commit", "-q", "--allow-empty", "-m", "one");
    await assert.rejects(run(ONLY_TAGGED, { directory: folder }));
    await git("tag", `v${VERSION}`);
    await run(ONLY_TAGGED, { directory: folder });
    await git("commit", "-q", "--allow-empty", "-m", "two");
    await git("tag", "v99.0.0");
    await assert.rejects(run(ONLY_TAGGED, { directory: folder }));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
