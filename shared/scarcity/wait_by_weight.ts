/**
 * Which containers wait for CPU, where the kernel does not show it (cgroup v1 has no PSI).
 *
 * @module
 */

/** A container on a node with CPU that is all used. Millicores. */
export interface WeighedUsage {
  /** In the last interval. */
  readonly usage: number;
  /** CPU request, the kernel's weight. */
  readonly request: number;
}

/** A container waits if it uses this share of what its weight gives it among those that wait. */
const BY_KERNEL = 0.85;

/**
 * Whether each container waits, if those that wait have CPU by weight: the kernel gives no more to a
 * container that could use it, and one that uses clearly less wants no more. Worked: with equal
 * requests and usages of 100, 900 and 1000 the last two wait.
 */
export function waitByWeight(containers: readonly WeighedUsage[]): boolean[] {
  let waiting = containers.map(({ request }) => request > 0);
  for (;;) {
    let [used, requests] = [0, 0];
    containers.forEach(({ usage, request }, i) => {
      if (waiting[i]) [used, requests] = [used + usage, requests + request];
    });
    const least = BY_KERNEL * used / requests;
    const next = containers.map(({ usage, request }, i) =>
      waiting[i] === true && usage >= least * request
    );
    if (next.every((waits, i) => waits === waiting[i])) return next;
    waiting = next;
  }
}
