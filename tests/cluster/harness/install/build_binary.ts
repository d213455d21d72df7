/**
 * Builds programs from their Go modules.
 *
 * @module
 */
import { type Binary, type BinaryFolders, cacheFolder } from "./binary.ts";
import { lockFile, type Progress, withProgress } from "../progress.ts";
import { findProgram, isExecutable, putInPlace, run } from "../shell.ts";

export interface BuildOptions {
  readonly target: string;
  readonly folders: BinaryFolders;
  /** The PATH in which `go` is looked for. */
  readonly path: string;
  readonly progress: Progress;
}

/**
 * The path of a program that only Go's module proxy has, below its name and version in the cache. Builds
 * it where it is not there yet.
 */
export async function builtProgram(
  program: BuildableBinary,
  options: Omit<BuildOptions, "target">,
): Promise<string> {
  const folder = `${cacheFolder(options.folders)}/${program.name}/${program.version}`;
  const target = `${folder}/${program.name}`;
  if (await isExecutable(target)) return target;
  // Two builds in one folder would rewrite each other's module.
  using _lock = await lockFile(`${folder}/lock`, options);
  if (!await isExecutable(target)) await buildBinary(program, { ...options, target });
  return target;
}

/** Builds with little priority: whatever else the machine does goes first. */
export async function buildBinary(
  binary: BuildableBinary,
  { target, folders, path, progress }: BuildOptions,
): Promise<void> {
  const { name, version, module, buildSeconds } = binary;
  if (await findProgram("go", path) === undefined) {
    throw new Error(
      `Cannot obtain ${name} ${version}: it is not at ${target}, can't be downloaded, and there is ` +
        "no go to build it with; install Go, or put the program there",
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
async function goSource(
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

export interface GoModule {
  readonly files: Readonly<Record<string, string>>;
  readonly linkerFlags: string;
}

/** Only what a cluster's names need. */
const COREDNS_MAIN = `package main

import (
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/template"
)

func main() { coremain.Run() }
`;

/** A binary of the cluster, or another program that is published as a Go module. */
export interface BuildableBinary
  extends Pick<Binary, "package" | "module" | "version" | "buildSeconds"> {
  readonly name: string;
}

/** The module that requires what a binary is built from. `goMod`: the required module's own. */
function goModule(binary: BuildableBinary, goMod: string): GoModule {
  const replaced = stagingModules(goMod);
  const lines = [
    `module coallocator.invalid/${binary.module.split("/").at(-1)}`,
    "",
    `go ${/^go (\S+)/m.exec(goMod)?.[1] ?? "1.26"}`,
    "",
    ...(binary.package === "." ? [] : [`tool ${binary.package}`, ""]),
    `require ${binary.module} ${binary.version}`,
    ...replaced.map((path) => `replace ${path} => ${path} ${stagingVersion(binary.version)}`),
    "",
  ];
  const main = binary.package === "." ? { "main.go": COREDNS_MAIN } : {};
  return { files: { "go.mod": lines.join("\n"), ...main }, linkerFlags: linkerFlags(binary) };
}

/**
 * Modules that Kubernetes keeps in its own repository and requires as v0.0.0, each published under
 * v0.MINOR.PATCH. Only those required as exactly that: a longer version is a real one.
 */
function stagingModules(goMod: string): readonly string[] {
  const found = [...goMod.matchAll(/^\s*(?:require )?(k8s\.io\/\S+) v0\.0\.0(?: \/\/.*)?$/gm)];
  return [...new Set(found.map((match) => match[1] ?? ""))].sort();
}

/** `v0.36.3` for `v1.36.3`. */
function stagingVersion(version: string): string {
  return version.replace(/^v1\./, "v0.");
}

/** Without the version in it, a server says that it is v0.0.0, and clients believe it. */
function linkerFlags({ module, version }: BuildableBinary): string {
  if (module !== "k8s.io/kubernetes") return "-s -w";
  const [major, minor] = version.slice(1).split(".");
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor };
  return [
    "-s -w",
    ...["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"].flatMap((path) =>
      Object.entries(values).map(([name, value]) => `-X ${path}.${name}=${value}`)
    ),
  ].join(" ");
}
