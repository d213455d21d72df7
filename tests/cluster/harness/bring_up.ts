/**
 * The part of `up` that runs inside the namespace: starts what is missing and waits for it.
 *
 * @module
 */
import { addonObjects } from "./addon_objects.ts";
import { baseImages, loadImage } from "./install/image_archive.ts";
import { type ComponentName, PHASES } from "./component.ts";
import { pause, readIfThere } from "./daemon.ts";
import type { Instance, Settings } from "./instance.ts";
import { notReady } from "./cluster_status.ts";
import {
  awaited,
  openProber,
  type Prober,
  startComponent,
  waitForComponent,
} from "./running_component.ts";
import type { Progress } from "./progress.ts";
import { findProgram, run } from "./shell.ts";

/** What the inner part is given. */
export interface BringUpOptions {
  readonly settings: Settings;
  readonly progress: Progress;
  readonly path: string;
}

/** Brings the cluster up; returns the names of what had to be started. */
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
