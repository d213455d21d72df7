/**
 * The files of a release, the workflow that makes them, and the commands that publish them:
 * `deno task test:release`.
 */
import assert from "node:assert/strict";
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

Deno.test("helm is to push the chart beside the release's images", () => {
  const registry = "registry.example.com/owner/name";
  const input = { version: VERSION, digests: new Map(), files: [CHART_FILE] };
  const steps = publishSteps({ ...input, place: { registry, home: "" } });
  assert.deepEqual(steps.find(([program]) => program === "helm")?.slice(1), [
    ...["push", `${RELEASE_FOLDER}/${CHART_FILE}`, `oci://${registry}/charts`],
  ]);
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
