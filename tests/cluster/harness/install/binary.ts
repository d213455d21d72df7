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

/** Version of Kubernetes that is run. */
export const KUBERNETES_VERSION = "v1.36.3";

/** A binary that is built from Go modules; containerd comes with the system's packages. */
export type BinaryName = Exclude<ComponentName, "containerd"> | "kubectl";

/** Where one binary comes from. */
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

/** What the environment says about folders. */
export interface BinaryFolders {
  /** `KUBEBUILDER_ASSETS`, when set. */
  readonly assets?: string | undefined;
  /** `XDG_CACHE_HOME`, when set. */
  readonly cacheHome?: string | undefined;
  /** `HOME`. */
  readonly home?: string | undefined;
}

/** The folder that keeps what was downloaded or built. */
export function cacheFolder({ cacheHome, home }: BinaryFolders): string {
  return `${cacheHome || `${home || "/root"}/.cache`}/coallocator`;
}

/** Paths at which a binary may be, best first. */
export function binaryPaths(binary: Binary, folders: BinaryFolders): readonly string[] {
  const cached = `${cacheFolder(folders)}/${binary.folder}/${binary.name}`;
  return folders.assets ? [`${folders.assets}/${binary.name}`, cached] : [cached];
}

/** Where dl.k8s.io has a binary, by architecture as Go names it. */
export function releaseAddress(binary: Binary, architecture: "amd64" | "arm64"): string {
  return `https://dl.k8s.io/${binary.version}/bin/linux/${architecture}/${binary.name}`;
}

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

/** Long enough for a slow network, short enough to see that there is none. */
const REACH_MS = 5_000;

/** The longest time without a byte. */
const STALL_MS = 30_000;

/**
 * The SHA-256 that the server gives for an address, under the same with `.sha256`. Throws when the
 * server can't be reached within 5 s, or answers with something else.
 */
export async function publishedSum(address: string): Promise<string> {
  const answer = await fetch(`${address}.sha256`, { signal: AbortSignal.timeout(REACH_MS) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`Cannot get ${address}.sha256: status ${answer.status}`);
  const sum = /^[0-9a-f]{64}\b/.exec(text.trim())?.[0];
  if (sum === undefined) {
    throw new Error(`Cannot use ${address}.sha256: it begins ${JSON.stringify(text.slice(0, 40))}`);
  }
  return sum;
}

/** What is asked of a download. */
export interface DownloadOptions {
  /** The SHA-256 that it must have, in hexadecimal. */
  readonly sum: string;
  /**
   * After this many ms in which nothing came, it is given up.
   * @default {30_000}
   */
  readonly stallMs?: number;
}

/**
 * Puts an executable file in place. Throws, and leaves nothing, when the server refuses, breaks off
 * or stalls, or the sum is another one.
 */
export async function download(
  address: string,
  target: string,
  { sum, stallMs = STALL_MS }: DownloadOptions,
): Promise<void> {
  const controller = new AbortController();
  const stalled = (): void =>
    controller.abort(new Error(`Cannot get ${address}: nothing came for ${stallMs / 1000} s`));
  let timer = setTimeout(stalled, stallMs);
  const hash = createHash("sha256");
  const watched = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, next) {
      clearTimeout(timer);
      timer = setTimeout(stalled, stallMs);
      hash.update(chunk);
      next.enqueue(chunk);
    },
  });
  try {
    const answer = await fetch(address, { signal: controller.signal });
    if (!answer.ok || answer.body === null) {
      await answer.body?.cancel();
      throw new Error(`Cannot get ${address}: status ${answer.status}`);
    }
    const body = answer.body.pipeThrough(watched);
    await putInPlace(target, async (file) => {
      await Deno.writeFile(file, body, { mode: 0o755 });
      const actual = hash.digest("hex");
      if (actual !== sum) {
        throw new Error(`Cannot use ${address}: its SHA-256 is ${actual}, expected ${sum}`);
      }
    });
  } finally {
    clearTimeout(timer);
  }
}
