/**
 * One cluster of the harness: its name and all that follows from it. Several may run side by side,
 * each in a network namespace of its own, so addresses and ports are the same in all of them.
 *
 * @module
 */
import { z } from "zod";
import { readIfThere } from "./daemon.ts";
import { run } from "./shell.ts";

export interface Instance {
  readonly name: string;
  /** The folder of all instances. */
  readonly stateRoot: string;
  /** The network namespace, as `ip netns` makes it. */
  readonly namespace: string;
  /** Holds all state: certificates, logs, data of etcd, containerd and the kubelet. */
  readonly directory: string;
  readonly nodeName: string;
  /** The kubelet's cgroup root; `/` for the default instance, which so looks like any node. */
  readonly cgroupRoot: string;
  /** For administrators; its server is reached only within the namespace. */
  readonly kubeconfig: string;
  readonly containerdSocket: string;
}

export const DEFAULT_NAME = "coallocator";

/** Not in a temporary folder that is emptied while the cluster runs, nor in a home: root owns it. */
export const STATE_ROOT = "/var/tmp/coallocator-cluster";

/** Addresses inside a namespace. Nothing leaves it, so they can collide with no other network. */
export const NETWORK = {
  node: "192.168.77.1",
  /** Room for the 300 pods that the kubelet accepts. */
  pods: "10.88.0.0/22",
  services: "10.0.0.0/24",
  apiService: "10.0.0.1",
  dnsService: "10.0.0.10",
  etcd: "http://127.0.0.1:2379",
  apiServer: "https://127.0.0.1:6443",
} as const;

/** The paths of an instance. Throws a `RangeError` for a name that is no DNS label of 40 bytes. */
export function instanceNamed(
  name: string,
  { stateRoot = STATE_ROOT }: { readonly stateRoot?: string } = {},
): Instance {
  if (!/^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$/.test(name)) {
    throw new RangeError(
      `Cannot use the instance ${JSON.stringify(name)}: expected at most 40 of a-z, 0-9 and -, ` +
        "beginning with a letter",
    );
  }
  const directory = `${stateRoot}/${name}`;
  return {
    name,
    stateRoot,
    namespace: `/var/run/netns/${name}`,
    directory,
    nodeName: `${name}-node`,
    cgroupRoot: name === DEFAULT_NAME ? "/" : `/coallocator-${name}`,
    kubeconfig: `${directory}/admin.kubeconfig`,
    containerdSocket: `${directory}/containerd.sock`,
  };
}

const schema = z.strictObject({
  cpuManager: z.enum(["none", "static"]),
  cpuQuota: z.enum(["on", "off"]),
  cniFolder: z.string(),
  snapshotter: z.enum(["overlayfs", "native"]),
  /** Paths by name; kubectl among them. */
  binaries: z.record(z.string(), z.string()),
});

export type Settings = z.infer<typeof schema>;

function parseSettings(text: string): Settings {
  const result = schema.safeParse(JSON.parse(text));
  if (result.success) return result.data;
  throw new SyntaxError(
    `Cannot read the cluster's settings: ${result.error.issues[0]?.message}; bring it down and up`,
  );
}

/** The settings of an instance; undefined when it was not brought up. */
export async function readSettings({ directory }: Instance): Promise<Settings | undefined> {
  const text = await readIfThere(`${directory}/settings.json`);
  return text === undefined ? undefined : parseSettings(text);
}

export async function writeSettings({ directory }: Instance, settings: Settings): Promise<void> {
  await Deno.writeTextFile(`${directory}/settings.json`, `${JSON.stringify(settings, null, 2)}\n`);
}

/** The command that runs another one in the namespace; the file system stays the machine's own. */
export function inNamespace({ namespace }: Instance, command: readonly string[]): string[] {
  // Not `ip netns exec`: it mounts a new /sys, without the cgroups.
  return ["nsenter", `--net=${namespace}`, ...command];
}

/**
 * Whether the namespace exists. A plain file of its name is none: a restart of the machine leaves
 * that where `/run` is on a disk.
 */
export async function namespaceExists({ namespace }: Instance): Promise<boolean> {
  const [there, here] = await Promise.all([fileAt(namespace), Deno.stat("/proc/self/ns/net")]);
  return there?.dev === here.dev;
}

export async function isInside({ namespace }: Instance): Promise<boolean> {
  const [there, here] = await Promise.all([fileAt(namespace), Deno.stat("/proc/self/ns/net")]);
  return there?.ino === here.ino && there.dev === here.dev;
}

/** Makes the namespace with the node's address, when it is not there or only in part. */
export async function makeNamespace(instance: Instance): Promise<void> {
  if (await namespaceExists(instance)) {
    // Running processes must not lose their network, whatever was done to that.
    if (await isComplete(instance) || (await processesInside(instance)).length > 0) return;
  }
  await deleteNamespace(instance);
  await run(["ip", "netns", "add", instance.name]);
  try {
    await setUp(instance);
  } catch (error) {
    await deleteNamespace(instance);
    throw error;
  }
}

async function setUp(instance: Instance): Promise<void> {
  const ip = (...args: string[]): Promise<string> => run(["ip", "-n", instance.name, ...args]);
  await ip("link", "set", "lo", "up");
  await run(inNamespace(instance, ["sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"]));
  // A bridge without ports holds the address: not every kernel has dummy devices.
  await ip("link", "add", "node0", "type", "bridge");
  await ip("address", "add", `${NETWORK.node}/32`, "dev", "node0");
  await ip("link", "set", "node0", "up");
  // Without a route the kernel refuses a Service's address before kube-proxy's rules see it. It
  // comes last: by it one sees that the rest is done.
  await ip("route", "add", "default", "dev", "node0", "src", NETWORK.node);
}

async function isComplete({ name }: Instance): Promise<boolean> {
  return (await run(["ip", "-n", name, "route", "show", "default"])).includes("dev node0");
}

export async function processesInside(instance: Instance): Promise<readonly number[]> {
  if (!await namespaceExists(instance)) return [];
  const text = await run(["ip", "netns", "pids", instance.name]);
  return text.trim().split("\n").filter((line) => line !== "").map(Number);
}

/** Deletes the namespace, or what a restart of the machine left of it, when it is there. */
export async function deleteNamespace(instance: Instance): Promise<void> {
  if (await namespaceExists(instance)) await run(["ip", "netns", "delete", instance.name]);
  else if (await fileAt(instance.namespace) !== undefined) await Deno.remove(instance.namespace);
}

async function fileAt(path: string): Promise<Deno.FileInfo | undefined> {
  try {
    return await Deno.stat(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
