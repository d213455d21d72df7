import assert from "node:assert/strict";
import fc from "fast-check";
import { BAR_WIDTH, demandBar } from "./demand_bar.ts";

Deno.test({
  name: "demandBar() shows usage, demand beyond it, idle room and the limit",
  permissions: "none",
  fn() {
    assert.equal(demandBar({ usage: 200, demand: 400, limit: 200 }), "█████│▒▒▒▒▒▒");
    assert.equal(demandBar({ usage: 300, demand: 330, limit: 600 }), "██████▒····│");
    assert.equal(demandBar({ usage: 0, demand: 0, limit: 100 }), "···········│");
    assert.equal(demandBar({ usage: 0, demand: 0, limit: 0 }), "");
  },
});

Deno.test({
  name: "demandBar() always shows one limit within its width",
  permissions: "none",
  fn() {
    const cpu = fc.double({ min: 0.001, max: 1e6, noNaN: true });
    fc.assert(fc.property(cpu, cpu, cpu, (usage, demand, limit) => {
      const bar = demandBar({ usage, demand, limit });
      assert(bar.length <= BAR_WIDTH, bar);
      assert.equal(bar.split("│").length, 2, bar);
    }));
  },
});
