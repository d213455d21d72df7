import { pure } from "../../fixtures/pure.ts";
import assert from "node:assert/strict";
import type { TarEntry } from "../harness/install/image_archive.ts";
import { libraryPaths, programEntrypoint, programImage } from "./program_image.ts";

const program = { name: "demo", entry: "demo/main.ts", permissions: "demo", image: true };
const encode = (text: string) => new TextEncoder().encode(text);

pure("programEntrypoint() has the permissions of the set as literal flags, then the script", () => {
  const entrypoint = programEntrypoint(program, { read: ["/host/cgroup"], net: ["a:443"] });
  assert.equal(entrypoint[0], "/deno");
  assert.equal(entrypoint.at(-1), "/demo.js");
  assert.deepEqual(
    entrypoint.filter((arg) => /allow|prompt/.test(arg)),
    ["--no-prompt", "--allow-read=/host/cgroup", "--allow-net=a:443"],
  );
});

pure("programImage() runs as an unprivileged user, and two programs share the lower layer", () => {
  const runtime: TarEntry[] = [
    { type: "file", path: "deno", mode: 0o755, content: encode("the runtime") },
  ];
  const text = (name: string): string =>
    new TextDecoder().decode(
      programImage({ ...program, name }, {
        name: `registry.example.com/${name}:dev`,
        runtime,
        script: encode(`console.log("${name}")`),
        permissions: {},
        architecture: "amd64",
      }),
    );
  const layersOf = (archive: string): string[] =>
    JSON.parse(/\{"type":"layers","diff_ids":(\[.*?\])/.exec(archive)?.[1] ?? "[]");
  const [one, other] = [text("one"), text("other")];
  assert.match(one, /"User":"65532:65532"/);
  assert.match(one, /"RepoTags":\["registry\.example\.com\/one:dev"\]/);
  assert.match(one, /"io.containerd.image.name":"registry\.example\.com\/one:dev"/);
  assert.equal(layersOf(one).length, 2);
  assert.equal(layersOf(one)[0], layersOf(other)[0]);
  assert.notEqual(layersOf(one)[1], layersOf(other)[1]);
});

pure("libraryPaths() finds the libraries and the loader, and no library that has no file", () => {
  const printed = `\tlinux-vdso.so.1 (0x00007fee8e09e000)
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007fee87f3e000)
\t/lib64/ld-linux-x86-64.so.2 (0x00007fee8e0a0000)
`;
  assert.deepEqual(libraryPaths(printed), [
    "/lib/x86_64-linux-gnu/libc.so.6",
    "/lib64/ld-linux-x86-64.so.2",
  ]);
});
