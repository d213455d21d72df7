/**
 * Debian packages that the cluster needs.
 *
 * @module
 */
import { type Progress, withProgress } from "./progress.ts";
import { findProgram, isExecutable, run } from "./shell.ts";

/** Packages by the program that tells whether they are there. */
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

/** Its presence with exit code 101 keeps packages from starting their services. */
const POLICY = "/usr/sbin/policy-rc.d";

/** The packages to install, given the programs that are missing. */
export function packagesFor(missing: readonly string[]): readonly string[] {
  return [...new Set(missing.map((program) => PACKAGES[program] ?? program))].sort();
}

/**
 * Installs what is missing, when `apt-get` is there; returns the folder of the pod network's
 * programs. Throws an `Error` that names the packages when they can't be installed.
 */
export async function installPackages(
  { path, progress }: { readonly path: string; readonly progress: Progress },
): Promise<{ readonly cniFolder: string }> {
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
    await withProgress(progress, `installing ${packages.join(" ")}`, () => aptInstall(packages));
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

/** No service is started by it: the cluster starts a containerd of its own. */
async function aptInstall(packages: readonly string[]): Promise<void> {
  const policy = await denyServices();
  try {
    const env = { DEBIAN_FRONTEND: "noninteractive" };
    await run(["apt-get", "update", "-q"], { env });
    await run(["apt-get", "install", "-q", "-y", "--no-install-recommends", ...packages], { env });
  } finally {
    if (policy) await Deno.remove(POLICY);
  }
}

/** Whether the file is ours; the machine's own is left as it is. */
async function denyServices(): Promise<boolean> {
  if (await isExecutable(POLICY)) return false;
  await Deno.writeTextFile(POLICY, "#!/bin/sh\nexit 101\n", { mode: 0o755, createNew: true });
  return true;
}
