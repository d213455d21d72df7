/**
 * An explanation as text. Pure.
 *
 * @module
 */
import { paint, type TerminalLook, textLines } from "../../terminal/terminal_text.ts";
import { verdictOf } from "../../../shared/view/blocker.ts";
import { stagesOf } from "../../../shared/view/explain_stages.ts";
import type { Explanation } from "../../../shared/view/explanation.ts";

/** The text, each line ended by a line feed. */
export function explainText(explanation: Explanation, look: TerminalLook = {}): string {
  const stages = stagesOf(explanation);
  const width = Math.max(
    ...stages.flatMap(({ name, containers = [] }) => [
      name.length,
      ...containers.map(([container]) => container.length + 2),
    ]),
  );
  const lines = stages.flatMap(({ name, pod = "", containers = [], more = [] }) => [
    `${paint(name, "bold", look)}${" ".repeat(width - name.length)}   ${pod}`.trimEnd(),
    ...containers.map(([container, text]) =>
      `  ${paint(container, "cyan", look)}${" ".repeat(width - container.length - 2)}   ${text}`
    ),
    ...more.map((line) => `${" ".repeat(width)}   ${line}`),
  ]);
  const notes = explanation.problems.map((problem) => paint(problem, "yellow", look));
  return textLines([...headOf(explanation, look), "", ...lines, ...notes]);
}

function headOf(explanation: Explanation, look: TerminalLook): string[] {
  const { namespace, pod, node, qosClass, phase } = explanation;
  const where = node === "" ? "" : ` on node ${node}`;
  const { title, covered, text, state, remedy } = verdictOf(explanation);
  return [
    paint(`Pod ${namespace}/${pod}${where}`, "bold", look) + `: ${qosClass}, ${phase}`,
    `${paint(title, covered ? "green" : "yellow", look)}: ${text}`,
    ...(state === undefined ? [] : [state]),
    ...(remedy === undefined ? [] : [`What to do: ${remedy}`]),
  ];
}
