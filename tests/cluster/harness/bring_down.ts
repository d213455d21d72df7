/**
 * Ends a cluster and removes all that it made.
 *
 * @module
 */
import { COMPONENT_NAMES } from "./component.ts";
import { endProcess, processStat, readIfThere } from "./daemon.ts";
import { folderEntries } from "./shell.ts";
import type { Instance } from "./instance.ts";
import { removeTraces } from "./machine_traces.ts";
import { killPods, removeCgroups, unmountBelow } from "./cgroups.ts";
import { deleteNamespace, namespaceExists, processesInside } from "./namespace.ts";
import { type Progress, withProgress } from "./progress.ts";
import { stopComponent } from "./running_component.ts";

/**
 * Brings a cluster down, in whatever state it is; false when there is none. Goes the way back that
 * starting went, so that nothing restarts what has ended.
 */
export async function bringDown(
  instance: Instance,
  { progress }: { readonly progress: Progress },
): Promise<boolean> {
  const { stateRoot, name } = instance;
  const known = (await folderEntries(stateRoot)).some((entry) => entry.name === name);
  if (!known && !await namespaceExists(instance)) {
    // A file of its name may be left by a restart of the machine.
    await deleteNamespace(instance);
    return false;
  }
  await withProgress(progress, "stopping kubelet and pods", async () => {
    await stopComponent(instance, "kubelet");
    await killPods(instance);
    await stopComponent(instance, "containerd");
    await endShims(instance);
  });
  await withProgress(progress, "stopping the control plane", async () => {
    for (const name of COMPONENT_NAMES.toReversed()) await stopComponent(instance, name);
  });
  await withProgress(progress, "removing mounts, cgroups, the namespace and files", async () => {
    await unmountBelow(instance.directory);
    await removeCgroups(instance);
    await reportGuests(instance, progress);
    await deleteNamespace(instance);
    await removeTraces(instance);
    if (known) await Deno.remove(instance.directory, { recursive: true });
  });
  return true;
}

/**
 * Ends the shims, which outlive containerd. They are known by the address of this instance's
 * containerd among their arguments, not by their name.
 */
async function endShims({ containerdSocket }: Instance): Promise<void> {
  for (const { name } of await folderEntries("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const args = (await readIfThere(`/proc/${name}/cmdline`) ?? "").split("\0");
    const stat = await processStat(Number(name));
    if (!args.includes(containerdSocket) || !args.includes("-address") || stat === undefined) {
      continue;
    }
    await endProcess({ pid: Number(name), startTicks: stat.startTicks }, { patience: 500 });
  }
}

/** Others' processes in the namespace are left alone; it goes on without a name until they end. */
async function reportGuests(instance: Instance, { say }: Progress): Promise<void> {
  const guests = await processesInside(instance);
  if (guests.length > 0) say(`still in the namespace, not ended: ${guests.join(", ")}`);
}
