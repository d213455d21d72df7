import assert from "node:assert/strict";
import { baseImages, BUSYBOX_IMAGE } from "./base_images.ts";
import { PAUSE_IMAGE } from "../node_files.ts";

Deno.test("baseImages() gives the pause image and busybox with a link for each applet", () => {
  const archives = baseImages({
    busybox: new Uint8Array([0x7f, 0x45]),
    applets: ["busybox", "cat", "sh"],
    architecture: "arm64",
  });
  const [pause, busybox] = archives.map((bytes) => new TextDecoder().decode(bytes));
  assert.equal(archives.length, 2);
  assert.ok(pause?.includes(`"RepoTags":["${PAUSE_IMAGE}"]`));
  assert.ok(busybox?.includes(`"RepoTags":["${BUSYBOX_IMAGE}"]`));
  assert.ok(busybox?.includes(`"architecture":"arm64"`));
  for (const path of ["bin/busybox\0", "bin/cat\0", "bin/sh\0"]) assert.ok(busybox?.includes(path));
  assert.ok(!pause?.includes("bin/cat\0"));
});
