/**
 * Does somebody want a workload's replicas to be placed?
 *
 * @module
 */
import { ENABLED, PLACEMENT_PREFIX } from "../api/placement_keys.ts";
import { quotedText } from "../quoted_text.ts";
import type { PlacementFault } from "./placement_fault.ts";

/** Labels or annotations. */
export type Texts = Readonly<Record<string, string>>;

/** An object, as far as placement reads it. */
export interface Worded {
  readonly labels: Texts;
  readonly annotations: Texts;
}

/** Who may have a word in it. */
export interface WordedWorkload {
  readonly workload: Worded;
  /** Absent where it is not known: it has no words then. */
  readonly namespace?: Worded | undefined;
}

/** What they say. */
export type EnabledWord = "on" | "off" | "namespace-off";

const REMEDY = 'must be "true" or "false"';

/** The text under the key; `constructor` and the like are there only where somebody has set them. */
export function textAt(texts: Texts, key: string): string | undefined {
  return Object.hasOwn(texts, key) ? texts[key] : undefined;
}

/**
 * The word that counts: a namespace's label `"false"` takes out all that it has; otherwise the workload's
 * own, of whose label and annotation the one that says `"false"`; otherwise the namespace's `"true"`.
 * Without a word it is off. The namespace's misspelt label is a fault of those workloads alone that have
 * words of placement themselves.
 */
export function enabledWord(
  { workload, namespace }: WordedWorkload,
): EnabledWord | readonly PlacementFault[] {
  const around = textAt(namespace?.labels ?? {}, ENABLED);
  if (around === "false") return "namespace-off";
  const own = [
    { place: "label", text: textAt(workload.labels, ENABLED) },
    { place: "annotation", text: textAt(workload.annotations, ENABLED) },
  ] as const;
  if (own.some(({ text }) => text === "false")) return "off";
  const faults = own.flatMap(({ place, text }) => faultOf({ of: "workload", place, text }));
  if (isWorded(workload)) {
    faults.push(...faultOf({ of: "namespace", place: "label", text: around }));
  }
  if (faults.length > 0) return faults;
  return around === "true" || own.some(({ text }) => text === "true") ? "on" : "off";
}

function faultOf(
  { text, ...where }: Pick<PlacementFault, "of" | "place"> & { readonly text: string | undefined },
): PlacementFault[] {
  if (text === undefined || text === "true" || text === "false") return [];
  return [{ ...where, key: ENABLED, value: quotedText(text), remedy: REMEDY }];
}

function isWorded({ labels, annotations }: Worded): boolean {
  return [labels, annotations].some((texts) =>
    Object.keys(texts).some((key) => key.startsWith(PLACEMENT_PREFIX))
  );
}
