/**
 * The setting that says which nodes are spot.
 *
 * @module
 */
import * as z from "zod";
import { selectorOfTerms, strictSelectorSchema } from "../../config/label_selector_kind.ts";
import type { SettingKind } from "../../config/setting.ts";
import { treeKind } from "../../config/tree_kind.ts";
import { NODE_CLASS_PRESETS, type NodeClassPreset } from "../node_class_presets.ts";
import { type NodeClasses, nodeClassesFaults, type Toleration } from "../node_classes.ts";

const PRESETS = Object.keys(NODE_CLASS_PRESETS) as readonly NodeClassPreset[];
/** Of selectors and of tolerations. */
const MOST = 32;

const selectors = z.array(strictSelectorSchema).max(MOST).optional();

const toleration = z.strictObject({
  key: z.string().exactOptional(),
  operator: z.enum(["Exists", "Equal"]).exactOptional(),
  value: z.string().exactOptional(),
  effect: z.enum(["NoSchedule", "PreferNoSchedule", "NoExecute"]).exactOptional(),
  tolerationSeconds: z.int().min(0).exactOptional(),
}) satisfies z.ZodType<Toleration>;

const shortForm = z.string().transform((text, context): unknown => {
  const selector = selectorOfTerms(text);
  if (selector !== undefined) return selector;
  context.addIssue({ code: "custom", message: "must be labels, for instance class=spot" });
  return z.NEVER;
}).pipe(strictSelectorSchema);

/** Spotalis' first form: labels of either class in one text. */
const nodeLabels = z.strictObject({ spot: shortForm, onDemand: shortForm }).transform((
  { spot, onDemand },
): NodeClasses => ({
  spot: { selectors: [spot], tolerations: [] },
  "on-demand": { selectors: [onDemand], tolerations: [] },
}));

const classifier = z.strictObject({
  preset: z.enum(PRESETS).optional(),
  spotLabels: selectors,
  onDemandLabels: selectors,
  spotTolerations: z.array(toleration).max(MOST).optional(),
}).transform(({ preset, spotLabels, onDemandLabels, spotTolerations }, context): NodeClasses => {
  const begun = preset === undefined ? undefined : NODE_CLASS_PRESETS[preset];
  const spot = spotLabels ?? begun?.spot.selectors;
  const onDemand = onDemandLabels ?? begun?.["on-demand"].selectors;
  if (spot === undefined || onDemand === undefined) {
    // Half of a preset that fits nothing would send pods where no node is.
    const message = "must have a preset, or spotLabels and onDemandLabels";
    context.addIssue({ code: "custom", message });
    return z.NEVER;
  }
  return {
    spot: { selectors: spot, tolerations: spotTolerations ?? begun?.spot.tolerations ?? [] },
    "on-demand": { selectors: onDemand, tolerations: begun?.["on-demand"].tolerations ?? [] },
  };
});

/** The form that was meant is the one that faults are told of. */
function schemaOf(raw: unknown): z.ZodType<NodeClasses> {
  const isLabels = ["spot", "onDemand"].some((key) => Object.hasOwn(Object(raw), key));
  const form: z.ZodType<NodeClasses> = isLabels ? nodeLabels : classifier;
  return form.superRefine((classes, context) => {
    for (const fault of nodeClassesFaults(classes)) {
      context.addIssue({ code: "custom", message: inOurWords(fault, isLabels) });
    }
  });
}

/** A preset's name, or selectors of the nodes of both classes. */
export const nodeClassifierKind: SettingKind<NodeClasses> = treeKind({
  expects: `${PRESETS.join(", ")}, or a map with preset, spotLabels, onDemandLabels and ` +
    "spotTolerations, or with spot and onDemand as key=value",
  schema: schemaOf,
  shortForm: (text) => PRESETS.some((one) => one === text) ? { preset: text } : undefined,
});

/** The keys as they stand in the setting. */
function inOurWords(fault: string, isLabels: boolean): string {
  return fault.replaceAll("on-demand.selectors", isLabels ? "onDemand" : "onDemandLabels")
    .replaceAll("spot.selectors", isLabels ? "spot" : "spotLabels")
    .replaceAll("spot.tolerations", "spotTolerations");
}
