/**
 * Finds, downloads or builds the binaries.
 *
 * @module
 */
import { createHash } from "node:crypto";
import {
  BINARIES,
  type Binary,
  type BinaryFolders,
  type BinaryName,
  binaryPaths,
  cacheFolder,
  releaseAddress,
} from "./binary.ts";
import { goModule } from "./go_module.ts";
import { type Progress, withProgress } from "./progress.ts";
import { findProgram, isExecutable, run } from "./shell.ts";

/** What is needed to obtain them. */
export interface ObtainOptions {
  readonly folders: BinaryFolders;
  /** The PATH in which `go` is looked for. */
  readonly path: string;
  readonly progress: Progress;
}

/** Long enough for a slow network, short enough to see that there is none. */
const REACH_MS = 5_000;

/**
 * The paths of all binaries that are needed, `kubectl` among them only when `kubectl` is asked for.
 * Looked for in this order: `KUBEBUILDER_ASSETS`, the cache, dl.k8s.io, a build. Throws an `Error`
 * that names the ways when none is open.
 */
export async function obtainBinaries(
  names: readonly BinaryName[],
  options: ObtainOptions,
): Promise<ReadonlyMap<BinaryName, string>> {
  const paths = new Map<BinaryName, string>();
  let download = true;
  for (const binary of BINARIES.filter(({ name }) => names.includes(name))) {
    const found = await firstExecutable(binaryPaths(binary, options.folders));
    if (found !== undefined) {
      paths.set(binary.name, found);
      continue;
    }
    const target = `${cacheFolder(options.folders)}/${binary.folder}/${binary.name}`;
    await Deno.mkdir(target.slice(0, target.lastIndexOf("/")), { recursive: true });
    if (download && binary.released) download = await downloaded(binary, target, options);
    if (!await isExecutable(target)) await build(binary, target, options);
    paths.set(binary.name, target);
  }
  return paths;
}

async function firstExecutable(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) if (await isExecutable(path)) return path;
  return undefined;
}

/** Downloads and checks a binary; false, after saying so, when the server is not reached. */
async function downloaded(
  binary: Binary,
  target: string,
  { progress }: ObtainOptions,
): Promise<boolean> {
  const address = releaseAddress(binary, Deno.build.arch === "aarch64" ? "arm64" : "amd64");
  let expected: string;
  try {
    const answer = await fetch(`${address}.sha256`, { signal: AbortSignal.timeout(REACH_MS) });
    if (!answer.ok) throw new Error(`Cannot get ${address}.sha256: status ${answer.status}`);
    expected = (await answer.text()).trim();
  } catch (error) {
    progress.say(`dl.k8s.io is not to be had (${oneLine(error)}); building instead`);
    return false;
  }
  await withProgress(progress, `downloading ${binary.name} ${binary.version}`, async () => {
    const answer = await fetch(address);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const actual = createHash("sha256").update(bytes).digest("hex");
    if (actual !== expected) {
      throw new Error(`Cannot use ${address}: its SHA-256 is ${actual}, expected ${expected}`);
    }
    await putInPlace(target, (file) => Deno.writeFile(file, bytes, { mode: 0o755 }));
  });
  return true;
}

/** Builds with little priority: whatever else the machine does goes first. */
async function build(
  binary: Binary,
  target: string,
  { folders, path, progress }: ObtainOptions,
): Promise<void> {
  if (await findProgram("go", path) === undefined) {
    throw new Error(
      `Cannot obtain ${binary.name} ${binary.version}: it is at none of ${
        binaryPaths(binary, folders).join(", ")
      }, dl.k8s.io does not give it, and there is no go to build it with; install Go or set ` +
        "KUBEBUILDER_ASSETS to a folder that has it",
    );
  }
  const about = `building ${binary.name} ${binary.version}, about ${binary.buildSeconds} s`;
  await withProgress(progress, about, async () => {
    const directory = `${cacheFolder(folders)}/build/${binary.module.replaceAll("/", "_")}`;
    await Deno.mkdir(directory, { recursive: true });
    const env = { PATH: path, GOFLAGS: "-mod=mod", CGO_ENABLED: "0", GOWORK: "off" };
    const go = (...args: string[]): Promise<string> =>
      run(["nice", "-n", "15", "go", ...args], { directory, env });
    const answer: unknown = JSON.parse(
      await go("mod", "download", "-json", `${binary.module}@${binary.version}`),
    );
    const { files, linkerFlags } = goModule(binary, await Deno.readTextFile(goModOf(answer)));
    for (const [name, text] of Object.entries(files)) {
      await Deno.writeTextFile(`${directory}/${name}`, text);
    }
    // Tools of one module are built from one go.mod each; tidying is quick once all is downloaded.
    await go("mod", "tidy");
    await putInPlace(
      target,
      (file) => go("build", "-trimpath", "-ldflags", linkerFlags, "-o", file, binary.package),
    );
  });
}

function goModOf(answer: unknown): string {
  if (typeof answer === "object" && answer !== null && "GoMod" in answer) {
    if (typeof answer.GoMod === "string") return answer.GoMod;
  }
  throw new TypeError(`Cannot read the answer of go mod download: ${JSON.stringify(answer)}`);
}

/** A reader never sees half a file, nor does a run that was broken off leave one. */
async function putInPlace(
  target: string,
  write: (file: string) => Promise<unknown>,
): Promise<void> {
  const temporary = `${target}.${Deno.pid}.new`;
  try {
    await write(temporary);
    await Deno.rename(temporary, target);
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    throw error;
  }
}

function oneLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";
}
