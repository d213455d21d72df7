/**
 * The part of `up` that runs inside the namespace: starts what is missing and waits for it.
 *
 * @module
 */
import { addonObjects, COMPONENT_NAMES, type ComponentName, PHASES } from "./component.ts";
import { baseImages, loadImage } from "./install/image_archive.ts";
import { endProcess, pause, processStat, readIfThere } from "./daemon.ts";
import {
  deleteNamespace,
  type Instance,
  namespaceExists,
  processesInside,
  type Settings,
} from "./instance.ts";
import {
  awaited,
  notReady,
  openProber,
  type Prober,
  startComponent,
  stopComponent,
  waitForComponent,
} from "./running_component.ts";
import { type Progress, withProgress } from "./progress.ts";
import { findProgram, folderEntries, run } from "./shell.ts";
import { removeTraces } from "./machine_traces.ts";
import { killPods, removeCgroups, unmountBelow } from "./cgroups.ts";

export interface BringUpOptions {
  readonly settings: Settings;
  readonly progress: Progress;
  readonly path: string;
}

export async function bringUp(
  instance: Instance,
  { settings, progress, path }: BringUpOptions,
): Promise<readonly ComponentName[]> {
  using prober = await openProber(instance);
  const started: ComponentName[] = [];
  for (const phase of PHASES) {
    for (const name of phase) {
      if (await startComponent(instance, name, { settings })) started.push(name);
    }
    await Promise.all(phase.map((name) =>
      waitForComponent(
        instance,
        awaited(instance, name, (probe) => prober.ask(probe)),
        { progress },
      )
    ));
    const fresh = phase.filter((name) => started.includes(name));
    if (fresh.length > 0) progress.say(`serving: ${fresh.join(", ")}`);
    if (phase.includes("containerd")) {
      await once(instance, "images", () => importBaseImages(instance, path));
    }
    if (phase.includes("kube-apiserver")) {
      await once(instance, "addons", () => applyAddons(instance, settings));
    }
  }
  await waitForNode(instance, prober, { progress });
  return started;
}

/** Does something that holds as long as the instance's folder does. */
async function once(
  { directory }: Instance,
  what: string,
  action: () => Promise<void>,
): Promise<void> {
  const marker = `${directory}/run/${what}.done`;
  if (await readIfThere(marker) !== undefined) return;
  await action();
  await Deno.writeTextFile(marker, "");
}

async function importBaseImages(instance: Instance, path: string): Promise<void> {
  const program = await findProgram("busybox", path) ?? "busybox";
  const archives = baseImages({
    busybox: await Deno.readFile(program),
    applets: (await run([program, "--list"])).trim().split("\n"),
    architecture: Deno.build.arch === "aarch64" ? "arm64" : "amd64",
  });
  for (const [index, archive] of archives.entries()) {
    const file = `${instance.directory}/run/base-${index}.tar`;
    await Deno.writeFile(file, archive);
    await loadImage(instance, file);
    await Deno.remove(file);
  }
}

/** The namespace kube-system comes a moment after the API server is ready. */
async function applyAddons(instance: Instance, { binaries }: Settings): Promise<void> {
  const ca = await Deno.readTextFile(`${instance.directory}/pki/ca.crt`);
  const input = JSON.stringify(addonObjects({ ca }));
  const kubectl = [binaries["kubectl"] ?? "kubectl", "--kubeconfig", instance.kubeconfig];
  for (let tries = 0;; tries++) {
    try {
      await run([...kubectl, "apply", "-f", "-"], { input });
      return;
    } catch (error) {
      if (tries === 20) throw error;
      await pause(500);
    }
  }
}

async function waitForNode(
  instance: Instance,
  prober: Prober,
  { progress }: { readonly progress: Progress },
): Promise<void> {
  const ask = async (): Promise<string | undefined> => {
    try {
      return notReady(await prober.get(`/api/v1/nodes/${instance.nodeName}`));
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
  const about = `the node ${instance.nodeName}`;
  await waitForComponent(instance, { about, ask, component: "kubelet" }, { progress });
  await waitForServiceAccount(instance, prober, { progress });
}

/** No pod can be made in a namespace before its ServiceAccount is there. */
async function waitForServiceAccount(
  instance: Instance,
  prober: Prober,
  { progress }: { readonly progress: Progress },
): Promise<void> {
  const path = "/api/v1/namespaces/default/serviceaccounts/default";
  await waitForComponent(instance, {
    about: "the default ServiceAccount",
    ask: () => prober.get(path).then(() => undefined, (error) => String(error)),
    component: "kube-controller-manager",
  }, { progress });
}

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
