import assert from "node:assert/strict";
import { sampleVPA } from "../../../tests/fixtures/sample_workloads.ts";
import { outcomeOf } from "../../../tests/fixtures/rightsizing_facts.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("boundUnreadable() holds for whatever can't be read, and says what", () => {
  const unreadable = 'LimitRange r: "-1" is negative';
  assert.equal(
    outcomeOf({ unreadable: [unreadable] }),
    `BoundUnreadable UnreadableBound: ${unreadable}`,
  );
  const verticalAutoscalers = [sampleVPA("Off", { unreadable: "VPA v has no target" })];
  assert.match(outcomeOf({ verticalAutoscalers }), /UnreadableBound: VPA v has no target/);
  assert.match(outcomeOf({ verticalAutoscalers: [sampleVPA("Off")] }), /^InPlace: /);
});
