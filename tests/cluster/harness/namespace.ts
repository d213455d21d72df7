/**
 * The network namespace of a cluster.
 *
 * @module
 */
import { type Instance, NETWORK } from "./instance.ts";
import { run } from "./shell.ts";

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

/** Whether this process is in the namespace already. */
export async function isInside({ namespace }: Instance): Promise<boolean> {
  const [there, here] = await Promise.all([fileAt(namespace), Deno.stat("/proc/self/ns/net")]);
  return there?.ino === here.ino && there.dev === here.dev;
}

/** Makes the namespace with the node's address, when it is not there or only in part. */
export async function makeNamespace(instance: Instance): Promise<void> {
  if (await namespaceExists(instance)) {
    // What is running must not lose its network, whatever was done to that.
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

/** Numbers of the processes that are in the namespace. */
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
