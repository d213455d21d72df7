/**
 * The installation's rules of placement, as far as they decide what is shown.
 *
 * @module
 */
import {
  DEFAULT_PRESET,
  NODE_CLASS_PRESETS,
} from "../../../shared/placement/node_class_presets.ts";
import { DEFAULT_DEPARTURE_SIGNS } from "../../../shared/placement/node_departure.ts";
import type { PlacementScope } from "../../../shared/placement/placement_gate.ts";
import type { NodeRules } from "../../../shared/placement/pod_standing.ts";
import type { ShortageOptions } from "../../../shared/placement/shortage.ts";
import { SYSTEM_NAMESPACE } from "../kube/installation.ts";

/** The rules. */
export interface PlacementRules extends NodeRules {
  /** Who takes part. */
  readonly scope: PlacementScope;
  /** True: the controller decides and reports, and changes nothing. */
  readonly readOnly: boolean;
  /** Between two moves of a workload, ms. */
  readonly cooldownMs: number;
  readonly shortage: ShortageOptions;
}

/** The controller's defaults. */
export const DEFAULT_PLACEMENT_RULES: PlacementRules = {
  scope: { ownNamespace: SYSTEM_NAMESPACE },
  classes: NODE_CLASS_PRESETS[DEFAULT_PRESET],
  departures: DEFAULT_DEPARTURE_SIGNS,
  readOnly: false,
  cooldownMs: 10_000,
  shortage: {},
};

/** The rules, and what else is to be said of them. */
export interface InstalledRules {
  readonly rules: PlacementRules;
  /** In sentences, for people. */
  readonly notes: readonly string[];
}

/** What the text of the settings file says. */
export function placementRules(_text: string): InstalledRules {
  return { rules: DEFAULT_PLACEMENT_RULES, notes: [] };
}
