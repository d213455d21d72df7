/**
 * What the name of a cgroup's directory says about the pod or container in it.
 *
 * @module
 */

/** A container that a runtime of the other driver mode put outside its pod's cgroup. */
export interface OrphanedContainer {
  readonly podUID: string;
  readonly containerID: string;
}

/** cgroupfs driver: `pod<uid>`. */
const POD_DIRECTORY = /^pod([0-9a-f-]{32,36})$/;
/** systemd driver: `kubepods-burstable-pod<uid>.slice`, and the same below a root of its own. */
const POD_SLICE = /(?:^|-)pod([0-9a-f_]{32,36})\.slice$/;
/** `<id>`, `crio-<id>`, `cri-containerd-<id>.scope`; `crio-conmon-<id>.scope` is no container. */
const CONTAINER =
  /^(?:(?:cri-containerd|crio|docker|pouch|libpod)-)?([0-9a-f]{12,64})(?:\.scope)?$/;
/** The runtime took `slice:prefix:id`, meant for systemd, for a path. */
const ORPHANED = /^([^:]+):[^:]*:([0-9a-f]{12,64})$/;
/** `kubepods.slice`, `kubepods`, and with a cgroup root of its own `kubelet-kubepods.slice`. */
const ROOT = /^(?:kubepods|kubepods\.slice|.+-kubepods\.slice)$/;

/**
 * The UID of the pod with this cgroup, with dashes as the API writes it. A static pod's is the
 * hash of its manifest, 32 hex digits without dashes.
 */
export function podUIDOfName(name: string): string | undefined {
  const uid = POD_DIRECTORY.exec(name)?.[1] ?? POD_SLICE.exec(name)?.[1];
  return uid?.replaceAll("_", "-");
}

/** The hex ID of the container with this cgroup. */
export function containerIDOfName(name: string): string | undefined {
  return CONTAINER.exec(name)?.[1];
}

/** Pod and container in a name like `kubepods-burstable-pod<uid>.slice:cri-containerd:<id>`. */
export function orphanedContainerOfName(name: string): OrphanedContainer | undefined {
  const [, slice = "", containerID] = ORPHANED.exec(name) ?? [];
  const podUID = podUIDOfName(slice);
  return podUID === undefined || containerID === undefined ? undefined : { podUID, containerID };
}

/** Whether this directory is the root of all pods. */
export function isPodsRoot(name: string): boolean {
  return ROOT.test(name);
}
