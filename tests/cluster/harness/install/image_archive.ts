/**
 * Container images without Docker: an archive as `docker save` writes it, with one layer.
 *
 * ```ts ignore
 * import { imageArchive } from "./image_archive.ts";
 *
 * const script = new TextEncoder().encode("#!/bin/sh\n");
 * const archive = imageArchive({
 *   name: "hello:dev",
 *   entries: [{ type: "file", path: "hello", mode: 0o755, content: script }],
 *   entrypoint: ["/hello"],
 *   user: "65532:65532",
 * });
 * await Deno.writeFile("hello.tar", archive); // then: main.ts load-image hello.tar
 * ```
 *
 * Format: Docker Image Specification v1.2, "Combined Image JSON + Filesystem Changeset Format".
 *
 * @module
 */
import { createHash } from "node:crypto";
import { type Bytes, tar, type TarEntry } from "./tar.ts";

/** An image of one layer, or of two. */
export interface ImageSpec {
  /** Repository and tag, for instance `mbcas-agent:dev`. */
  readonly name: string;
  /** The file system; directories before what they hold. */
  readonly entries: readonly TarEntry[];
  /** A layer below; images that begin with the same one keep it once. @default {[]} */
  readonly base?: readonly TarEntry[];
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  /** `NAME=value` each. */
  readonly env?: readonly string[];
  /** User, or user and group: `65532:65532`. @default {"0:0"} */
  readonly user?: string;
  /** @default {"/"} */
  readonly workingDirectory?: string;
  /** As Go names it. @default {"amd64"} */
  readonly architecture?: "amd64" | "arm64";
}

/** The archive's bytes; the same for the same image. Throws a `RangeError` for a name without tag. */
export function imageArchive(image: ImageSpec): Bytes {
  if (!/^[a-z0-9][a-z0-9._/-]*(:\d+\/[a-z0-9._/-]+)?:[\w.-]+$/.test(image.name)) {
    throw new RangeError(
      `Cannot make an image: its name is ${JSON.stringify(image.name)}, expected repository:tag`,
    );
  }
  const layers = [image.base ?? [], image.entries].filter(({ length }) => length > 0).map(tar);
  const config = json({
    architecture: image.architecture ?? "amd64",
    os: "linux",
    created: "1970-01-01T00:00:00Z",
    config: {
      User: image.user ?? "0:0",
      WorkingDir: image.workingDirectory ?? "/",
      Env: image.env ?? ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
      ...(image.entrypoint === undefined ? {} : { Entrypoint: image.entrypoint }),
      ...(image.command === undefined ? {} : { Cmd: image.command }),
    },
    rootfs: { type: "layers", diff_ids: layers.map((layer) => `sha256:${sha256(layer)}`) },
  });
  const configName = `${sha256(config)}.json`;
  const files = layers.map((content): TarEntry & { type: "file" } => ({
    type: "file",
    path: `${sha256(content)}.tar`,
    mode: 0o644,
    content,
  }));
  const manifest = json([{
    Config: configName,
    RepoTags: [image.name],
    Layers: files.map(({ path }) => path),
  }]);
  return tar([
    ...files,
    { type: "file", path: configName, mode: 0o644, content: config },
    { type: "file", path: "manifest.json", mode: 0o644, content: manifest },
  ]);
}

function sha256(bytes: Bytes): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function json(value: unknown): Bytes {
  return new TextEncoder().encode(JSON.stringify(value));
}
