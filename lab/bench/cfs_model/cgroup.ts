/**
 * A pod's cgroup and its container's on this machine, for `bench:cfs-model`: quotas are written and
 * counters read as they are. Needs root and all permissions: Deno reads nothing under /sys with less.
 *
 * @module
 */
import { type LevelCounters, levelCounters } from "../../../tests/host/level_counters.ts";
import { hostOffer } from "../../../tests/host/own_cgroup.ts";
import { removeCgroup } from "../remove_cgroup.ts";

/** A level with a quota. */
export type Level = "pod" | "container";

/** The cgroups while they exist. */
export interface OwnGroups extends Disposable {
  /** Quota in millicores, or none, of a level. */
  setQuota(level: Level, millicores: number | undefined): void;
  /** Moves processes into the container, or back to where this program is. */
  move(pids: readonly number[], to: Level | "outside"): void;
  read(level: Level): LevelCounters;
}

/** What makes cgroups, one after the other; disposing of it removes the one that is left. */
export interface GroupFactory extends Disposable {
  readonly version: 1 | 2;
  make(): OwnGroups;
}

const HOST = "/sys/fs/cgroup";
const PERIOD_US = 100_000;

/** Asks what the machine offers. Throws an `Error` that says what it lacks. */
export function openGroups(): GroupFactory {
  const offer = hostOffer();
  if ("reason" in offer) throw new Error(`Cannot make cgroups: ${offer.reason}`);
  const { version } = offer;
  let last: OwnGroups | undefined;
  return {
    version,
    make() {
      last = version === 1 ? makeVersion1() : makeVersion2();
      return last;
    },
    [Symbol.dispose]: () => last?.[Symbol.dispose](),
  };
}

function makeVersion1(): OwnGroups {
  const name = `coallocator-cfs-${crypto.randomUUID()}`;
  const trees = ["cpu", "cpuacct"].map((tree) => `${HOST}/${tree}`);
  const [cpu = "", accounts = ""] = trees.map((tree) => `${tree}/${name}`);
  const paths = { pod: `${cpu}/pod`, container: `${cpu}/pod/container` } as const;
  return tended(trees.map((tree) => `${tree}/${name}`), {
    make() {
      for (const tree of [cpu, accounts]) {
        Deno.mkdirSync(`${tree}/pod/container`, { recursive: true });
      }
      // Waiting for a CPU that other programs hold is not what is measured.
      write(`${cpu}/cpu.shares`, "262144");
    },
    groups: {
      setQuota(level, millicores) {
        const quota = millicores === undefined ? -1 : millicores * PERIOD_US / 1000;
        write(`${paths[level]}/cpu.cfs_quota_us`, String(quota));
      },
      move(pids, to) {
        for (const tree of trees) {
          const place = to === "outside"
            ? tree
            : `${tree}/${name}/pod${to === "pod" ? "" : "/container"}`;
          for (const pid of pids) write(`${place}/cgroup.procs`, String(pid));
        }
      },
      read: (level) => levelCounters(paths[level], 1),
    },
  });
}

function makeVersion2(): OwnGroups {
  const own = `${HOST}/coallocator-cfs-${crypto.randomUUID()}`;
  const paths = { pod: `${own}/pod`, container: `${own}/pod/container` } as const;
  return tended([own], {
    make() {
      write(`${HOST}/cgroup.subtree_control`, "+cpu");
      for (const directory of [own, paths.pod]) {
        Deno.mkdirSync(directory);
        write(`${directory}/cgroup.subtree_control`, "+cpu");
      }
      Deno.mkdirSync(paths.container);
      write(`${own}/cpu.weight`, "10000");
    },
    groups: {
      setQuota(level, millicores) {
        const quota = millicores === undefined ? "max" : millicores * PERIOD_US / 1000;
        write(`${paths[level]}/cpu.max`, `${quota} ${PERIOD_US}`);
      },
      move(pids, to) {
        const place = to === "outside" ? HOST : paths[to];
        for (const pid of pids) write(`${place}/cgroup.procs`, String(pid));
      },
      read: (level) => levelCounters(paths[level], 2),
    },
  });
}

/** Makes the directories and removes them, also when making them failed half way. */
function tended(
  roots: readonly string[],
  { make, groups }: { make: () => void; groups: Omit<OwnGroups, typeof Symbol.dispose> },
): OwnGroups {
  const remove = (): void => {
    for (const root of roots) removeCgroup(root);
  };
  try {
    make();
  } catch (error) {
    remove();
    throw error;
  }
  return { ...groups, [Symbol.dispose]: remove };
}

function write(path: string, text: string): void {
  try {
    Deno.writeTextFileSync(path, text);
  } catch (cause) {
    throw new Error(`Cannot write ${text} to ${path}: ${cause}`, { cause });
  }
}
