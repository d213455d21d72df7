/**
 * What must hold once nothing is killed any more: limits come to rest, kernel and spec agree, and after
 * the opt-out every limit is the user's.
 *
 * @module
 */
import { parseAllocation } from "../../adapters/kube/allocations.ts";
import { listOf, objectOf } from "../../adapters/kube/json_fields.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import { enforcedLimits, podDirectories } from "../../tests/cluster/scene/node_cgroups.ts";
import type { RealNode } from "../../tests/cluster/scene/real_node.ts";
import { pause, until } from "../../tests/cluster/scene/until.ts";
import type { Violation } from "./promises.ts";
import type { Scene } from "./scene.ts";
import type { Watch } from "./watch.ts";

/** What the checks look at. */
export interface EndParts {
  readonly node: RealNode;
  readonly scene: Scene;
  readonly watch: Watch;
}

/** Limits rest within this time after the last component and program is back, ms. */
const REST_MS = 60_000;
/** Then nothing is written for this long, ms. */
const QUIET_MS = 30_000;
/** The kernel follows the spec within this time, ms. */
const AGREE_MS = 10_000;
/** The kubelet makes a container that crashed wait for up to 5 min. */
const RECOVERY_MS = 360_000;
const ALLOCATIONS = "/apis/allocation.mbcas.io/v1alpha1/podallocations";

/** Waits until the product's programs are Ready again and one of the controllers leads. */
export async function whenRecovered({ watch }: EndParts): Promise<void> {
  await until("agent and two controllers that are Ready, one of which leads", () => {
    const ready = ([component, count]: readonly ["mbcas-agent" | "mbcas-controller", number]) =>
      watch.programs(component).filter((pod) => pod.ready).length >= count;
    const all = ([["mbcas-agent", 1], ["mbcas-controller", 2]] as const).every(ready);
    return all && watch.leader() !== undefined ? true : undefined;
  }, { timeoutMs: RECOVERY_MS, everyMs: 500 });
}

/** Waits until all limits are at their ceilings, then watches them rest; ms until they were there. */
export async function checkRest({ node, scene, watch }: EndParts): Promise<number> {
  const began = performance.now();
  let faults = [{ promise: "NotAtCeiling", message: "not looked at" }];
  while (faults.length > 0 && performance.now() - began < REST_MS) {
    await pause(500);
    faults = ceilingFaults(await allocations(node), { scene, watch });
  }
  const restMs = performance.now() - began;
  faults.forEach(watch.violate);
  const quietSinceMs = Date.now();
  const differs = new Map<string, number>();
  while (Date.now() - quietSinceMs < QUIET_MS) {
    await pause(1000);
    for (const pod of watch.scenePods()) checkKernel(pod, { watch, differs });
  }
  if (watch.lastChangeMs > quietSinceMs) {
    const message = `a limit changed ${
      (watch.lastChangeMs - quietSinceMs) / 1000
    } s after the rest`;
    watch.violate({ promise: "NotSteady", message });
  }
  ceilingFaults(await allocations(node), { scene, watch }).forEach(watch.violate);
  return restMs;
}

async function allocations({ connection }: RealNode): Promise<ReadonlyMap<string, PodAllocation>> {
  const { items } = objectOf(await connection.request({ path: ALLOCATIONS }));
  return new Map(
    listOf(items).map((item) => {
      const allocation = parseAllocation(item);
      return [allocation.spec.podUID, allocation];
    }),
  );
}

/** While CPU is free every limit is at its ceiling, and what takes no part has its own. */
function ceilingFaults(
  records: ReadonlyMap<string, PodAllocation>,
  { scene, watch }: Pick<EndParts, "scene" | "watch">,
): Violation[] {
  return watch.scenePods().flatMap((pod) => {
    const { uid } = pod.metadata;
    if (scene.baselineOf(pod)?.managed !== true) return [];
    const bounds = records.get(uid)?.status?.bounds?.containers;
    return pod.containers.flatMap(({ name, limitCPU = Infinity }): Violation[] => {
      const { floor, ceiling } = bounds?.find((one) => one.name === name) ?? {};
      if (limitCPU === ceiling) return [];
      const message = `${objectKey(pod.metadata)}: ${limitCPU}m of ${floor}m to ${ceiling}m`;
      return [{ promise: "NotAtCeiling", message }];
    });
  });
}

/** Reports a quota that differs from the spec's limit in each look for too long. */
function checkKernel(
  pod: Pod,
  { watch, differs }: Pick<EndParts, "watch"> & { readonly differs: Map<string, number> },
): void {
  const quotas = quotasOf(pod);
  for (const { name, limitCPU } of pod.containers) {
    const key = `${pod.metadata.uid}/${name}`;
    const quota = quotas?.get(name);
    if (quota === limitCPU) differs.delete(key);
    else if (!differs.has(key)) differs.set(key, performance.now());
    else if (performance.now() - (differs.get(key) ?? 0) > AGREE_MS) {
      const message = `${objectKey(pod.metadata)}: spec ${limitCPU}m, kernel ${quota}m`;
      watch.violate({ promise: "Kernel", message });
    }
  }
}

function quotasOf(pod: Pod): ReadonlyMap<string, number | undefined> | undefined {
  try {
    return enforcedLimits(podDirectories(pod)).containers;
  } catch {
    return undefined;
  }
}

/** Opts everything out; returns the ms until every limit is the user's in spec, status and kernel. */
export async function checkRestored({ scene, watch }: EndParts): Promise<number> {
  await scene.setManaged(false, ["services", "guests", "tenants"]);
  const began = performance.now();
  const faults = (): Violation[] =>
    watch.scenePods().flatMap((pod) => {
      const quotas = quotasOf(pod);
      return pod.containers.flatMap(({ name, limitCPU, appliedLimitCPU }): Violation[] => {
        const own = scene.baselineOf(pod)?.limits.get(name);
        const quota = quotas?.get(name);
        if (limitCPU === own && appliedLimitCPU === own && quota === own) return [];
        const message = `${objectKey(pod.metadata)}: ${limitCPU}m, status ${appliedLimitCPU}m, ` +
          `kernel ${quota}m instead of ${own}m`;
        return [{ promise: "NotRestored", message }];
      });
    });
  while (faults().length > 0 && performance.now() - began < REST_MS) await pause(250);
  const restoredMs = performance.now() - began;
  // They stay so.
  await pause(AGREE_MS);
  faults().forEach(watch.violate);
  return restoredMs;
}
