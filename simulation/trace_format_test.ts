import assert from "node:assert/strict";
import { guessTraceFormat, type TraceFormat } from "./trace_format.ts";

Deno.test({
  name: "guessTraceFormat() knows each format by its first lines",
  permissions: "none",
  fn() {
    const cases: readonly [string, TraceFormat][] = [
      ["157\n158\n", "rps"],
      ["0.5\n", "rps"],
      ["", "rps"],
      ["ts,value\n1628640000,39.7\n", "cores"],
      ["1628640000,39.7\n", "cores"],
      ["TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.97,4808,10\n", "arrivals"],
      ["2023-11-16T18:17:03Z\n2023-11-16T18:17:04Z\n", "arrivals"],
      ['\uFEFF {"status":"success"}', "prometheus"],
    ];
    for (const [text, format] of cases) assert.equal(guessTraceFormat(text), format, text);
  },
});
