/**
 * Amounts beside each other: what would change, as numbers and as text.
 *
 * @module
 */
import {
  type AmountName,
  amountText,
  presentAmounts,
  presentText,
} from "../../../shared/view/changes.ts";
import type { Paint } from "../../terminal/terminal_text.ts";
import { UNKNOWN } from "../../../shared/view/figures.ts";
import type { Cell } from "../../terminal/aligned_rows.ts";
import type { AdvisedContainer } from "../../../shared/view/advice_view.ts";

/**
 * What there is and what is recommended: `500m → 336m`, `200m..250m → 336m` where pods differ, and
 * `none → 336m` where nothing is set; `-` is not known, or not recommended. A limit that is left alone
 * stands for itself. The template stands for pods where there are none.
 */
export function changeCell(container: AdvisedContainer, name: AmountName): Cell {
  const to = container.recommended?.[name];
  const present = presentText(container, name);
  if (to === undefined && isLimit(name)) return { text: present, how: "dim" };
  const text = `${present} → ${to === undefined ? UNKNOWN : amountText(name, to)}`;
  const how = to === undefined ? "dim" : directionOf(container, { name, to });
  return how === undefined ? { text } : { text, how };
}

/** What was adopted, `-` where nothing was. */
export function inForceText({ inForce }: AdvisedContainer, name: AmountName): string {
  const amount = inForce?.[name];
  return amount === undefined ? UNKNOWN : amountText(name, amount);
}

function isLimit(name: AmountName): boolean {
  return name === "cpuLimit" || name === "memoryLimit";
}

/** Raises cost something, so they stand out; undefined where some pods get more and others less. */
function directionOf(
  container: AdvisedContainer,
  { name, to }: { readonly name: AmountName; readonly to: number },
): Paint | undefined {
  // A limit that is not set is above any.
  const bare = isLimit(name) ? Infinity : 0;
  const present = presentAmounts(container).map((one) => one[name] ?? bare);
  if (present.every((amount) => amount === to)) return "dim";
  if (present.every((amount) => amount <= to)) return "yellow";
  return present.every((amount) => amount >= to) ? "green" : undefined;
}
