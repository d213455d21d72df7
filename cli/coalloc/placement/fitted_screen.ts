/**
 * Text that is drawn over the last one must not be longer than the screen.
 *
 * @module
 */
import { SGR } from "../../terminal/paint.ts";

const PAINT = new RegExp(SGR, "g");

/** The first lines of the text that fit, and how many there are more; the cursor keeps a line for itself. */
export function fittedScreen(
  text: string,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): string {
  const lines = text.split("\n").slice(0, -1);
  const height = (line: string): number =>
    Math.max(1, Math.ceil(line.replaceAll(PAINT, "").length / columns));
  const total = lines.reduce((sum, line) => sum + height(line), 0);
  if (total < rows) return text;
  const kept: string[] = [];
  let room = rows - 2;
  for (const line of lines) {
    room -= height(line);
    if (room < 0) break;
    kept.push(line);
  }
  return [...kept, `… and ${lines.length - kept.length} more lines`, ""].join("\n");
}
