/**
 * Builds a program from its Go module.
 *
 * @module
 */
import { type BinaryFolders, cacheFolder } from "./binary.ts";
import { type BuildableBinary, goModule } from "./go_module.ts";
import { type Progress, withProgress } from "../progress.ts";
import { putInPlace } from "./put_in_place.ts";
import { findProgram, run } from "../shell.ts";

/** What a build needs. */
export interface BuildOptions {
  /** Where the program is put. */
  readonly target: string;
  readonly folders: BinaryFolders;
  /** The PATH in which `go` is looked for. */
  readonly path: string;
  readonly progress: Progress;
}

/** Builds with little priority: whatever else the machine does goes first. */
export async function buildBinary(
  binary: BuildableBinary,
  { target, folders, path, progress }: BuildOptions,
): Promise<void> {
  const { name, version, module, buildSeconds } = binary;
  if (await findProgram("go", path) === undefined) {
    throw new Error(
      `Cannot obtain ${name} ${version}: it is not at ${target}, its release server does not give ` +
        "it, and there is no go to build it with; install Go or set KUBEBUILDER_ASSETS to a " +
        "folder that has it",
    );
  }
  const about = `building ${name} ${version}, about ${buildSeconds} s`;
  await withProgress(progress, about, async () => {
    const directory = `${cacheFolder(folders)}/build/${module.replaceAll("/", "_")}`;
    await Deno.mkdir(directory, { recursive: true });
    const env = goEnvironment(path);
    const go = (...args: string[]): Promise<string> =>
      run(["nice", "-n", "15", "go", ...args], { directory, env });
    const { goMod } = await goSource(binary, { path });
    const { files, linkerFlags } = goModule(binary, await Deno.readTextFile(goMod));
    for (const [file, text] of Object.entries(files)) {
      await Deno.writeTextFile(`${directory}/${file}`, text);
    }
    // Tools of one module are built from one go.mod each; tidying is quick once all is downloaded.
    await go("mod", "tidy");
    await putInPlace(
      target,
      (file) => go("build", "-trimpath", "-ldflags", linkerFlags, "-o", file, binary.package),
    );
  });
}

/** A module's own go.mod and the folder of its source, downloaded where it is not there yet. */
export async function goSource(
  { module, version }: Pick<BuildableBinary, "module" | "version">,
  { path }: Pick<BuildOptions, "path">,
): Promise<{ readonly goMod: string; readonly folder: string }> {
  const command = ["go", "mod", "download", "-json", `${module}@${version}`];
  const answer: unknown = JSON.parse(await run(command, { env: goEnvironment(path) }));
  if (typeof answer === "object" && answer !== null && "GoMod" in answer && "Dir" in answer) {
    const { GoMod: goMod, Dir: folder } = answer;
    if (typeof goMod === "string" && typeof folder === "string") return { goMod, folder };
  }
  throw new TypeError(`Cannot read the answer of go mod download: ${JSON.stringify(answer)}`);
}

function goEnvironment(path: string): Record<string, string> {
  return { PATH: path, GOFLAGS: "-mod=mod", CGO_ENABLED: "0", GOWORK: "off" };
}
