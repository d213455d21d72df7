/**
 * Values in force as fields of containers, and back.
 *
 * @module
 */
import type { PodContainer, Resources } from "../api/pod.ts";
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
    ...(cpu === undefined ? {} : { requestCPU: cpu }),
    ...(memory === undefined ? {} : { requestMemory: memory }),
    ...(cpuLimit === undefined ? {} : { limitCPU: cpuLimit }),
    ...(memoryLimit === undefined ? {} : { limitMemory: memoryLimit }),
  };
}

/** What a record keeps of them, with what the containers of the template have beside them. */
export function valuesInForce(
  inForce: ReadonlyMap<string, Resources>,
  template: readonly PodContainer[],
): readonly ValuesInForce[] {
  return [...inForce].map(([container, values]) => {
    const written = template.find(({ name }) => name === container);
    return {
      container,
      ...amountsOfResources(values),
      ...(written === undefined ? {} : { adoptedOn: amountsOfResources(written) }),
    };
  });
}

/** Fields of a container as amounts. */
export function amountsOfResources(
  { requestCPU, requestMemory, limitCPU, limitMemory }: Resources,
): ContainerAmounts {
  return {
    ...(requestCPU === undefined ? {} : { cpu: requestCPU }),
    ...(requestMemory === undefined ? {} : { memory: requestMemory }),
    ...(limitCPU === undefined ? {} : { cpuLimit: limitCPU }),
    ...(limitMemory === undefined ? {} : { memoryLimit: limitMemory }),
  };
}
