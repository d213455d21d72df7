/**
 * The setting that turns the market on and off.
 *
 * @module
 */
import type { Setting } from "./setting.ts";
import { switchKind } from "./setting_kinds.ts";

/** Its row in the controller's table; the command reads it, too. */
export const MARKET_ROW: Setting<boolean> = {
  key: "market.enabled",
  flag: "--market",
  env: "MBCAS_MARKET",
  default: "on",
  description:
    "off gives every pod its original limits back; `market: off` in the file says the same, " +
    "in a file with faults, too",
  kind: switchKind,
  shorthand: true,
  live: true,
};
