/**
 * The image of a program, made without Docker: Deno and one JavaScript file in place of a binary.
 *
 * @module
 */
import { permissionFlags, type PermissionSet } from "../../../tools/build/permission_flags.ts";
import { type Program, PROGRAM_ENVIRONMENT, V8_FLAGS } from "../../../tools/build/programs.ts";
import { run } from "../harness/shell.ts";
import { type Bytes, imageArchive, type TarEntry } from "../harness/install/image_archive.ts";

export interface ProgramImageParts {
  readonly name: string;
  readonly runtime: readonly TarEntry[];
  readonly script: Bytes;
  readonly permissions: PermissionSet;
  readonly architecture: "amd64" | "arm64";
}

/** The command that starts the program: it fetches, looks up and caches nothing, and never prompts. */
export function programEntrypoint(program: Program, permissions: PermissionSet): string[] {
  return [
    DENO_PATH,
    "run",
    "--quiet",
    "--no-config",
    "--no-lock",
    "--no-remote",
    "--no-npm",
    "--no-code-cache",
    V8_FLAGS,
    ...permissionFlags(permissions),
    scriptPath(program),
  ];
}

export function programImage(
  program: Program,
  { name, runtime, script, permissions, architecture }: ProgramImageParts,
): Bytes {
  return imageArchive({
    name,
    base: runtime,
    entries: [
      { type: "file", path: scriptPath(program).slice(1), mode: 0o644, content: script },
    ],
    entrypoint: programEntrypoint(program, permissions),
    env: [
      "PATH=/",
      "NO_COLOR=1",
      "DENO_NO_UPDATE_CHECK=1",
      ...Object.entries(PROGRAM_ENVIRONMENT).map(([name, value]) => `${name}=${value}`),
    ],
    user: "65532:65532",
    architecture,
  });
}

function scriptPath({ name }: Program): string {
  return `/${name}.js`;
}

export const DENO_PATH = "/deno";

function libraryPaths(ldd: string): string[] {
  return [...ldd.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)].map(([, path = ""]) => path);
}

/** Entries of the layer, from this very Deno. Throws an `Error` where `ldd` fails. */
export function runtimeLayer(): Promise<TarEntry[]> {
  return programLayer({ path: DENO_PATH, source: Deno.execPath() });
}

/** A program of this machine, and the libraries that are not the machine's own. */
export interface LayerProgram {
  /** Where it stands in the image. */
  readonly path: string;
  readonly source: string;
  /** A folder with a file system of its own; its libraries come first. @default {none} */
  readonly root?: string;
}

/** Where programs of a folder with a file system of its own find their libraries. */
export function libraryEnvironment(root: string): { readonly LD_LIBRARY_PATH: string } {
  const folders = ["usr/lib", "lib"].flatMap((parent) =>
    [...Deno.readDirSync(`${root}/${parent}`)]
      .filter(({ name }) => name.endsWith("-linux-gnu"))
      .map(({ name }) => `${root}/${parent}/${name}`)
  );
  return { LD_LIBRARY_PATH: folders.join(":") };
}

/** Entries of a layer with one program. Throws an `Error` where `ldd` fails. */
export async function programLayer({ path, source, root }: LayerProgram): Promise<TarEntry[]> {
  const env = root === undefined ? {} : libraryEnvironment(root);
  const libraries = libraryPaths(await run(["ldd", source], { env }));
  const inImage = (library: string): string =>
    root !== undefined && library.startsWith(root) ? library.slice(root.length) : library;
  const files = await Promise.all(
    libraries.map((library) => entry(inImage(library).slice(1), library)),
  );
  files.push(await entry(path.slice(1), source));
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
export function foldersOf(files: readonly TarEntry[]): TarEntry[] {
  const folders = new Set<string>();
  for (const { path } of files) {
    for (let at = path.indexOf("/"); at > 0; at = path.indexOf("/", at + 1)) {
      folders.add(path.slice(0, at));
    }
  }
  return [...folders].map((path) => ({ type: "directory", path, mode: 0o755 }));
}
