/**
 * The two images that a cluster without registry begins with: the pause process and busybox.
 *
 * @module
 */
import { imageArchive } from "./image_archive.ts";
import { PAUSE_IMAGE } from "../node_files.ts";
import type { Bytes, TarEntry } from "./tar.ts";

/** The tag is that of the public image, so that manifests are the same on other clusters. */
export const BUSYBOX_IMAGE = "busybox:stable";

/**
 * Archives of both images, from a busybox that is linked statically and its applets' names. With
 * glibc linked in, as in Debian's, it resolves no names in an image without glibc's other files, and
 * its `wget` ends at once; `nslookup`, and `nc` with an address, work.
 */
export function baseImages(
  { busybox, applets, architecture }: {
    readonly busybox: Bytes;
    readonly applets: readonly string[];
    readonly architecture: "amd64" | "arm64";
  },
): readonly Bytes[] {
  const folder = (path: string, mode = 0o755): TarEntry => ({ type: "directory", path, mode });
  const text = (path: string, content: string): TarEntry => ({
    type: "file",
    path,
    mode: 0o644,
    content: new TextEncoder().encode(content),
  });
  const program: TarEntry = { type: "file", path: "bin/busybox", mode: 0o755, content: busybox };
  return [
    imageArchive({
      name: PAUSE_IMAGE,
      entries: [folder("bin"), program],
      entrypoint: ["/bin/busybox", "sleep", "infinity"],
      architecture,
    }),
    imageArchive({
      name: BUSYBOX_IMAGE,
      entries: [
        folder("bin"),
        program,
        ...applets.filter((name) => name !== "busybox").map((name): TarEntry => ({
          type: "symlink",
          path: `bin/${name}`,
          target: "busybox",
        })),
        folder("etc"),
        text("etc/passwd", "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n"),
        text("etc/group", "root:x:0:\nnogroup:x:65534:\n"),
        folder("root", 0o700),
        folder("tmp", 0o1777),
      ],
      command: ["sh"],
      architecture,
    }),
  ];
}
