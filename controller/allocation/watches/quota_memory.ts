/**
 * Which changes of a quota concern all pods of its namespace.
 *
 * @module
 */
import type { ResourceQuota } from "../../../shared/api/namespace.ts";
import type { Informer } from "../../../shared/control/informer.ts";
import { createChangeMemory } from "./change_memory.ts";

/** See {@linkcode createChangeMemory}; keys are `namespace/name`. Its use changes all the time. */
export function createQuotaMemory(
  copy: Pick<Informer<ResourceQuota>, "all" | "get">,
): (key: string) => boolean {
  return createChangeMemory(
    copy,
    ({ hardLimitsCPU, requestsCPU, scopes }) =>
      JSON.stringify([hardLimitsCPU, requestsCPU?.hard, scopes]),
  );
}
