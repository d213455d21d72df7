import assert from "node:assert/strict";
import { fittedScreen } from "./fitted_screen.ts";

Deno.test("fittedScreen() leaves a text that fits, and counts the lines of one that does not", () => {
  const size = { columns: 10, rows: 5 };
  assert.equal(fittedScreen("a\nb\nc\nd\n", size), "a\nb\nc\nd\n");
  assert.equal(fittedScreen("a\nb\nc\nd\ne\n", size), "a\nb\nc\n… and 2 more lines\n");
  // Lines that the terminal continues count as often; colours have no width.
  assert.equal(
    fittedScreen(`${"a".repeat(25)}\nb\nc\n`, size),
    `${"a".repeat(25)}\n… and 2 more lines\n`,
  );
  const painted = `\x1b[32m${"a".repeat(10)}\x1b[0m\nb\n`;
  assert.equal(fittedScreen(painted, { columns: 10, rows: 3 }), painted);
});
