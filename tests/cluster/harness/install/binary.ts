/**
 * The binaries that the cluster needs: found, downloaded or built.
 *
 * @module
 */
import type { ComponentName } from "../component.ts";
import { buildBinary } from "./build_binary.ts";
import { lockFile, type Progress, withProgress } from "../progress.ts";
import { isExecutable, putInPlace } from "../shell.ts";
import { createHash } from "node:crypto";

const KUBERNETES_VERSION = "v1.36.3";

/** A binary that is built from Go modules; containerd comes with the system's packages. */
export type BinaryName = Exclude<ComponentName, "containerd"> | "kubectl";

export interface Binary {
  readonly name: BinaryName;
  /** Below the cache folder. */
  readonly folder: string;
  /** Go package of its main function. */
  readonly package: string;
  readonly module: string;
  readonly version: string;
  /** Whether dl.k8s.io has it. */
  readonly released: boolean;
  /** About how long a build takes on two cores, in seconds, after those before it in the list. */
  readonly buildSeconds: number;
}

/**
 * All binaries in the order in which they are built: those of one module follow each other, and
 * the first of them pays for what they have in common.
 */
export const BINARIES: readonly Binary[] = [
  kubernetes("kube-apiserver", 490),
  kubernetes("kube-controller-manager", 197),
  kubernetes("kubelet", 41),
  kubernetes("kube-scheduler", 14),
  kubernetes("kube-proxy", 15),
  kubernetes("kubectl", 30),
  {
    name: "etcd",
    // Beside the Kubernetes that it belongs to.
    folder: `kubernetes/${KUBERNETES_VERSION}`,
    package: "go.etcd.io/etcd/server/v3",
    module: "go.etcd.io/etcd/server/v3",
    version: "v3.6.8",
    released: false,
    buildSeconds: 78,
  },
  {
    name: "metrics-server",
    folder: "metrics-server/v0.9.0",
    package: "sigs.k8s.io/metrics-server/cmd/metrics-server",
    module: "sigs.k8s.io/metrics-server",
    version: "v0.9.0",
    released: false,
    buildSeconds: 190,
  },
  {
    name: "coredns",
    folder: "coredns/v1.14.6",
    // A main function with five plugins: the project's own one has those of every cloud.
    package: ".",
    module: "github.com/coredns/coredns",
    version: "v1.14.6",
    released: false,
    buildSeconds: 140,
  },
];

function kubernetes(name: BinaryName, buildSeconds: number): Binary {
  return {
    name,
    folder: `kubernetes/${KUBERNETES_VERSION}`,
    package: `k8s.io/kubernetes/cmd/${name}`,
    module: "k8s.io/kubernetes",
    version: KUBERNETES_VERSION,
    released: true,
    buildSeconds,
  };
}

export interface BinaryFolders {
  readonly cacheHome?: string | undefined;
  readonly home?: string | undefined;
}

export function cacheFolder({ cacheHome, home }: BinaryFolders): string {
  return `${cacheHome || `${home || "/root"}/.cache`}/coallocator`;
}

function cachedPath({ folder, name }: Binary, folders: BinaryFolders): string {
  return `${cacheFolder(folders)}/${folder}/${name}`;
}

export interface ObtainOptions {
  readonly folders: BinaryFolders;
  /** The PATH in which `go` is looked for. */
  readonly path: string;
  readonly progress: Progress;
}

/**
 * The paths of all binaries that are needed, `kubectl` among them only when `kubectl` is asked for.
 * Looked for in this order: the cache, dl.k8s.io, a build. Throws an `Error`
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
    const target = cachedPath(binary, options.folders);
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
    const path = cachedPath(binary, folders);
    if (await isExecutable(path)) found.set(binary.name, path);
  }
  return found;
}

/** Long enough for a slow network, short enough to see that there is none. */
const REACH_MS = 5_000;
/** A program has about 100 MB; a build is faster than a server that takes longer. */
const DOWNLOAD_MS = 180_000;

async function download(url: string, timeoutMs: number): Promise<Uint8Array<ArrayBuffer>> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
  if (answer.ok) return await answer.bytes();
  await answer.body?.cancel();
  throw new Error(`Cannot get ${url}: status ${answer.status}`);
}

/**
 * Downloads a binary and checks its published SHA-256; false, after saying why, when it can't be had: a
 * build is the other way.
 */
async function downloaded(
  { name, version }: Binary,
  target: string,
  { progress }: ObtainOptions,
): Promise<boolean> {
  const architecture = Deno.build.arch === "aarch64" ? "arm64" : "amd64";
  const address = `https://dl.k8s.io/${version}/bin/linux/${architecture}/${name}`;
  try {
    const published = new TextDecoder().decode(await download(`${address}.sha256`, REACH_MS));
    await withProgress(progress, `downloading ${name} ${version}`, async () => {
      const program = await download(address, DOWNLOAD_MS);
      const sum = createHash("sha256").update(program).digest("hex");
      if (!published.startsWith(sum)) {
        throw new Error(`Cannot use ${address}: its SHA-256 is ${sum}, expected ${published}`);
      }
      await putInPlace(target, (file) => Deno.writeFile(file, program, { mode: 0o755 }));
    });
    return true;
  } catch (error) {
    const [reason] = String(error).split("\n");
    progress.say(`dl.k8s.io does not give ${name} (${reason}); building instead`);
    return false;
  }
}
