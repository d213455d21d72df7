import assert from "node:assert/strict";
import { parseAttack } from "./load.ts";

/** As vegeta writes it: sent, code, latency, bytes out and in, error, body, attack, number, … */
function row(sentNs: number, { code = 200, latencyNs = 2e6, number = 0, error = "" }): string {
  return [sentNs, code, latencyNs, 0, 0, error, "", "", number, "GET", "http://h/", "aGVhZA=="]
    .join(",");
}

Deno.test("parseAttack() counts latency from when a request was to be sent", () => {
  const csv = [
    row(1_000_000_000, {}),
    // 10 ms a request: this one went out 25 ms late, and the last 5 ms.
    row(1_035_000_000, { number: 1 }),
    row(1_025_000_000, {
      number: 2,
      code: 0,
      latencyNs: 1e6,
      error: '"Get ""http://h/"": refused"',
    }),
  ].join("\n");
  assert.deepEqual(parseAttack(`${csv}\n`, { rate: 100 }), [
    { atMs: 1000, latencyMs: 2, failed: false },
    { atMs: 1010, latencyMs: 27, failed: false },
    { atMs: 1020, latencyMs: 6, failed: true },
  ]);
});

Deno.test("parseAttack() refuses a line that is no request, and takes a first one that is late", () => {
  assert.throws(() => parseAttack("Requests [total]\n", { rate: 1 }), { name: "SyntaxError" });
  const csv = [row(1_030_000_000, {}), row(1_010_000_000, { number: 1 })].join("\n");
  const latencies = parseAttack(csv, { rate: 100 }).map(({ latencyMs }) => latencyMs);
  assert.deepEqual(latencies, [32, 2]);
});
