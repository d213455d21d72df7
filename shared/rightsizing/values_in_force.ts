/**
 * Values in force as fields of containers, and back.
 *
 * @module
 */
import type { Resources } from "../api/pod.ts";
import type { ValuesInForce } from "./workload_record.ts";

/** By container, what it is to have. */
export function resourcesInForce(
  values: readonly ValuesInForce[],
): ReadonlyMap<string, Resources> {
  return new Map(
    values.map(({ container, cpu, memory, cpuLimit, memoryLimit }) => [
      container,
      {
        ...(cpu === undefined ? {} : { requestCPU: cpu }),
        ...(memory === undefined ? {} : { requestMemory: memory }),
        ...(cpuLimit === undefined ? {} : { limitCPU: cpuLimit }),
        ...(memoryLimit === undefined ? {} : { limitMemory: memoryLimit }),
      },
    ]),
  );
}

/** What a record keeps of them. */
export function valuesInForce(inForce: ReadonlyMap<string, Resources>): readonly ValuesInForce[] {
  return [...inForce].map(([container, values]) => {
    const { requestCPU, requestMemory, limitCPU, limitMemory } = values;
    return {
      container,
      ...(requestCPU === undefined ? {} : { cpu: requestCPU }),
      ...(requestMemory === undefined ? {} : { memory: requestMemory }),
      ...(limitCPU === undefined ? {} : { cpuLimit: limitCPU }),
      ...(limitMemory === undefined ? {} : { memoryLimit: limitMemory }),
    };
  });
}
