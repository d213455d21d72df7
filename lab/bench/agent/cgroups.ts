/**
 * A node's worth of cgroups on this machine: real kernel files of pods that hold nothing, and of a
 * few that hold a process which works a little. Needs root; permissions: all, since Deno reads
 * nothing under /sys with less.
 *
 * @module
 */
import { hostOffer } from "../../../tests/host/own_cgroup.ts";
import { type BenchPod, LIMIT, REQUEST } from "./api.ts";

/** The cgroups while they exist. */
export interface AgentCgroups extends AsyncDisposable {
  /** The cgroup root as an agent sees it. */
  readonly root: string;
  readonly version: 1 | 2;
  /** Sets the quota of a pod and its container, as a kubelet does. Millicores. */
  setLimit(pod: BenchPod, millicores: number): void;
}

const HOST = "/sys/fs/cgroup";
const PERIOD_US = 100_000;

/**
 * Works and sleeps for a tenth of a second, over and over. It works about a tenth of the time, so that
 * the market's limit comes close, or a fiftieth, far below any floor.
 */
const WORK = 'steps="$1"; shift; for tasks in "$@"; do echo $$ > "$tasks" || exit 1; done; ' +
  'while :; do i=0; while [ $i -lt "$steps" ]; do i=$((i+1)); done; sleep 0.1; done';
const STEPS = { hard: "4000", little: "400" } as const;

/**
 * Makes the cgroups of these pods, a sandbox and a container each. `working` pods hold a process, which
 * comes close to the limits that the market gives them if it works `hard`. Throws an
 * `Error` that says what the machine lacks.
 */
export async function makeAgentCgroups(
  pods: readonly BenchPod[],
  { working, hard }: { readonly working: number; readonly hard: boolean },
): Promise<AgentCgroups> {
  const offer = hostOffer();
  if ("reason" in offer) throw new Error(`Cannot make cgroups: ${offer.reason}`);
  const { version } = offer;
  const name = `coallocator-bench-${crypto.randomUUID()}`;
  const trees = version === 1 ? ["cpu", "cpuacct", "pids"] : ["."];
  const root = await Deno.makeTempDir({ prefix: "agent-cgroups-" });
  const mounted: string[] = [];
  const workers: Deno.ChildProcess[] = [];
  const at = (tree: string, path = ""): string => `${HOST}/${tree}/${name}${path}`;

  const setLimit = (pod: BenchPod, millicores: number): void =>
    writeLimit(at(trees[0] ?? ".", podPath(pod.uid)), { ...pod, version, millicores });

  const remove = async (): Promise<void> => {
    for (const worker of workers) {
      worker.kill("SIGKILL");
      await worker.status;
    }
    for (const place of mounted) await command("umount", place);
    await Deno.remove(root, { recursive: true });
    for (const tree of trees) await command("sh", "-c", REMOVE, "sh", at(tree));
  };

  try {
    if (version === 2) await Deno.writeTextFile(`${HOST}/cgroup.subtree_control`, "+cpu +pids");
    for (const tree of trees) {
      const place = tree === "." ? root : `${root}/${tree}`;
      await Deno.mkdir(at(tree, "/kubepods/burstable"), { recursive: true });
      if (version === 2) {
        for (const level of ["", "/kubepods", "/kubepods/burstable"]) {
          await delegate(at(tree, level));
        }
      }
      for (const { uid, containerID, sandboxID } of pods) {
        const pod = at(tree, podPath(uid));
        await Deno.mkdir(pod);
        if (version === 2) await delegate(pod);
        for (const id of [containerID, sandboxID]) await Deno.mkdir(`${pod}/${id}`);
      }
      await Deno.mkdir(place, { recursive: true });
      await command("mount", "--bind", at(tree), place);
      mounted.push(place);
    }
    for (const pod of pods) {
      writeWeights(at(trees[0] ?? ".", podPath(pod.uid)), { ...pod, version });
      setLimit(pod, LIMIT);
    }
    for (const { uid, containerID } of pods.slice(0, working)) {
      const tasks = trees.map((tree) => at(tree, `${podPath(uid)}/${containerID}/cgroup.procs`));
      const steps = hard ? STEPS.hard : STEPS.little;
      workers.push(new Deno.Command("sh", { args: ["-c", WORK, "sh", steps, ...tasks] }).spawn());
    }
  } catch (error) {
    await remove();
    throw error;
  }
  return { root, version, setLimit, [Symbol.asyncDispose]: remove };
}

function podPath(uid: string): string {
  return `/kubepods/burstable/pod${uid}`;
}

function writeLimit(
  pod: string,
  { version, containerID, millicores }: BenchPod & {
    readonly version: 1 | 2;
    readonly millicores: number;
  },
): void {
  const quota = millicores * PERIOD_US / 1000;
  // The kernel wants a raise at the pod first, a decrease at the container first.
  for (const directory of [pod, `${pod}/${containerID}`, pod]) {
    const [file, text] = version === 1
      ? ["cpu.cfs_quota_us", `${quota}`]
      : ["cpu.max", `${quota} ${PERIOD_US}`];
    try {
      Deno.writeTextFileSync(`${directory}/${file}`, text);
    } catch (error) {
      if (directory !== pod) throw error;
    }
  }
}

/** Writes the weights of a kubelet: a sandbox with the container's weight would hold CPU of its own. */
function writeWeights(
  pod: string,
  { version, containerID, sandboxID }: BenchPod & { readonly version: 1 | 2 },
): void {
  const ofRequest = Math.floor(REQUEST * 1024 / 1000);
  for (
    const [directory, shares] of [
      [pod, ofRequest],
      [`${pod}/${containerID}`, ofRequest],
      [`${pod}/${sandboxID}`, 2],
    ] as const
  ) {
    const weight = 1 + Math.floor((shares - 2) * 9999 / 262_142);
    const [file, text] = version === 1 ? ["cpu.shares", `${shares}`] : ["cpu.weight", `${weight}`];
    Deno.writeTextFileSync(`${directory}/${file}`, text);
  }
}

async function delegate(directory: string): Promise<void> {
  await Deno.writeTextFile(`${directory}/cgroup.subtree_control`, "+cpu +pids");
}

async function command(name: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(name, { args }).output();
  if (success) return;
  throw new Error(`Cannot ${name} ${args.join(" ")}: ${new TextDecoder().decode(stderr).trim()}`);
}

/**
 * Removes a cgroup with all below it, deepest first; the last process may take a moment to go. Deno would
 * remove the files in it first, which a cgroup does not allow.
 */
const REMOVE = 'for try in 1 2 3 4 5 6 7 8 9 10; do [ -d "$1" ] || exit 0; ' +
  'find "$1" -depth -type d -exec rmdir {} +; sleep 0.1; done; [ ! -d "$1" ]';
