/**
 * The PriorityClasses of the benchmarks' pods.
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import type { KubeObject } from "./service_pod.ts";

const PATH = "/apis/scheduling.k8s.io/v1/priorityclasses";

/** Name of the class of a priority. */
export function priorityClassName(value: number): string {
  return `bench-${value}`;
}

/** The PriorityClass of a priority; pods of priority 0 need none. */
export function priorityClass(value: number): KubeObject {
  return {
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name: priorityClassName(value) },
    value,
  };
}

/** Makes it where it is not there yet; true when it was not. */
export async function createPriorityClass(
  connection: KubeConnection,
  value: number,
): Promise<boolean> {
  try {
    await connection.request({ method: "POST", path: PATH, body: priorityClass(value) });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 409) return false;
    throw error;
  }
}

/** Takes it away. */
export async function removePriorityClass(
  connection: KubeConnection,
  value: number,
): Promise<void> {
  await connection.request({ method: "DELETE", path: `${PATH}/${priorityClassName(value)}` });
}
