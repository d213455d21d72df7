/**
 * A pod's cgroups on this machine, made by hand: a quota on two levels as the kubelet sets it, and a
 * busy process inside.
 *
 * Deno reads nothing under /sys short of `--allow-all`, so shells make the cgroups, and a bind mount
 * shows them, and only them, in a temporary directory. Permissions: run `sh`; read and write there.
 *
 * @module
 */

/** The machine's version of cgroups, or the reason why there can be no such cgroup. */
export type HostOffer = { readonly version: 1 | 2 } | { readonly reason: string };

export interface OwnCgroup extends AsyncDisposable {
  /** The cgroup root as an agent sees it. */
  readonly root: string;
  readonly podUID: string;
  readonly containerID: string;
}

const POD_UID = "0a4f7c1e-5d0b-4f6e-9a51-1c0f6a7b8d01";
const CONTAINER_ID = "ab".repeat(32);

const PROBE = `
  fail() { echo "$1"; exit 0; }
  [ "$(uname)" = Linux ] || fail "not Linux"
  [ "$(id -u)" = 0 ] || fail "not root"
  cd /sys/fs/cgroup 2>/dev/null || fail "no /sys/fs/cgroup"
  if [ -e cpu/cpu.cfs_quota_us ] && [ -e cpuacct/cpuacct.usage ]; then version=1; at=cpu
  elif grep -qw cpu cgroup.controllers 2>/dev/null; then version=2; at=.
  else fail "no cgroup cpu controller"; fi
  mkdir "$at/coallocator-probe-$$" 2>/dev/null || fail "cgroups are read-only"
  rmdir "$at/coallocator-probe-$$"
  there=$(mktemp -d)
  mount --bind "$there" "$there" 2>/dev/null || { rmdir "$there"; fail "mount is not permitted"; }
  umount "$there"; rmdir "$there"
  echo "$version"`;

/**
 * The weight is the largest there is: waiting for a CPU that others hold is not being throttled, and
 * must not be taken for it.
 *
 * $1: name of ours, $2: pod, $3: container, $4: quota in µs of 100 ms, $5: directory to show in.
 */
const MAKE: Readonly<Record<1 | 2, string>> = {
  1: `set -e; cd /sys/fs/cgroup
    for tree in cpu cpuacct pids; do
      mkdir -p "$tree/$1/kubepods/burstable/$2/$3" "$5/$tree"
      mount --bind "$tree/$1" "$5/$tree"
    done
    echo 262144 > "cpu/$1/cpu.shares"
    for level in "$2" "$2/$3"; do echo "$4" > "cpu/$1/kubepods/burstable/$level/cpu.cfs_quota_us"; done`,
  2: `set -e; cd /sys/fs/cgroup
    grep -qw cpu cgroup.subtree_control || echo +cpu > cgroup.subtree_control
    grep -qw pids cgroup.subtree_control || echo +pids > cgroup.subtree_control
    mkdir -p "$1/kubepods/burstable/$2/$3"
    for level in . kubepods kubepods/burstable "kubepods/burstable/$2"; do
      echo "+cpu +pids" > "$1/$level/cgroup.subtree_control"
    done
    echo 10000 > "$1/cpu.weight"
    for level in "$2" "$2/$3"; do echo "$4 100000" > "$1/kubepods/burstable/$level/cpu.max"; done
    mount --bind "$1" "$5"`,
};

/** The shell moves itself into the cgroup and spins there until it is ended. */
const SPIN: Readonly<Record<1 | 2, string>> = {
  1: `for tree in cpu cpuacct pids; do
      echo $$ > "/sys/fs/cgroup/$tree/$1/kubepods/burstable/$2/$3/cgroup.procs" || exit 1
    done; while :; do :; done`,
  2: `echo $$ > "/sys/fs/cgroup/$1/kubepods/burstable/$2/$3/cgroup.procs" || exit 1
    while :; do :; done`,
};

/** Goes on after each failure, so that as little as possible is left. */
const REMOVE = `
  for tree in "$5/cpu" "$5/cpuacct" "$5/pids" "$5"; do umount "$tree" 2>/dev/null; done
  cd /sys/fs/cgroup
  for tree in cpu cpuacct pids .; do
    for level in "/kubepods/burstable/$2/$3" "/kubepods/burstable/$2" /kubepods/burstable /kubepods ""; do
      for try in 1 2 3 4 5 6 7 8 9 10; do
        [ -d "$tree/$1$level" ] || break
        rmdir "$tree/$1$level" 2>/dev/null || sleep 0.05
      done
    done
    [ ! -d "$tree/$1" ] || { echo "$tree/$1 is left" >&2; failed=1; }
  done
  exit \${failed:-0}`;

/** Asks the machine; needs the permission to run `sh`, and says so when it is not given. */
export function hostOffer(): HostOffer {
  if (Deno.permissions.querySync({ name: "run", command: "sh" }).state !== "granted") {
    return { reason: "no permission to run sh" };
  }
  const { stdout } = new Deno.Command("sh", { args: ["-c", PROBE] }).outputSync();
  const answer = new TextDecoder().decode(stdout).trim();
  if (answer === "1") return { version: 1 };
  return answer === "2" ? { version: 2 } : { reason: answer };
}

/** Makes the cgroups with this quota on both levels and starts the busy process. */
export async function makeOwnCgroup(
  version: 1 | 2,
  { quota }: { readonly quota: number },
): Promise<OwnCgroup> {
  const root = await Deno.makeTempDir({ prefix: "own-cgroup-" });
  const args = [
    `coallocator-${crypto.randomUUID()}`,
    `pod${POD_UID}`,
    CONTAINER_ID,
    String(quota * 100),
    root,
  ];
  let busy: Deno.ChildProcess | undefined;
  const remove = async (): Promise<void> => {
    busy?.kill("SIGKILL");
    await busy?.status;
    await shell(REMOVE, args);
    await Deno.remove(root, { recursive: true });
  };
  try {
    await shell(MAKE[version], args);
    busy = new Deno.Command("sh", { args: ["-c", SPIN[version], "sh", ...args] }).spawn();
  } catch (error) {
    await remove();
    throw error;
  }
  return { root, podUID: POD_UID, containerID: CONTAINER_ID, [Symbol.asyncDispose]: remove };
}

async function shell(script: string, args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command("sh", { args: ["-c", script, "sh", ...args] })
    .output();
  if (!success) throw new Error(`Cannot run a shell: it said ${new TextDecoder().decode(stderr)}`);
}
