/**
 * The lower layer of images that are made without Docker: Deno, the libraries it is linked with, and
 * the few files that a C library looks for.
 *
 * @module
 */
import type { TarEntry } from "../harness/tar.ts";

/** Where Deno stands in the image. */
export const DENO_PATH = "/deno";

/** Paths of shared libraries in what `ldd` prints. */
export function libraryPaths(ldd: string): string[] {
  return [...ldd.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)].map(([, path = ""]) => path);
}

/** Entries of the layer, from this very Deno. Throws an `Error` where `ldd` fails. */
export async function runtimeLayer(): Promise<TarEntry[]> {
  const deno = Deno.execPath();
  const { success, stdout } = await new Deno.Command("ldd", { args: [deno] }).output();
  if (!success) throw new Error(`Cannot make an image: ldd ${deno} failed`);
  const files = await Promise.all(
    libraryPaths(new TextDecoder().decode(stdout)).map((path) => entry(path.slice(1), path)),
  );
  files.push(await entry(DENO_PATH.slice(1), deno));
  // The same account as in distroless images. Without nsswitch.conf, hosts files are not read when
  // the DNS answers that it knows no such name.
  files.push(
    text("etc/passwd", "root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532::/:\n"),
  );
  files.push(text("etc/group", "root:x:0:\nnonroot:x:65532:\n"));
  files.push(text("etc/nsswitch.conf", "hosts: files dns\n"));
  return [...foldersOf(files), ...files];
}

async function entry(path: string, source: string): Promise<TarEntry> {
  return { type: "file", path, mode: 0o755, content: await Deno.readFile(source) };
}

function text(path: string, content: string): TarEntry {
  return { type: "file", path, mode: 0o644, content: new TextEncoder().encode(content) };
}

/** Each folder above the files, before what it holds. */
function foldersOf(files: readonly TarEntry[]): TarEntry[] {
  const folders = new Set<string>();
  for (const { path } of files) {
    for (let at = path.indexOf("/"); at > 0; at = path.indexOf("/", at + 1)) {
      folders.add(path.slice(0, at));
    }
  }
  return [...folders].map((path) => ({ type: "directory", path, mode: 0o755 }));
}
