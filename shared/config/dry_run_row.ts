/**
 * The setting by which the controller only reports what it would do.
 *
 * @module
 */
import type { Setting } from "./setting.ts";
import { switchKind } from "./setting_kinds.ts";

/** Its row in the controller's table. */
export const DRY_RUN_ROW: Setting<boolean> = {
  key: "controller.dryRun",
  flag: "--dry-run",
  env: "MBCAS_DRY_RUN",
  default: "false",
  description:
    "Everything but the patch, of the market, of rightsizing and of placement; the status says " +
    "what would be changed",
  kind: switchKind,
  live: true,
  aliases: ["dryRun"],
};
