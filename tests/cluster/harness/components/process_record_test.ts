import assert from "node:assert/strict";
import fc from "fast-check";
import { isSame, parseRecord, parseStat, writeRecord } from "./process_record.ts";

const STAT = "4242 (a) b (c) S 1 4242 4242 0 -1 4194560 9 0 0 0 1 2 0 0 20 0 7 0 987654 1 2 3\n";

Deno.test({
  name: "parseRecord() reads what writeRecord() wrote, and nothing else",
  permissions: "none",
  fn() {
    fc.assert(
      fc.property(fc.integer({ min: 1 }), fc.nat(), (pid, startTicks) => {
        assert.deepEqual(parseRecord(writeRecord({ pid, startTicks })), { pid, startTicks });
      }),
    );
    for (const text of ["", "12", "12 \n", "0 5\n", "-1 5\n", "12 5", "12 5\n6", "a 5\n"]) {
      assert.equal(parseRecord(text), undefined, JSON.stringify(text));
    }
  },
});

Deno.test({
  name: "parseStat() counts fields after the last parenthesis of the command",
  permissions: "none",
  fn() {
    assert.deepEqual(parseStat(STAT), { state: "S", parent: 1, startTicks: 987654 });
    assert.equal(parseStat(""), undefined);
    assert.equal(parseStat("4242 (short) S 1"), undefined);
  },
});

Deno.test({
  name: "isSame() distinguishes a process from another that got its number, and from its remains",
  permissions: "none",
  fn() {
    const record = { pid: 4242, startTicks: 987654 };
    const stat = { state: "S", parent: 1, startTicks: 987654 };
    assert.ok(isSame(record, stat));
    assert.ok(!isSame(record, { ...stat, startTicks: 987655 }));
    assert.ok(!isSame(record, { ...stat, state: "Z" }));
    assert.ok(!isSame(record, undefined));
  },
});
