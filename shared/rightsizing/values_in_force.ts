/**
 * Values in force as fields of containers, and back.
 *
 * @module
 */
import type { PodContainer, Resources } from "../api/pod.ts";
import { defined, mapDefined } from "../defined.ts";
import type { ContainerAmounts, ValuesInForce } from "./workload_record.ts";

/** By container, what it is to have. */
export function resourcesInForce(
  values: readonly ValuesInForce[],
): ReadonlyMap<string, Resources> {
  return new Map(values.map((one) => [one.container, resourcesOfAmounts(one)]));
}

/** The amounts as fields of a container. */
export function resourcesOfAmounts(
  { cpu, memory, cpuLimit, memoryLimit }: ContainerAmounts,
): Resources {
  return {
    requests: defined({ cpu, memory }),
    limits: defined({ cpu: cpuLimit, memory: memoryLimit }),
  };
}

/** What a record keeps of them, with what the containers of the template have beside them. */
export function valuesInForce(
  inForce: ReadonlyMap<string, Resources>,
  template: readonly PodContainer[],
): readonly ValuesInForce[] {
  return [...inForce].map(([container, values]) => {
    const written = template.find(({ name }) => name === container);
    const adoptedOn = mapDefined(written, amountsOfResources);
    return defined({ container, ...amountsOfResources(values), adoptedOn });
  });
}

/** Requests and limits as amounts. */
export function amountsOfResources({ requests, limits }: Resources): ContainerAmounts {
  return defined({ ...requests, cpuLimit: limits.cpu, memoryLimit: limits.memory });
}
