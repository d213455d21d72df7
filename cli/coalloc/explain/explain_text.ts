/**
 * An explanation as text. Pure.
 *
 * @module
 */
import { paint, type TerminalStyle, textLines } from "../../terminal/terminal_text.ts";
import { alignedRows, type Cell } from "../../terminal/aligned_rows.ts";
import { verdictOf } from "../../../shared/view/blocker.ts";
import { stagesOf } from "../../../shared/view/explain_stages.ts";
import type { Explanation } from "../../../shared/view/explanation.ts";

/** The text, each line ended by a line feed. */
export function explainText(explanation: Explanation, style: TerminalStyle = {}): string {
  const rows = stagesOf(explanation).flatMap(
    ({ name, pod = "", containers = [], more = [] }): (Cell | string)[][] => [
      [{ text: name, tone: "bold" }, pod],
      ...containers.map(([one, text]) => [{ text: `  ${one}`, tone: "cyan" } as const, text]),
      ...more.map((line) => ["", line]),
    ],
  );
  const lines = alignedRows(rows, { gap: "   ", left: [0, 1], style });
  const notes = explanation.problems.map((problem) => paint(problem, "yellow", style));
  return textLines([...headOf(explanation, style), "", ...lines, ...notes]);
}

function headOf(explanation: Explanation, style: TerminalStyle): string[] {
  const { namespace, pod, node, qosClass, phase } = explanation;
  const where = node === "" ? "" : ` on node ${node}`;
  const { title, covered, text, state, remedy } = verdictOf(explanation);
  return [
    paint(`Pod ${namespace}/${pod}${where}`, "bold", style) + `: ${qosClass}, ${phase}`,
    `${paint(title, covered ? "green" : "yellow", style)}: ${text}`,
    ...(state === undefined ? [] : [state]),
    ...(remedy === undefined ? [] : [`What to do: ${remedy}`]),
  ];
}
