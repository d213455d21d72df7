import assert from "node:assert/strict";
import { CONTROLLER_SETTINGS } from "../controller/settings.ts";
import { settingsPage } from "./settings_table.ts";

Deno.test({
  name: "settingsPage() has one row per setting, with all its names",
  permissions: "none",
  fn() {
    const page = settingsPage([{ title: "Controller", table: CONTROLLER_SETTINGS }]);
    const rows = page.split("\n").filter((line) => line.startsWith("| ") && /`--/.test(line));
    assert.equal(rows.length, Object.keys(CONTROLLER_SETTINGS).length);
    assert.match(
      page,
      /\| `market\.burstFactor` \| `--burst-factor` \| `MBCAS_BURST_FACTOR` \| `4` \| .*\(\*live\*\) \|/,
    );
    assert.match(page, /^\| – \| `--kubeconfig` \| `KUBECONFIG` \| – \|/m);
  },
});
