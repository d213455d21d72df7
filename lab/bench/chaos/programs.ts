/**
 * The processes of the node as this machine numbers them: those of the harness, and the product's
 * programs in their pods. All of it works while the API server is away.
 *
 * @module
 */
import type { Pod } from "../../../shared/api/pod.ts";
import { bringUp } from "../../../tests/cluster/harness/bring_up.ts";
import { COMPONENT_NAMES, type ComponentName } from "../../../tests/cluster/harness/component.ts";
import { signal } from "../../../tests/cluster/harness/daemon.ts";
import {
  runningComponent,
  startComponent,
} from "../../../tests/cluster/harness/running_component.ts";
import { readSettings } from "../../../tests/cluster/harness/instance.ts";
import { clusterInstance } from "../../../tests/cluster/scene/harness_access.ts";
import { podDirectories } from "../../../tests/cluster/scene/node_cgroups.ts";
import { pause } from "../../../tests/cluster/scene/until.ts";

/** The process of the product's program in one of its pods; undefined while it does not run. */
export function programIn(pod: Pod): number | undefined {
  try {
    const { pod: directory } = podDirectories({ ...pod, containers: [] });
    for (const { name, isDirectory } of Deno.readDirSync(directory)) {
      if (!isDirectory) continue;
      const pids = Deno.readTextFileSync(`${directory}/${name}/cgroup.procs`).trim().split("\n");
      const found = pids.find((pid) =>
        pid !== "" && /mbcas-(agent|controller)/.test(Deno.readTextFileSync(`/proc/${pid}/cmdline`))
      );
      if (found !== undefined) return Number(found);
    }
  } catch {
    // A cgroup or a process that goes while it is looked at.
  }
  return undefined;
}

/** Keeps the node's own components running, and kills them. */
export interface Keeper {
  /** Kills it with SIGKILL and starts it `downMs` later; false when it does not run. */
  kill(name: ComponentName, downMs: number): Promise<boolean>;
  /**
   * Starts what does not run until the signal is aborted, then all at once; resolves when all of them
   * serve and the node is Ready.
   */
  run(end: AbortSignal): Promise<void>;
}

/** Looks after the components of the cluster that runs here. Throws an `Error` where it is not up. */
export async function createKeeper(): Promise<Keeper> {
  const instance = clusterInstance();
  const settings = await readSettings(instance);
  if (settings === undefined) throw new Error("Cannot kill components: the cluster is not up");
  const progress = { say: (): void => {}, now: (): number => performance.now() };
  const startAt = new Map<ComponentName, number>();
  return {
    async kill(name, downMs) {
      const running = await runningComponent(instance, name);
      if (running === undefined) return false;
      startAt.set(name, performance.now() + downMs);
      signal(running.pid, "SIGKILL");
      return true;
    },
    async run(end) {
      while (!end.aborted) {
        for (const name of COMPONENT_NAMES) {
          const isDue = performance.now() >= (startAt.get(name) ?? 0);
          if (isDue) await startComponent(instance, name, { settings });
        }
        await pause(250);
      }
      await bringUp(instance, { settings, progress, path: Deno.env.get("PATH") ?? "" });
    },
  };
}
