import assert from "node:assert/strict";
import fc from "fast-check";
import { type Bytes, tar, type TarEntry } from "./tar.ts";

const text = (content: string): Bytes => new TextEncoder().encode(content);

/** Reads an archive by the format's description, not by the writer's code. */
function untar(archive: Bytes): { path: string; type: string; mode: number; content: Bytes }[] {
  const found = [];
  const field = (from: number, to: number): string =>
    new TextDecoder().decode(archive.subarray(from, to)).split("\0")[0] ?? "";
  for (let at = 0; archive[at] !== 0;) {
    const head = archive.slice(at, at + 512);
    const sum = parseInt(field(at + 148, at + 156), 8);
    head.fill(0x20, 148, 156);
    assert.equal(sum, head.reduce((total, byte) => total + byte, 0), "checksum");
    assert.equal(field(at + 257, at + 263), "ustar");
    const size = parseInt(field(at + 124, at + 136), 8);
    const prefix = field(at + 345, at + 500);
    const name = field(at, at + 100);
    found.push({
      path: prefix === "" ? name : `${prefix}/${name}`,
      type: field(at + 156, at + 157),
      mode: parseInt(field(at + 100, at + 108), 8),
      content: archive.slice(at + 512, at + 512 + size),
    });
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return found;
}

const file = (path: string, content: string): TarEntry => ({
  type: "file",
  path,
  mode: 0o644,
  content: text(content),
});

Deno.test({
  name: "tar() writes whatever files it is given so that they can be read",
  permissions: "none",
  fn() {
    const name = fc.stringMatching(/^[a-zA-Z0-9._-]{1,30}$/);
    const path = fc.array(name, { minLength: 1, maxLength: 8 }).map((parts) => parts.join("/"));
    const entry = fc.record({
      type: fc.constant("file" as const),
      path,
      mode: fc.integer({ min: 0, max: 0o7777 }),
      content: fc.uint8Array({ maxLength: 1100 }).map((bytes) => Uint8Array.from(bytes)),
    });
    fc.assert(fc.property(fc.array(entry, { maxLength: 5 }), (entries) => {
      const archive = tar(entries);
      assert.equal(archive.length % 512, 0);
      assert.deepEqual(
        untar(archive),
        entries.map(({ path, mode, content }) => ({ path, type: "0", mode, content })),
      );
    }));
  },
});

Deno.test({
  name: "tar() writes directories with a slash and links with their target",
  permissions: "none",
  fn() {
    const archive = tar([
      { type: "directory", path: "bin", mode: 0o1777 },
      { type: "symlink", path: "bin/sh", target: "busybox" },
    ]);
    const [directory, link] = untar(archive);
    assert.deepEqual([directory?.path, directory?.type, directory?.mode], ["bin/", "5", 0o1777]);
    assert.deepEqual([link?.path, link?.type], ["bin/sh", "2"]);
    assert.equal(new TextDecoder().decode(archive.subarray(512 + 157, 512 + 164)), "busybox");
  },
});

Deno.test({
  name: "tar() refuses a path or a target that no header holds",
  permissions: "none",
  fn() {
    assert.throws(() => tar([file("a".repeat(101), "")]), RangeError);
    assert.throws(() => tar([file(`${"a/".repeat(130)}b`, "")]), RangeError);
    const target = "t".repeat(101);
    assert.throws(() => tar([{ type: "symlink", path: "l", target }]), RangeError);
    assert.equal(untar(tar([file(`${"d".repeat(155)}/${"n".repeat(100)}`, "x")])).length, 1);
  },
});
