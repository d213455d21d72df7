import assert from "node:assert/strict";
import { readProgramSettings } from "../adapters/program_settings.ts";
import { fileKeysOf, flagsOf, type Setting } from "../shared/config/setting.ts";
import { type LogFields, silentLog } from "../shared/log.ts";
import { assertMatches } from "../tests/fixtures/assert_matches.ts";
import { createLiveSettings } from "./live_settings.ts";
import { CONTROLLER_PROGRAM, CONTROLLER_SETTINGS } from "./settings.ts";

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

Deno.test({
  name: "CONTROLLER_PROGRAM starts on settings with faults where the market is off, for that alone",
  permissions: { env: ["LOG_TOKENS", "LOG_STREAM"] },
  fn() {
    const env = { MBCAS_RIGHTSIZING: "on", MBCAS_PLACEMENT: "on", MBCAS_WEBHOOK: "on" };
    const begin = (text: string) =>
      readProgramSettings(CONTROLLER_PROGRAM, {
        args: ["--config", "f"],
        env,
        readFile: (path) => ({ path, text }),
      });
    const faulty = "controller: {dryRun: true, maxResizesPerSecond: many}";
    assert.deepEqual(Object.keys(begin(faulty)), ["exitCode", "text"]);
    assert.deepEqual(Object.keys(begin(`market: on\n${faulty}`)), ["exitCode", "text"]);
    const begun = begin(`market: off\n${faulty}`);
    assert.ok("settings" in begun);
    const { market, dryRun, rightsizing, placement, webhook, maxResizesPerSecond } =
      begun.settings.values;
    assert.deepEqual(
      [market, dryRun, rightsizing, placement, webhook, maxResizesPerSecond],
      [false, true, false, false, false, 50],
    );
    assertMatches(begun.faults, [/^f: controller\.maxResizesPerSecond is "many", /]);
    // The mended file turns the others on at the next start.
    const warnings: string[] = [];
    const log = {
      ...silentLog,
      warn: (_: string, { key }: LogFields = {}) => void warnings.push(String(key)),
    };
    const live = createLiveSettings(begun, log);
    assert.equal(live.valid, false);
    live.takeFile({ path: "f", text: "market: off" });
    assert.deepEqual([live.valid, live.values().rightsizing], [true, false]);
    assert.deepEqual(warnings.toSorted(), [
      "placement.enabled",
      "rightsizing.enabled",
      "webhook.enabled",
    ]);
  },
});
