/**
 * Container images without Docker: OCI archives, which `docker load` reads too, with one layer or two,
 * loaded without a registry. The same image always gives the same bytes. Formats: OCI Image Layout
 * v1.1; Docker Image Specification v1.2; POSIX.1 (IEEE 1003.1), `pax`, "ustar Interchange Format".
 *
 * @module
 */
import { createHash } from "node:crypto";
import { PAUSE_IMAGE } from "../node_files.ts";
import type { Instance } from "../instance.ts";
import { run } from "../shell.ts";

export interface ImageSpec {
  /** Repository and tag, for instance `mbcas-agent:dev`. */
  readonly name: string;
  /** The file system; directories before what they hold. */
  readonly entries: readonly TarEntry[];
  /** A layer below; images that begin with the same one keep it once. @default {[]} */
  readonly base?: readonly TarEntry[];
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly env?: readonly string[];
  /** User, or user and group: `65532:65532`. @default {"0:0"} */
  readonly user?: string;
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
      WorkingDir: "/",
      Env: image.env ?? ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
      ...(image.entrypoint === undefined ? {} : { Entrypoint: image.entrypoint }),
      ...(image.command === undefined ? {} : { Cmd: image.command }),
    },
    rootfs: { type: "layers", diff_ids: layers.map((layer) => `sha256:${sha256(layer)}`) },
  });
  const blobs = layers.map((layer) => blob("application/vnd.oci.image.layer.v1.tar", layer));
  const configBlob = blob("application/vnd.oci.image.config.v1+json", config);
  const manifest = blob(
    "application/vnd.oci.image.manifest.v1+json",
    json({
      schemaVersion: 2,
      mediaType: "application/vnd.oci.image.manifest.v1+json",
      config: configBlob.descriptor,
      layers: blobs.map(({ descriptor }) => descriptor),
    }),
  );
  const index = {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.index.v1+json",
    manifests: [{ ...manifest.descriptor, annotations: imageNames(image.name) }],
  };
  const docker = [{
    Config: configBlob.entry.path,
    RepoTags: [image.name],
    Layers: blobs.map(({ entry }) => entry.path),
  }];
  return tar([
    { type: "directory", path: "blobs", mode: 0o755 },
    { type: "directory", path: "blobs/sha256", mode: 0o755 },
    ...[...blobs, configBlob, manifest].map(({ entry }) => entry),
    jsonFile("index.json", index),
    jsonFile("manifest.json", docker),
    jsonFile("oci-layout", { imageLayoutVersion: "1.0.0" }),
  ]);
}

/** A part of the image: its file, and how others refer to it. */
function blob(mediaType: string, content: Bytes): {
  readonly entry: TarEntry;
  readonly descriptor: Readonly<Record<"mediaType" | "digest" | "size", unknown>>;
} {
  const sum = sha256(content);
  return {
    entry: { type: "file", path: `blobs/sha256/${sum}`, mode: 0o644, content },
    descriptor: { mediaType, digest: `sha256:${sum}`, size: content.length },
  };
}

/** containerd takes the whole name, which has Docker Hub's address where it has no other. */
function imageNames(name: string): Readonly<Record<string, string>> {
  const [first = "", ...path] = name.split("/");
  const local = path.length === 0 ? `library/${name}` : name;
  const whole = path.length > 0 && /[.:]|^localhost$/.test(first) ? name : `docker.io/${local}`;
  return {
    "io.containerd.image.name": whole,
    "org.opencontainers.image.ref.name": name.slice(name.lastIndexOf(":") + 1),
  };
}

function jsonFile(path: string, value: unknown): TarEntry {
  return { type: "file", path, mode: 0o644, content: json(value) };
}

function sha256(bytes: Bytes): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function json(value: unknown): Bytes {
  return new TextEncoder().encode(JSON.stringify(value));
}

/** One entry of an archive. Paths have no `/` at the start; directories come before what they hold. */
export type TarEntry =
  | { readonly type: "file"; readonly path: string; readonly mode: number; readonly content: Bytes }
  | { readonly type: "directory"; readonly path: string; readonly mode: number }
  | { readonly type: "symlink"; readonly path: string; readonly target: string };

export type Bytes = Uint8Array<ArrayBuffer>;

const BLOCK = 512;
const NAME_BYTES = 100;
const PREFIX_BYTES = 155;

/** The tar file. Throws a `RangeError` for a path that its header cannot hold. */
export function tar(entries: readonly TarEntry[]): Bytes {
  const parts: Bytes[] = [];
  for (const entry of entries) {
    parts.push(header(entry));
    if (entry.type === "file") {
      parts.push(entry.content);
      const over = entry.content.length % BLOCK;
      if (over > 0) parts.push(new Uint8Array(BLOCK - over));
    }
  }
  parts.push(new Uint8Array(2 * BLOCK));
  const whole = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function header(entry: TarEntry): Bytes {
  const bytes = new Uint8Array(BLOCK);
  const encoder = new TextEncoder();
  const put = (at: number, text: string): void => bytes.set(encoder.encode(text), at);
  const octal = (at: number, value: number, digits: number): void =>
    put(at, value.toString(8).padStart(digits, "0"));
  const { prefix, name } = splitPath(entry.type === "directory" ? `${entry.path}/` : entry.path);
  put(0, name);
  octal(100, entry.type === "symlink" ? 0o777 : entry.mode, 7);
  octal(108, 0, 7);
  octal(116, 0, 7);
  octal(124, entry.type === "file" ? entry.content.length : 0, 11);
  octal(136, 0, 11);
  put(156, { file: "0", symlink: "2", directory: "5" }[entry.type]);
  if (entry.type === "symlink") put(157, checkLength(entry.target, NAME_BYTES));
  put(257, "ustar\u000000");
  put(345, prefix);
  // The sum counts its own eight bytes as spaces.
  const sum = bytes.reduce((total, byte) => total + byte, 8 * 0x20);
  put(148, `${sum.toString(8).padStart(6, "0")}\0 `);
  return bytes;
}

/** Splits at a `/` so that the name has at most 100 bytes and what is before it at most 155. */
function splitPath(path: string): { prefix: string; name: string } {
  const size = (text: string): number => new TextEncoder().encode(text).length;
  if (size(path) <= NAME_BYTES) return { prefix: "", name: path };
  for (let at = path.indexOf("/"); at > 0; at = path.indexOf("/", at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (name !== "" && size(name) <= NAME_BYTES && size(prefix) <= PREFIX_BYTES) {
      return { prefix, name };
    }
  }
  throw new RangeError(`Cannot write ${path} to a tar file: its path is too long to be split`);
}

function checkLength(text: string, most: number): string {
  if (new TextEncoder().encode(text).length > most) {
    throw new RangeError(`Cannot write a link to ${text}: it is longer than ${most} bytes`);
  }
  return text;
}

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

/** Imports an archive as `docker save` or `imageArchive()` makes it; returns what containerd says. */
export function loadImage({ containerdSocket }: Instance, file: string): Promise<string> {
  return run([
    ...["ctr", "--address", containerdSocket, "--namespace", "k8s.io"],
    ...["images", "import", file],
  ]);
}
