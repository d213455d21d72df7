/**
 * The files of a release, the workflow that makes them, and the commands that publish them, against a
 * registry and a repository on this machine: `deno task test:release`.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { parse } from "yaml";
import { VERSION } from "../../shared/version.ts";
import { goProgram } from "../../tools/release/go_program.ts";
import { ONLY_TAGGED, publishSteps } from "../../tools/release/publish.ts";
import { CHART_FILE, RELEASE_FOLDER, REPOSITORY } from "../../tools/release/release_names.ts";
import { run } from "../cluster/harness/shell.ts";
import { parseObjects, renderManifests } from "../cluster/rendered_manifests.ts";

const root = new URL("../../", import.meta.url).pathname;
const folder = `${root}build/release`;
const table = await run([Deno.execPath(), "task", "-q", "release:dry"], { directory: root });
const readJSON = async (file: string) => JSON.parse(await Deno.readTextFile(file));

Deno.test("release:dry lists every file that it makes, and their sums are right", async () => {
  const listed = table.trim().split("\n").map((line) => line.split(" ")[0] ?? "");
  const made = await Array.fromAsync(Deno.readDir(folder), ({ name }) => name);
  assert.deepEqual(listed.toSorted(), made.toSorted());
  const checked = await run(["sha256sum", "--check", "SHA256SUMS"], { directory: folder });
  // Neither those of the images nor its own.
  assert.equal(checked.match(/: OK$/gm)?.length, listed.length - 3);
});

Deno.test("install.yaml has the objects of the release's overlay", async () => {
  const made = parseObjects(await Deno.readTextFile(`${folder}/install.yaml`));
  assert.deepEqual(made, await renderManifests("overlays/release"));
});

Deno.test("the packed chart is that of the folder, and leads to published pages", async () => {
  const show = async (what: string): Promise<string> =>
    await run([await goProgram("helm"), "show", what, `${folder}/coallocator-${VERSION}.tgz`]);
  const readme = await show("readme");
  assert.ok(readme.includes(` coallocator-${VERSION}.tgz `), readme);
  assert.ok(readme.includes(`${REPOSITORY}/blob/v${VERSION}/docs/install.md`), readme);
  assert.doesNotMatch(readme, /\.\.\/|developers/);
  const values = await Deno.readTextFile(`${root}charts/coallocator/values.yaml`);
  assert.equal((await show("values")).trimEnd(), values.trimEnd());
  const templates = async (chart: string): Promise<string> =>
    await run([await goProgram("helm"), "template", "coallocator", chart]);
  const packed = await templates(`${folder}/coallocator-${VERSION}.tgz`);
  assert.equal(packed, await templates(`${root}charts/coallocator`));
});

Deno.test("the archive's command starts, and prints its version", async () => {
  const unpacked = await Deno.makeTempDir();
  try {
    const [archive = ""] = /^kubectl-coalloc-\S+/m.exec(table) ?? [];
    await run(["tar", "-xzf", `${folder}/${archive}`, "-C", unpacked]);
    // A script asks for "deno", which this one may not be called on the PATH.
    await Deno.symlink(Deno.execPath(), `${unpacked}/deno`);
    const env = { PATH: `${unpacked}:${Deno.env.get("PATH")}` };
    const printed = await run([`${unpacked}/kubectl-coalloc`, "--version"], { env });
    assert.ok(printed.includes(VERSION), printed);
  } finally {
    await Deno.remove(unpacked, { recursive: true });
  }
});

Deno.test("images are OCI archives, each blob of which has its digest and size", async () => {
  const unpacked = await Deno.makeTempDir();
  try {
    await run(["tar", "-xf", `${folder}/mbcas-agent.tar`, "-C", unpacked]);
    assert.deepEqual(await readJSON(`${unpacked}/oci-layout`), { imageLayoutVersion: "1.0.0" });
    const { manifests: [manifest] } = await readJSON(`${unpacked}/index.json`);
    const blob = (digest: string) => `${unpacked}/blobs/${digest.replace(":", "/")}`;
    const { config, layers } = await readJSON(blob(manifest.digest));
    for (const { digest, size } of [manifest, config, ...layers]) {
      const [sum = ""] = (await run(["sha256sum", blob(digest)])).split(" ");
      assert.equal(`sha256:${sum}`, digest);
      assert.equal((await Deno.stat(blob(digest))).size, size);
    }
  } finally {
    await Deno.remove(unpacked, { recursive: true });
  }
});

Deno.test("the bill lists the packages in each program with sum, licence and address", async () => {
  const { specVersion, components, dependencies } = await readJSON(`${folder}/sbom.cdx.json`);
  assert.equal(specVersion, "1.6");
  for (const { name, version, type, purl, hashes, licenses } of components) {
    assert.match(version, /^\d+\.\d+\.\d+/, name);
    const [{ license, expression }] = licenses;
    assert.match(license?.id ?? expression, /^[\w .()-]+$/, name);
    if (type !== "library") continue;
    assert.match(purl, /^pkg:npm\/(%40[\w.-]+\/)?[\w.-]+@\d/, name);
    assert.match(hashes[0].content, /^[0-9a-f]{128}$/, name);
  }
  const names = new Set(components.map(({ name }: { name: string }) => name));
  // Tools, types, and what the bundler leaves out of a package's dependencies.
  for (const absent of ["fast-check", "playwright-core", "cyclonedx-library", "undici-types"]) {
    assert.ok(!names.has(absent), absent);
  }
  const parts = (program: string): readonly string[] =>
    dependencies.find(({ ref }: { ref: string }) => ref === program).dependsOn;
  const zod = components.find(({ name }: { name: string }) => name === "zod")["bom-ref"];
  for (const program of ["mbcas-agent", "mbcas-controller", "kubectl-coalloc"]) {
    for (const part of ["deno", zod]) assert.ok(parts(program).includes(part), program);
  }
  const client = /^@kubernetes\/client-node@/;
  assert.ok(parts("kubectl-coalloc").some((part) => client.test(part)));
  assert.ok(!parts("mbcas-agent").some((part) => client.test(part)));
});

interface Step {
  readonly run?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

Deno.test("actionlint finds nothing in the workflow, and its tasks are those of deno.json", async () => {
  const file = `${root}.github/workflows/release.yaml`;
  assert.equal(await run([await goProgram("actionlint"), "-no-color", file]), "");
  const { tasks } = await readJSON(`${root}deno.json`);
  const text = await Deno.readTextFile(file);
  const { jobs } = parse(text);
  const steps: readonly Step[] = Object.values<{ readonly steps: readonly Step[] }>(jobs)
    .flatMap((job) => job.steps);
  const commands = steps.map(({ run = "" }) => run).join("\n");
  const named = [...commands.matchAll(/deno task (\S+)/g)].map(([, name = ""]) => name);
  assert.deepEqual(named, ["ok", "test:release", "release:dry", "release:publish"]);
  for (const name of named) assert.ok(Object.hasOwn(tasks, name), name);
  // The version of Deno that users are asked to take is the one that builds.
  const readme = await Deno.readTextFile(`${root}README.md`);
  const [deno] = /deno@[\d.]+/.exec(readme) ?? [];
  for (const { uses = "", with: options = {} } of steps) {
    if (uses.includes("setup-deno")) assert.equal(`deno@${options["deno-version"]}`, deno);
    if (uses.includes("checkout")) assert.equal(options["persist-credentials"], false);
  }
  // A tag can be moved to other code.
  for (const [, action = ""] of text.matchAll(/uses: (.*)/g)) {
    assert.match(action, /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  }
  assert.deepEqual(jobs.test.permissions, { contents: "read" });
  assert.equal(jobs.release.needs, "test");
});

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
