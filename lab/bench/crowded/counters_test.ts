import assert from "node:assert/strict";
import { counterGrowth, parseCounters } from "./counters.ts";

const PAGE = `# HELP resizes_total Requests.
# TYPE resizes_total counter
resizes_total{outcome="accepted",reason="Say \\"x\\""} 4
resizes_total{outcome="refused",reason=""} 1e1
leader 1
resizes_total_other 7
`;

Deno.test("parseCounters() reads the lines of the names asked for, with or without labels", () => {
  assert.deepEqual(parseCounters(PAGE, ["resizes_total", "leader"]), [
    { name: "resizes_total", labels: { outcome: "accepted", reason: 'Say "x"' }, value: 4 },
    { name: "resizes_total", labels: { outcome: "refused", reason: "" }, value: 10 },
    { name: "leader", labels: {}, value: 1 },
  ]);
});

Deno.test("counterGrowth() reports what grew and what is new, and nothing else", () => {
  const line = (outcome: string, value: number) => ({ name: "r", labels: { outcome }, value });
  assert.deepEqual(
    counterGrowth([line("accepted", 4), line("refused", 1)], [
      line("accepted", 9),
      line("refused", 1),
      line("conflict", 2),
    ]),
    [line("accepted", 5), line("conflict", 2)],
  );
});
