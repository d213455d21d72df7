/**
 * The programs that are measured and those that load them: Debian's packages, unpacked into the
 * cache and not installed, and vegeta, built from its Go module.
 *
 * @module
 */
import { keep, readKept } from "./app_result.ts";
import { type BinaryFolders, cacheFolder } from "../../../tests/cluster/harness/install/binary.ts";
import {
  type BuildOptions,
  builtProgram,
} from "../../../tests/cluster/harness/install/build_binary.ts";
import { withProgress } from "../../../tests/cluster/harness/progress.ts";
import { run, wholePath } from "../../../tests/cluster/harness/shell.ts";

/** The programs that the benchmark runs. */
export interface Programs {
  /** The folder into which the packages are unpacked. */
  readonly root: string;
  readonly vegeta: string;
  /** By program. */
  readonly versions: Readonly<Record<string, string>>;
}

const VEGETA = {
  name: "vegeta",
  module: "github.com/tsenart/vegeta/v12",
  package: "github.com/tsenart/vegeta/v12",
  version: "v12.13.0",
  buildSeconds: 60,
} as const;

/**
 * Packages with versions that count for the figures; Debian keeps one version of each, so none is
 * pinned.
 */
const APPS: readonly string[] = ["nginx", "redis-server", "webdis"];
/** Libraries of the programs that a small Debian may lack; `redis-tools` has redis's server. */
const LIBRARIES = (
  "redis-tools libatomic1 libb64-0d libcrypt1 libevent-2.1-7 libhiredis0.14 libjansson4 " +
  "libjemalloc2 liblzf1 libpcre2-8-0 libssl3 libsystemd0 zlib1g"
).split(" ");

function foldersOf(folders: BinaryFolders): { readonly debian: string; readonly vegeta: string } {
  const cache = cacheFolder(folders);
  return { debian: `${cache}/real-apps`, vegeta: `${cache}/vegeta/${VEGETA.version}/vegeta` };
}

/** Obtains what is not in the cache yet. Needs the network, which the cluster's namespace lacks. */
async function obtainPrograms(options: Omit<BuildOptions, "target">): Promise<void> {
  const { debian } = foldersOf(options.folders);
  await builtProgram(VEGETA, options);
  if (await readKept<Programs["versions"]>(`${debian}/versions.json`) !== undefined) return;
  await withProgress(options.progress, "unpacking nginx and redis", () => unpack(debian));
}

/** The file with the versions is written last: without it all is done again. */
async function unpack(folder: string): Promise<void> {
  const [archives, root] = [`${folder}/archives`, `${folder}/root`];
  await Deno.mkdir(archives, { recursive: true });
  await run(["apt-get", "update", "-q"]);
  await run(["apt-get", "download", "-q", ...APPS, ...LIBRARIES], { directory: archives });
  const versions: Record<string, string> = {};
  for await (const { name } of Deno.readDir(archives)) {
    const file = `${archives}/${name}`;
    await run(["dpkg-deb", "-x", file, root]);
    const field = async (key: string): Promise<string> =>
      (await run(["dpkg-deb", "-f", file, key])).trim();
    const packageName = await field("Package");
    if (APPS.includes(packageName)) versions[packageName] = await field("Version");
  }
  await Deno.remove(archives, { recursive: true });
  await keep(`${folder}/versions.json`, versions);
}

/** Finds what {@linkcode obtainPrograms} has left. Throws an `Error` where that is missing. */
export async function findPrograms(folders: BinaryFolders): Promise<Programs> {
  const { debian, vegeta } = foldersOf(folders);
  const versions = await readKept<Programs["versions"]>(`${debian}/versions.json`);
  if (versions === undefined) {
    throw new Error(
      `Cannot find nginx and redis in ${debian}: run deno task bench:real-apps, which obtains them`,
    );
  }
  return {
    root: `${debian}/root`,
    vegeta,
    versions: { ...versions, deno: Deno.version.deno, vegeta: VEGETA.version },
  };
}

// Before the cluster is up: its network reaches nothing outside.
if (import.meta.main) {
  await obtainPrograms({
    folders: { cacheHome: Deno.env.get("XDG_CACHE_HOME"), home: Deno.env.get("HOME") },
    path: wholePath(Deno.env.get("PATH")),
    progress: { say: (text) => console.error(text), now: () => performance.now() },
  });
}
