/**
 * The setting that says what tells that a node is about to go.
 *
 * @module
 */
import * as z from "zod";
import { NODE_PRESSURES } from "../../api/node.ts";
import type { SettingKind } from "../../config/setting.ts";
import { treeKind } from "../../config/tree_kind.ts";
import { DEPARTURE_PRESETS, type DeparturePreset, type DepartureSigns } from "../node_departure.ts";

const PRESETS = Object.keys(DEPARTURE_PRESETS) as readonly DeparturePreset[];
const MOST = 64;

/** A node that is not well stays where it is; one that is Ready all the more. */
const HEALTH: readonly string[] = ["Ready", ...NODE_PRESSURES];

const schema = z.strictObject({
  presets: z.array(z.enum(PRESETS)).default([]),
  taints: z.array(z.strictObject({
    key: z.string().min(1),
    value: z.string().exactOptional(),
    effect: z.string().exactOptional(),
    drained: z.boolean().exactOptional(),
  })).max(MOST).default([]),
  conditions: z.array(
    z.string().min(1).refine((type) => !HEALTH.includes(type), {
      error: `must say that a node goes: ${HEALTH.join(", ")} tell of its health`,
    }),
  ).max(MOST).default([]),
}).transform(({ presets, taints, conditions }): DepartureSigns => ({
  taints: [...presets.flatMap((one) => DEPARTURE_PRESETS[one].taints), ...taints],
  conditions: [...presets.flatMap((one) => DEPARTURE_PRESETS[one].conditions), ...conditions],
}));

/** Names of those who take nodes away, or a map with signs of one's own. */
export const departureSignsKind: SettingKind<DepartureSigns> = treeKind({
  expects: `some of ${PRESETS.join(", ")}, separated by commas, or a map with presets, taints ` +
    "(key, value, effect, drained) and conditions",
  schema: () => schema,
  shortForm(text) {
    const presets = text.split(",").map((word) => word.trim()).filter((word) => word !== "");
    return { presets };
  },
});
