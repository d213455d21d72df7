import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { imageArchive } from "./image_archive.ts";

/** Files of an archive with paths of up to 100 bytes, by path. */
function filesOf(archive: Uint8Array): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const field = (from: number, to: number): string =>
    new TextDecoder().decode(archive.subarray(from, to)).split("\0")[0] ?? "";
  for (let at = 0; archive[at] !== 0;) {
    const size = parseInt(field(at + 124, at + 136), 8);
    files.set(field(at, at + 100), archive.subarray(at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const image = {
  name: "mbcas-agent:dev",
  entries: [{ type: "file", path: "agent", mode: 0o755, content: new Uint8Array([1, 2]) }],
  entrypoint: ["/agent"],
  user: "65532:65532",
} as const;

Deno.test("imageArchive() names config and layer by their hashes and lists them", () => {
  const files = filesOf(imageArchive(image));
  const parse = (path: string) => JSON.parse(new TextDecoder().decode(files.get(path)));
  const [manifest] = parse("manifest.json");
  assert.deepEqual(manifest.RepoTags, ["mbcas-agent:dev"]);
  const layer = files.get(manifest.Layers[0]);
  const config = files.get(manifest.Config);
  assert.ok(layer !== undefined && config !== undefined);
  assert.equal(manifest.Layers[0], `${sha256(layer)}.tar`);
  assert.equal(manifest.Config, `${sha256(config)}.json`);
  const { rootfs, config: run, architecture } = parse(manifest.Config);
  assert.deepEqual(rootfs, { type: "layers", diff_ids: [`sha256:${sha256(layer)}`] });
  assert.deepEqual([run.User, run.Entrypoint, run.Cmd], ["65532:65532", ["/agent"], undefined]);
  assert.equal(architecture, "amd64");
  assert.deepEqual(filesOf(layer).get("agent"), new Uint8Array([1, 2]));
});

Deno.test("imageArchive() gives the same bytes for the same image", () => {
  assert.equal(sha256(imageArchive(image)), sha256(imageArchive(image)));
});

Deno.test("imageArchive() takes names of registries and refuses those without a tag", () => {
  for (const name of ["a:1", "localhost/a-b:1", "registry.example:5000/a/b:v1.2"]) {
    assert.ok(imageArchive({ ...image, name }).length > 0, name);
  }
  for (const name of ["agent", "Agent:dev", "agent:", ""]) {
    assert.throws(() => imageArchive({ ...image, name }), RangeError, name);
  }
});
