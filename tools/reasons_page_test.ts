import assert from "node:assert/strict";
import { REFUSAL_REASONS } from "../shared/resize/refusal.ts";
import type { Reason } from "../shared/api/reasons/reason.ts";
import { REASON_LISTS } from "../shared/api/reasons/reasons.ts";
import { REASON_PLACES, reasonsPage } from "./reasons_page.ts";

/** The rows of reasons by their heading. */
function sections(): string[][] {
  return reasonsPage().split(/^## /m).slice(1)
    .map((section) => section.split("\n").filter((line) => line.startsWith("| `")));
}

Deno.test({
  name: "reasonsPage() has a table per list, with each reason's sentence, remedy and places",
  permissions: "none",
  fn() {
    const lists = Object.values(REASON_LISTS);
    const tables = sections();
    assert.equal(tables.length, lists.length);
    for (const [index, list] of lists.entries()) {
      const entries = Object.entries<Reason>(list);
      const rows = tables[index] ?? [];
      assert.equal(rows.length, entries.length);
      for (const [line, [reason, { means, remedy }]] of entries.entries()) {
        const cells = (rows[line] ?? "").replaceAll("\\", "").slice(2, -2).split(" | ");
        assert.deepEqual(cells.slice(0, 3), [`\`${reason}\``, means, remedy]);
        assert.match(cells.slice(3).join(), /\w/);
      }
    }
  },
});

Deno.test({
  name: "reasonsPage() says where a special reason is seen, not where its list usually is",
  permissions: "none",
  fn() {
    const line = (reason: string): string =>
      reasonsPage().split("\n").find((one) => one.startsWith(`| \`${reason}\` `)) ?? "";
    assert.match(line("OptedOut"), /mbcas_restores_total\{cause\}/);
    assert.doesNotMatch(line("OptedOut"), /status\.reason/);
    assert.match(line("RateLimited"), /`status\.reason`.*mbcas_held_total\{reason\}/);
    assert.match(line("HPAFloor"), /`status\.bounds\.rules`.*event `CPULimitBounded`/);
    assert.doesNotMatch(line("BurstFactor"), /CPULimitBounded/);
    for (const reason of REFUSAL_REASONS) {
      const { usual, others } = REASON_PLACES.enforcement;
      assert.ok((others[reason] ?? usual).includes("event `CPULimitFailed`"), reason);
    }
    assert.ok(Object.values(REASON_PLACES).every(({ usual }) => usual.length > 0));
  },
});
