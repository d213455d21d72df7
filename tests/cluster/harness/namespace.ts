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

/** Whether the namespace exists. */
export async function namespaceExists({ namespace }: Instance): Promise<boolean> {
  try {
    await Deno.stat(namespace);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Whether this process is in the namespace already. */
export async function isInside(instance: Instance): Promise<boolean> {
  if (!await namespaceExists(instance)) return false;
  const [there, here] = await Promise.all([
    Deno.stat(instance.namespace),
    Deno.stat("/proc/self/ns/net"),
  ]);
  return there.ino === here.ino && there.dev === here.dev;
}

/** Makes the namespace with the node's address, when it is not there. */
export async function makeNamespace(instance: Instance): Promise<void> {
  if (await namespaceExists(instance)) return;
  const { name } = instance;
  await run(["ip", "netns", "add", name]);
  const ip = (...args: string[]): Promise<string> => run(["ip", "-n", name, ...args]);
  await ip("link", "set", "lo", "up");
  // A bridge without ports holds the address: not every kernel has dummy devices.
  await ip("link", "add", "node0", "type", "bridge");
  await ip("address", "add", `${NETWORK.node}/32`, "dev", "node0");
  await ip("link", "set", "node0", "up");
  // Without a route the kernel refuses a Service's address before kube-proxy's rules see it.
  await ip("route", "add", "default", "dev", "node0", "src", NETWORK.node);
  await run(inNamespace(instance, ["sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"]));
}

/** Numbers of the processes that are in the namespace. */
export async function processesInside(instance: Instance): Promise<readonly number[]> {
  if (!await namespaceExists(instance)) return [];
  const text = await run(["ip", "netns", "pids", instance.name]);
  return text.trim().split("\n").filter((line) => line !== "").map(Number);
}

/** Deletes the namespace, when it is there. */
export async function deleteNamespace(instance: Instance): Promise<void> {
  if (await namespaceExists(instance)) await run(["ip", "netns", "delete", instance.name]);
}
