import assert from "node:assert/strict";
import { fileKeysOf, flagsOf, type Setting } from "../shared/config/setting.ts";
import { CONTROLLER_SETTINGS } from "./settings.ts";

Deno.test({
  name:
    "CONTROLLER_SETTINGS have no key, flag, variable or alias twice, whichever part they come from",
  permissions: "none",
  fn() {
    const rows: readonly Setting<unknown>[] = Object.values(CONTROLLER_SETTINGS);
    const namings = [fileKeysOf, flagsOf, ({ env }: Setting<unknown>) => env ?? []];
    for (const namesOf of namings) {
      const names = rows.flatMap((row) => namesOf(row)).toSorted();
      assert.ok(names.length > 10);
      assert.deepEqual(names, [...new Set(names)]);
    }
  },
});
