import fc from "fast-check";
import assert from "node:assert/strict";
import { cases } from "../tests/fixtures/cases.ts";
import { forAll } from "../tests/fixtures/for_all.ts";
import { pure } from "../tests/fixtures/pure.ts";
import { type AuditedChange, auditLineSchema, createAuditLog } from "./audit_log.ts";
import { defined, mapDefined } from "./defined.ts";
import { nearestName } from "./nearest_name.ts";
import { cutToBytes, plainLine, quotedText } from "./quoted_text.ts";

pure("quotedText() quotes plain text as it is", () => {
  for (const text of ["", "maybe", "2 cores", "0.5x,30s", "größer", "１", "🐢", "→"]) {
    assert.equal(quotedText(text), `"${text}"`);
  }
});

pure("quotedText() escapes what can't be seen", () => {
  assert.equal(quotedText('a"b\\c'), '"a\\"b\\\\c"');
  assert.equal(quotedText("a\n\tb\r"), '"a\\n\\tb\\r"');
  assert.equal(quotedText("\u0000\u001b[31m"), '"\\u{0}\\u{1b}[31m"');
  assert.equal(quotedText("1\u00a0000"), '"1\\u{a0}000"');
  assert.equal(quotedText("\u202eabc\u200b"), '"\\u{202e}abc\\u{200b}"');
  assert.equal(quotedText("\ud83d"), '"\\u{d83d}"');
  assert.equal(quotedText("\u2028"), '"\\u{2028}"');
});

pure("quotedText() cuts long text between characters, and shows how long it is", () => {
  assert.equal(quotedText("abcdef", 3), '"abc…" (6 characters)');
  assert.equal(quotedText("🐢🐢", 1), '"🐢…" (4 characters)');
  assert.equal(quotedText("a".repeat(64)), `"${"a".repeat(64)}"`);
  assert.equal(quotedText("a".repeat(200_000)), `"${"a".repeat(64)}…" (200000 characters)`);
});

forAll("quotedText() is one short line of visible characters, whatever the text", [
  fc.string({ unit: "binary", maxLength: 300 }),
], (text) => {
  const quoted = quotedText(text);
  assert.ok(quoted.length <= 64 * 10 + 30, quoted);
  assert.match(quoted, /^"[^\p{C}\p{Zl}\p{Zp}]*"( \(\d+ characters\))?$/u);
  assert.ok(quoted.isWellFormed());
}, 1);

pure("plainLine() leaves plain text, without control sequences", () => {
  assert.equal(plainLine("P90 × 1.2, größer „so“ 日本"), "P90 × 1.2, größer „so“ 日本");
  assert.equal(plainLine("a\nb\r\n  c\td\u2028e\u0085f"), "a b   c d e f");
  assert.equal(plainLine("\x1b[31mred\x1b[0m \u202eback\ud800"), "[31mred [0m  back");
});

const bytes = (text: string): number => new TextEncoder().encode(text).length;

pure("cutToBytes() keeps what fits, and cuts the rest between characters", () => {
  assert.equal(cutToBytes("abc", 3), "abc");
  assert.equal(cutToBytes("abcdef", 5), "ab…");
  assert.equal(cutToBytes("×".repeat(600), 1024), "×".repeat(510) + "…");
  assert.equal(cutToBytes("a🐢🐢", 8), "a🐢…");
  assert.equal(cutToBytes("a🐢🐢", 9), "a🐢🐢");
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.nat({ max: 40 }), (text, spare) => {
      const cut = cutToBytes(text, spare + 3);
      assert.ok(bytes(cut) <= spare + 3);
      if (bytes(text) <= spare + 3) assert.equal(cut, text);
      else assert.ok(cut.endsWith("…") && text.startsWith(cut.slice(0, -1)));
    }),
    cases(5),
  );
});

const CHANGE: AuditedChange = {
  source: "market",
  action: "resize",
  outcome: "accepted",
  reason: "Throttled",
  namespace: "shop",
  kind: "Pod",
  name: "web",
  uid: "u1",
};

/** A log at 1970 with its lines; `at` is the monotonic time, ms. */
function stage() {
  const lines: string[] = [];
  const state = { at: 0, drops: 0 };
  const log = createAuditLog({
    write: (line) => void lines.push(line),
    clock: { wall: () => 0, monotonic: () => state.at },
    newID: () => `id${lines.length}`,
    onDrop: () => state.drops++,
  });
  return { log, lines, state };
}

pure("createAuditLog() writes a line of JSON as its schema describes it", () => {
  const { log, lines } = stage();
  const request = log.begin();
  request.record({ ...CHANGE, container: "app", message: "é\n".repeat(1000) });
  const [line = ""] = lines;
  assert.match(line, /^[^\n]+\n$/);
  const { message, ...others } = auditLineSchema.strict().parse(JSON.parse(line));
  assert.equal(message?.length, 1000);
  assert.deepEqual(others, {
    ...{ "@timestamp": "1970-01-01T00:00:00.000Z", logger: "audit", severity: "INFO" },
    ...{ auditID: "id0", ...CHANGE, container: "app" },
  });
  assert.equal(request.auditID, "id0");
});

pure("createAuditLog() drops what exceeds its rate, and counts that in the next line", () => {
  const { log, lines, state } = stage();
  for (let index = 0; index < 2003; index++) log.begin().record(CHANGE);
  assert.deepEqual([lines.length, state.drops], [2000, 3]);
  state.at = 5;
  log.begin().record(CHANGE);
  const [count = "", next = "", ...rest] = lines.slice(2000);
  const { severity, dropped } = JSON.parse(count);
  assert.deepEqual([severity, dropped, JSON.parse(next).severity, rest], [
    "WARNING",
    3,
    "INFO",
    [],
  ]);
  log.begin().record(CHANGE);
  state.at = 10;
  log.begin().record(CHANGE);
  assert.equal(JSON.parse(lines.at(-2) ?? "").dropped, 1);
});

pure("nearestName() finds a misspelt name, and none where all are far", () => {
  const known = ["burstFactor", "dryRun", "managementPolicy"];
  assert.equal(nearestName("burstfacter", known), "burstFactor");
  assert.equal(nearestName("dry-run", known), "dryRun");
  assert.equal(nearestName("kubeconfig", known), undefined);
  assert.equal(nearestName("", known), undefined);
});

pure("defined() leaves out what is undefined, and nothing else", () => {
  const found: {
    readonly a?: number;
    readonly b: string;
    readonly c?: null;
    readonly d?: string;
  } = defined({
    ...{ d: undefined as string | undefined, b: "" },
    ...{ a: 0 as number | undefined, c: null },
  });
  assert.deepEqual(Object.entries(found), [["b", ""], ["a", 0], ["c", null]]);
});

pure("mapDefined() maps any value but undefined", () => {
  const count = (text: string): number => text.length;
  assert.deepEqual([mapDefined("", count), mapDefined(undefined, count)], [0, undefined]);
});
