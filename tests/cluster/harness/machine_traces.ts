/**
 * Changes that a cluster makes on the machine outside its own folder, noted before it starts, so that
 * they can be undone.
 *
 * @module
 */
import { passedOn, readMounts, restoreControllers, UNIFIED_ROOT } from "./cgroups.ts";
import { readIfThere } from "./daemon.ts";
import { folderEntries, run } from "./shell.ts";
import type { Instance } from "./instance.ts";
import { networkName } from "./node_files.ts";

/** The machine's state before the cluster. */
export interface MachineTraces {
  /** Values by path under `/proc/sys`. */
  readonly settings: Readonly<Record<string, string>>;
  readonly absent: readonly string[];
  /** Controllers that the root of cgroup v2 passed on; undefined where there is none. */
  readonly controllers?: readonly string[];
}

/** Settings that a kubelet changes. Source: its `setupKernelTunables`. */
const SETTINGS: readonly string[] = [
  "vm/overcommit_memory",
  "vm/panic_on_oom",
  "kernel/panic",
  "kernel/panic_on_oops",
  "kernel/keys/root_maxkeys",
  "kernel/keys/root_maxbytes",
];

/** Folders with paths that are fixed in the kubelet, containerd or its network; parents after them. */
const FOLDERS: readonly string[] = [
  "/var/lib/kubelet/device-plugins",
  "/var/lib/kubelet",
  "/var/log/containers",
  "/var/log/pods",
  "/var/lib/cni/results",
  "/var/lib/cni",
  "/run/containerd/s",
  "/run/containerd/fifo",
  "/run/containerd",
  "/etc/cni/net.d",
  "/etc/cni",
  "/opt/cni/bin",
  "/opt/cni",
  "/run/netns",
];

/**
 * Sockets that our kubelet leaves in folders that may not be its own, by folder. Its registry of device
 * plugins has a fixed path; nothing else of it is outside of its own folder, as no devices are used.
 */
const SOCKETS: Readonly<Record<string, string>> = {
  "/var/lib/kubelet/device-plugins": "/var/lib/kubelet/device-plugins/kubelet.sock",
};

/** Where they are noted, beside the folders of all instances: it holds until the last one goes. */
const FILE = "machine-before.json";

/** Notes what is there, unless that was done when the first cluster was started. */
export async function noteTraces({ stateRoot }: Instance): Promise<void> {
  const file = `${stateRoot}/${FILE}`;
  if (await readIfThere(file) !== undefined) return;
  const settings: Record<string, string> = {};
  for (const name of SETTINGS) {
    const value = await readIfThere(`/proc/sys/${name}`);
    if (value !== undefined) settings[name] = value.trim();
  }
  const absent: string[] = [];
  for (const folder of FOLDERS) if (!await isThere(folder)) absent.push(folder);
  const controllers = await passedOn(UNIFIED_ROOT);
  const traces = { settings, absent, ...(controllers === undefined ? {} : { controllers }) };
  await Deno.writeTextFile(file, JSON.stringify(traces satisfies MachineTraces));
}

/** Undoes the changes that are this instance's, and the last instance all others too. */
export async function removeTraces(instance: Instance): Promise<void> {
  await removeLinks("/var/log/containers", instance);
  await removeNetworkResults(instance);
  const file = `${instance.stateRoot}/${FILE}`;
  const text = await readIfThere(file);
  if (text === undefined || !await isAlone(instance)) return;
  const { settings, absent, controllers }: MachineTraces = JSON.parse(text);
  for (const [name, value] of Object.entries(settings)) {
    const path = `/proc/sys/${name}`;
    if ((await readIfThere(path))?.trim() !== value) await Deno.writeTextFile(path, value);
  }
  for (const folder of absent) await removeFolder(folder);
  if (controllers !== undefined) await restoreControllers(UNIFIED_ROOT, controllers);
  await Deno.remove(file);
}

async function isAlone({ stateRoot, name }: Instance): Promise<boolean> {
  const entries = await folderEntries(stateRoot);
  return entries.every((entry) => !entry.isDirectory || entry.name === name);
}

/** A folder goes when it is empty, or has nothing but what our kubelet left: others may use it. */
async function removeFolder(folder: string): Promise<void> {
  const socket = SOCKETS[folder];
  if (socket !== undefined) await removeSocket(socket);
  if ((await folderEntries(folder)).length > 0) return;
  // `ip netns` mounts its folder onto itself.
  if ((await readMounts()).some(({ path }) => path === folder)) await run(["umount", folder]);
  try {
    await Deno.remove(folder);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Removes a socket, unless it is not there or in use. */
async function removeSocket(path: string): Promise<void> {
  try {
    (await Deno.connect({ transport: "unix", path })).close();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    if (!(error instanceof Deno.errors.ConnectionRefused)) throw error;
    await Deno.remove(path);
  }
}

/** Links to logs of pods that are gone. */
async function removeLinks(folder: string, { directory }: Instance): Promise<void> {
  for (const { name, isSymlink } of await folderEntries(folder)) {
    if (!isSymlink) continue;
    const path = `${folder}/${name}`;
    if ((await Deno.readLink(path)).startsWith(`${directory}/`)) await Deno.remove(path);
  }
}

/**
 * Removes the pod network's results for pods: `NETWORK-CONTAINER-DEVICE`, and under a name that all
 * networks share, the same containers' loopback devices.
 */
async function removeNetworkResults({ name }: Instance): Promise<void> {
  const folder = "/var/lib/cni/results";
  const files = (await folderEntries(folder)).map((entry) => entry.name);
  for (const file of resultsOf(networkName(name), files)) await Deno.remove(`${folder}/${file}`);
}

export function resultsOf(network: string, files: readonly string[]): readonly string[] {
  const prefix = `${network}-`;
  const containers = new Set(
    files.filter((file) => file.startsWith(prefix)).map((file) =>
      file.slice(prefix.length).split("-")[0]
    ),
  );
  return files.filter((file) =>
    file.startsWith(prefix) || containers.has(/^cni-loopback-([^-]+)-/.exec(file)?.[1])
  );
}

async function isThere(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
