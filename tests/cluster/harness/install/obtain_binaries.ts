/**
 * Finds, downloads or builds the binaries.
 *
 * @module
 */
import {
  BINARIES,
  type Binary,
  type BinaryFolders,
  type BinaryName,
  binaryPaths,
  cacheFolder,
  releaseAddress,
} from "./binary.ts";
import { buildBinary } from "./build_binary.ts";
import { download, publishedSum } from "./download.ts";
import { lockFile } from "../file_lock.ts";
import { type Progress, withProgress } from "../progress.ts";
import { isExecutable } from "../shell.ts";

/** What is needed to obtain them. */
export interface ObtainOptions {
  readonly folders: BinaryFolders;
  /** The PATH in which `go` is looked for. */
  readonly path: string;
  readonly progress: Progress;
}

/**
 * The paths of all binaries that are needed, `kubectl` among them only when `kubectl` is asked for.
 * Looked for in this order: `KUBEBUILDER_ASSETS`, the cache, dl.k8s.io, a build. Throws an `Error`
 * that names the ways when none is open.
 */
export async function obtainBinaries(
  names: readonly BinaryName[],
  options: ObtainOptions,
): Promise<ReadonlyMap<BinaryName, string>> {
  const wanted = BINARIES.filter(({ name }) => names.includes(name));
  const found = await foundBinaries(wanted, options);
  if (found.size === wanted.length) return found;
  // Two builds in one folder would rewrite each other's module.
  using _lock = await lockFile(`${cacheFolder(options.folders)}/lock`, options);
  // The other run may have obtained them meanwhile.
  const paths = new Map(await foundBinaries(wanted, options));
  let released = true;
  for (const binary of wanted.filter(({ name }) => !paths.has(name))) {
    const target = `${cacheFolder(options.folders)}/${binary.folder}/${binary.name}`;
    await Deno.mkdir(target.slice(0, target.lastIndexOf("/")), { recursive: true });
    if (released && binary.released) released = await downloaded(binary, target, options);
    if (!await isExecutable(target)) await buildBinary(binary, { target, ...options });
    paths.set(binary.name, target);
  }
  return paths;
}

async function foundBinaries(
  binaries: readonly Binary[],
  { folders }: ObtainOptions,
): Promise<ReadonlyMap<BinaryName, string>> {
  const found = new Map<BinaryName, string>();
  for (const binary of binaries) {
    const path = await firstExecutable(binaryPaths(binary, folders));
    if (path !== undefined) found.set(binary.name, path);
  }
  return found;
}

async function firstExecutable(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) if (await isExecutable(path)) return path;
  return undefined;
}

/** Downloads a binary; false, after saying why, when it can't be had: a build is the other way. */
async function downloaded(
  binary: Binary,
  target: string,
  { progress }: ObtainOptions,
): Promise<boolean> {
  const { name, version } = binary;
  const address = releaseAddress(binary, Deno.build.arch === "aarch64" ? "arm64" : "amd64");
  try {
    const sum = await publishedSum(address);
    await withProgress(
      progress,
      `downloading ${name} ${version}`,
      () => download(address, target, { sum }),
    );
    return true;
  } catch (error) {
    progress.say(`dl.k8s.io does not give ${name} (${oneLine(error)}); building instead`);
    return false;
  }
}

function oneLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";
}
