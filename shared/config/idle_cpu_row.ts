/**
 * The setting of what becomes of CPU that no container needs.
 *
 * @module
 */
import type { Setting } from "./setting.ts";
import { choiceKind } from "./setting_kinds.ts";

/** The values of {@linkcode IdleCPU}. */
export const IDLE_CPU = ["free", "tight"] as const;

/**
 * What becomes of CPU that no container needs. `free`: while there is some, limits are at their
 * ceilings. `tight`: limits follow demand.
 */
export type IdleCPU = typeof IDLE_CPU[number];

/** Its row in both programs' tables: agents act on it, and the controller checks the file. */
export const IDLE_CPU_ROW: Setting<IdleCPU> = {
  key: "market.idleCPU",
  flag: "--idle-cpu",
  env: "MBCAS_IDLE_CPU",
  default: "free",
  description:
    "free: limits are at their ceilings while a node has idle CPU, and bind while its CPU is " +
    "scarce. tight: limits follow demand at all times. Agents act on it, from their next start on",
  kind: choiceKind(IDLE_CPU),
};
