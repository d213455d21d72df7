/**
 * Debian packages that the cluster needs.
 *
 * @module
 */
import { interruptible } from "../components/interruptible.ts";
import { type Progress, withProgress } from "../progress.ts";
import { removeLeftPolicy, withoutServices } from "../components/service_policy.ts";
import { findProgram, isExecutable, run } from "../shell.ts";

/** Packages by the program that shows whether they are installed. */
export const PACKAGES: Readonly<Record<string, string>> = {
  containerd: "containerd",
  ctr: "containerd",
  runc: "runc",
  nft: "nftables",
  ip: "iproute2",
  openssl: "openssl",
  busybox: "busybox-static",
  // containerd forwards ports with it.
  socat: "socat",
};

/** Where distributions put the programs of the pod network. */
const CNI_FOLDERS: readonly string[] = ["/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"];

const CNI_PACKAGE = "containernetworking-plugins";

/** Where programs are looked for, and what {@linkcode withoutServices} needs. */
export interface PackageOptions {
  readonly path: string;
  /** The folder of all instances. */
  readonly stateRoot: string;
  readonly progress: Progress;
}

/** The packages to install, given the programs that are missing. */
export function packagesFor(missing: readonly string[]): readonly string[] {
  return [...new Set(missing.map((program) => PACKAGES[program] ?? program))].sort();
}

/**
 * Installs what is missing, when `apt-get` is there; returns the folder of the pod network's
 * programs. Throws an `Error` that names the packages when they can't be installed.
 */
export async function installPackages(
  { path, stateRoot, progress }: PackageOptions,
): Promise<{ readonly cniFolder: string }> {
  await removeLeftPolicy({ stateRoot, progress });
  const missing: string[] = [];
  for (const program of Object.keys(PACKAGES)) {
    if (await findProgram(program, path) === undefined) missing.push(program);
  }
  const cniFolder = await findCNIFolder();
  if (cniFolder === undefined) missing.push(CNI_PACKAGE);
  const packages = packagesFor(missing);
  if (packages.length > 0) {
    if (await findProgram("apt-get", path) === undefined) {
      throw new Error(
        `Cannot install ${packages.join(", ")}: there is no apt-get; install them by hand`,
      );
    }
    // No service is started by it: the cluster starts a containerd of its own.
    const install = (): Promise<void> =>
      withoutServices(() => interruptible((signal) => aptInstall(packages, { signal })), {
        stateRoot,
        progress,
      });
    await withProgress(progress, `installing ${packages.join(" ")}`, install);
  }
  const found = cniFolder ?? await findCNIFolder();
  if (found === undefined) {
    throw new Error(`Cannot find the pod network's programs: none in ${CNI_FOLDERS.join(", ")}`);
  }
  return { cniFolder: found };
}

async function findCNIFolder(): Promise<string | undefined> {
  for (const folder of CNI_FOLDERS) if (await isExecutable(`${folder}/bridge`)) return folder;
  return undefined;
}

async function aptInstall(
  packages: readonly string[],
  { signal }: { readonly signal: AbortSignal },
): Promise<void> {
  const options = { env: { DEBIAN_FRONTEND: "noninteractive" }, signal };
  await run(["apt-get", "update", "-q"], options);
  await run(["apt-get", "install", "-q", "-y", "--no-install-recommends", ...packages], options);
}
