import { pure } from "../fixtures/pure.ts";
import assert from "node:assert/strict";
import { differencesOf } from "./differences.ts";

/** A table of these results, each of another input. */
function tableOf(results: Readonly<Record<string, unknown>>): string {
  return Object.entries(results)
    .map(([input, result]) => `${JSON.stringify({ in: { input }, result })}\n`).join("");
}

pure("differencesOf() shows nothing of equal texts", () => {
  assert.deepEqual(differencesOf("a\n", "a\n"), []);
});

pure("differencesOf() says so where nothing is stored", () => {
  assert.deepEqual(differencesOf(undefined, "a\n"), ["nothing is stored yet"]);
});

pure("differencesOf() counts the rows and shows input, old and new result of the first", () => {
  const stored = tableOf({ a: 1, b: 2, c: 3 });
  assert.deepEqual(differencesOf(stored, tableOf({ a: 1, b: 20, c: 30 })), [
    "2 of 3 rows differ; the first is row 2",
    '  in   {"input":"b"}',
    '  was  {"result":2}',
    '  is   {"result":20}',
  ]);
});

pure(
  "differencesOf() matches rows by their input, whatever is added or removed before them",
  () => {
    const stored = tableOf({ a: 1, b: 2 });
    assert.deepEqual(differencesOf(stored, tableOf({ z: 0, b: 2 })), [
      "0 of 2 rows differ, 1 is new, 1 is gone; the first is row 1",
      '  in   {"input":"z"}',
      "  was  not there",
      '  is   {"result":0}',
    ]);
    assert.deepEqual(differencesOf(stored, tableOf({ b: 2, a: 1 })), [
      "the rows are in another order",
    ]);
  },
);

pure("differencesOf() distinguishes rows of the same input by their order", () => {
  const row = (result: number): string => `${JSON.stringify({ in: "a", result })}\n`;
  const [count] = differencesOf(row(1) + row(2) + row(3), row(1) + row(20) + row(3));
  assert.equal(count, "1 of 3 rows differs; the first is row 2");
});

pure("differencesOf() shows the path of the first value in a document", () => {
  const stored = JSON.stringify({ runs: [{ p99: 1, p50: 2 }, { p99: 3 }] });
  const fresh = JSON.stringify({ runs: [{ p99: 1, p50: 5 }, {}] });
  assert.deepEqual(differencesOf(stored, fresh), [
    "2 values differ, the first is runs[0].p50",
    "  was  2",
    "  is   5",
  ]);
  assert.match(differencesOf('{"a":1,"b":2}', '{"b":2,"a":1}')[0] ?? "", /order or white space/);
});

pure("differencesOf() shows the path in a row with a result that is long", () => {
  const filler = "x".repeat(2000);
  const table = (b: number): string => tableOf({ a: { filler, b }, other: 0 });
  const lines = differencesOf(table(1), table(2));
  assert.deepEqual(lines.slice(2), [
    "  1 value differs, the first is result.b",
    "    was  1",
    "    is   2",
  ]);
});

pure("differencesOf() counts the rows that changed by their reasons before and after", () => {
  const table = (reasons: readonly (string | null)[]): string =>
    reasons.map((reason, index) => `${JSON.stringify({ in: index, reason })}\n`).join("");
  const lines = differencesOf(
    table(["Cooldown", null, null, "DryRun"]),
    table([null, "DryRun", "DryRun", "DryRun"]),
  );
  assert.deepEqual(lines.slice(4), ["  2 × none → DryRun", "  1 × Cooldown → none"]);
});
