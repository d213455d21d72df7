import assert from "node:assert/strict";
import { readProgramSettings } from "../adapters/program_settings.ts";
import { fileKeysOf, flagsOf, type Setting, settingsOf } from "../shared/config/setting.ts";
import { effectiveSettings } from "../shared/config/load.ts";
import { type LogFields, silentLog } from "../shared/log.ts";
import { assertMatches } from "../tests/fixtures/assert_matches.ts";
import { createLiveSettings } from "./live_settings.ts";
import { CONTROLLER_PROGRAM, CONTROLLER_SETTINGS, OTHER_SECTIONS } from "./settings.ts";

Deno.test({
  name:
    "CONTROLLER_SETTINGS have no key, flag, variable or alias twice, whichever part they come from",
  permissions: "none",
  fn() {
    const namings = [fileKeysOf, flagsOf, ({ env }: Setting) => env ?? []];
    for (const namesOf of namings) {
      const names = settingsOf(CONTROLLER_SETTINGS).flatMap((one) => namesOf(one)).toSorted();
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

Deno.test({
  name: "CONTROLLER_SETTINGS refuse settings that don't fit together, with their keys",
  permissions: { env: ["LOG_TOKENS", "LOG_STREAM"] },
  fn() {
    const ports = (listen: string, webhook: string) =>
      `controller: {listen: "${listen}"}\nwebhook: {enabled: on, listen: "${webhook}"}`;
    const silent = (after: string, heartbeat: string) =>
      `{controller: {agentSilentAfter: ${after}}, agent: {heartbeat: ${heartbeat}}}`;
    const cases: readonly (readonly [string, string])[] = [
      ["{}", ""],
      [ports(":8080", ":9443"), ""],
      [
        ports(":9443", "0.0.0.0:9443"),
        "controller.listen is :9443 and webhook.listen is 0.0.0.0:9443: give each a port of its own",
      ],
      [
        ports("127.0.0.1:9443", ":09443"),
        "controller.listen is 127.0.0.1:9443 and webhook.listen is :09443: give each a port of its own",
      ],
      [ports(":9443", ":9443").replace("enabled: on", "enabled: off"), ""],
      [ports("127.0.0.1:9443", "10.0.0.1:9443"), ""],
      [ports(":0", ":0"), ""],
      [silent("2m", "60s"), ""],
      [silent("10s", "5s"), ""],
      [
        silent("119s", "60s"),
        "controller.agentSilentAfter is 119s and agent.heartbeat is 60s: make it 120s at least, two " +
        "heartbeats",
      ],
      [
        silent("3m", "120s"),
        "controller.agentSilentAfter is 180s and agent.heartbeat is 120s: make it 240s at least, two " +
        "heartbeats",
      ],
    ];
    for (const [text, fault] of cases) {
      const read = effectiveSettings(CONTROLLER_SETTINGS, {
        file: { path: "f", text },
        otherSections: OTHER_SECTIONS,
      });
      assert.equal("faults" in read ? read.faults.join("\n") : "", fault, text);
    }
  },
});
