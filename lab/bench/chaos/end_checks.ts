/**
 * Checks of the state after the last kill: limits come to rest, kernel and spec agree, and after the
 * opt-out every limit is the user's.
 *
 * @module
 */
import { parseAllocation } from "../../../adapters/kube/kinds/allocations.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import { objectKey } from "../../../shared/control/object_key.ts";
import { enforcedLimits, podDirectories } from "../../../tests/cluster/scene/node_cgroups.ts";
import type { Component } from "../../../tests/cluster/scene/product.ts";
import type { RealNode } from "../../../tests/cluster/scene/real_node.ts";
import { pause, until } from "../../../tests/cluster/scene/until.ts";
import { programIn } from "./programs.ts";
import type { BrokenPromise } from "./promises.ts";
import type { Scene } from "./scene.ts";
import type { Watch } from "./watch.ts";

/** The input of the checks. */
export interface EndParts {
  readonly node: RealNode;
  readonly scene: Scene;
  readonly watch: Watch;
}

/** Limits rest within this time after the last component and program is back, ms. */
const REST_MS = 60_000;
/** Then nothing is written for this long, ms. */
const QUIET_MS = 30_000;
/** The kernel follows the spec within this time on a node where all is well, ms. */
const KERNEL_MS = 10_000;
/** The kubelet makes a container that crashed wait for up to 5 min. */
const RECOVERY_MS = 360_000;
const ALLOCATIONS = "/apis/allocation.mbcas.io/v1alpha1/podallocations";

/** Waits until the product's programs run and are Ready again, and one of the controllers leads. */
export async function whenRecovered({ watch }: EndParts): Promise<void> {
  const running = (component: Component): number =>
    watch.programs(component).filter((pod) => pod.ready && programIn(pod) !== undefined).length;
  await until("agent and two controllers that are Ready, one of which leads", () => {
    const all = running("mbcas-agent") >= 1 && running("mbcas-controller") >= 2;
    return all && watch.leader() !== undefined ? true : undefined;
  }, { timeoutMs: RECOVERY_MS, everyMs: 500 });
}

/** Waits until all limits are at their ceilings, then watches them rest; ms until they were there. */
export async function checkRest(parts: EndParts): Promise<number> {
  const { watch } = parts;
  const began = performance.now();
  while ((await ceilingFaults(parts)).length > 0 && performance.now() - began < REST_MS) {
    await pause(500);
  }
  const restMs = performance.now() - began;
  const quietSinceMs = Date.now();
  await pause(QUIET_MS);
  if (watch.lastChangeMs > quietSinceMs) {
    const message = `a limit changed ${
      (watch.lastChangeMs - quietSinceMs) / 1000
    } s after the rest`;
    watch.violate({ promise: "NotSteady", message });
  }
  (await ceilingFaults(parts)).forEach((fault) => watch.violate(fault));
  return restMs;
}

/** While CPU is free every limit of the market is at its ceiling, in the spec and in the kernel. */
async function ceilingFaults({ node, scene, watch }: EndParts): Promise<BrokenPromise[]> {
  const records = (await node.items(ALLOCATIONS)).map(parseAllocation);
  return watch.scenePods().flatMap((pod) => {
    if (scene.baselineOf(pod)?.managed !== true) return [];
    const record = records.find(({ spec }) => spec.podUID === pod.metadata.uid);
    const bounds = record?.status?.bounds?.containers;
    return pod.containers.flatMap(({ name, limits: { cpu: limitCPU } }): BrokenPromise[] => {
      const { ceiling } = bounds?.find((one) => one.name === name) ?? {};
      const quota = quotasOf(pod).get(name);
      if (limitCPU === ceiling && quota === ceiling) return [];
      const limits = `spec ${limitCPU}m, kernel ${quota}m`;
      const message = `${objectKey(pod.metadata)}: ${limits}, ceiling ${ceiling}m`;
      return [{ promise: "NotAtCeiling", message }];
    });
  });
}

/** The limits that the kernel enforces on a pod's containers; empty while its cgroup is not there. */
function quotasOf(pod: Pod): ReadonlyMap<string, number | undefined> {
  try {
    return enforcedLimits(podDirectories(pod)).containers;
  } catch {
    return new Map();
  }
}

/**
 * Opts everything out; returns the ms until every limit is the user's in spec, status and kernel. The
 * kernel must not be late.
 */
export async function checkRestored({ scene, watch }: EndParts): Promise<number> {
  await scene.setManaged(false, ["services", "guests", "tenants"]);
  const began = performance.now();
  const faults = (limitsOf: (pod: Pod) => readonly (number | undefined)[][]): BrokenPromise[] =>
    watch.scenePods().flatMap((pod): BrokenPromise[] => {
      const own = [...scene.baselineOf(pod)?.limits.values() ?? []];
      const limits = limitsOf(pod);
      if (limits.every((some) => some.every((limit, index) => limit === own[index]))) return [];
      const message = `${objectKey(pod.metadata)}: ${limits.join(", ")} instead of ${own}`;
      return [{ promise: "NotRestored", message }];
    });
  const inSpec = ({ containers }: Pod): (number | undefined)[][] => [
    containers.map(({ limits: { cpu: limitCPU } }) => limitCPU),
  ];
  const everywhere = (pod: Pod): (number | undefined)[][] => [
    ...inSpec(pod),
    pod.containers.map(({ applied: { limits: { cpu: appliedLimitCPU } } }) => appliedLimitCPU),
    pod.containers.map(({ name }) => quotasOf(pod).get(name)),
  ];
  const passed = (): number => performance.now() - began;
  while (faults(inSpec).length > 0 && passed() < REST_MS) await pause(100);
  const specMs = passed();
  while (faults(everywhere).length > 0 && passed() < specMs + KERNEL_MS) await pause(100);
  const restoredMs = passed();
  // They stay so.
  await pause(KERNEL_MS);
  faults(everywhere).forEach((fault) => watch.violate(fault));
  return restoredMs;
}
