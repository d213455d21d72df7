import assert from "node:assert/strict";
import { effectiveSettings, type SettingSources } from "../shared/config/load.ts";
import { settingsAmong } from "../shared/config/file.ts";
import type { Log } from "../shared/log.ts";
import { assertMatches } from "../tests/fixtures/assert_matches.ts";
import { DEFAULT_MARKET_CONFIG, marketConfig } from "./config.ts";
import { createLiveSettings } from "./live_settings.ts";
import { CONTROLLER_SETTINGS } from "./settings.ts";

/** The YAML parser looks at two variables for its own debugging. */
const PURE = { env: ["LOG_TOKENS", "LOG_STREAM"] };

function live(sources: SettingSources = {}) {
  const settings = effectiveSettings(CONTROLLER_SETTINGS, sources);
  assert.ok(!("faults" in settings));
  const lines: string[] = [];
  const put = (level: string) => (message: string, fields: object = {}) =>
    void lines.push([level, message, ...Object.values(fields)].join(" "));
  const log: Log = {
    debug: put("debug"),
    info: put("info"),
    warn: put("warn"),
    error: put("error"),
  };
  const subject = createLiveSettings({ settings, sources }, log);
  let changes = 0;
  subject.subscribe(() => changes++);
  return { subject, lines, changes: () => changes };
}

Deno.test({
  name: "DEFAULT_MARKET_CONFIG equals the defaults of the settings",
  permissions: PURE,
  fn() {
    assert.deepEqual({ ...marketConfig(live().subject.values) }, DEFAULT_MARKET_CONFIG);
  },
});

Deno.test({
  name: "takeFile() follows live settings, reports the others, and keeps flags above the file",
  permissions: PURE,
  fn() {
    const { subject, lines, changes } = live({ flags: new Map([["--burst-factor", "2"]]) });
    const config = marketConfig(subject.values);
    const text = "market: {burstFactor: 9, managementPolicy: OptIn}\n" +
      "controller: {maxResizesPerSecond: 7, dryRun: true}";
    subject.takeFile({ path: "f", text });
    assert.deepEqual(
      [config.burstFactor, config.managementPolicy, config.dryRun, config.maxResizesPerSecond],
      [2, "OptIn", true, 50],
    );
    assert.equal(changes(), 1);
    assertMatches(lines, [
      /^info .* market\.managementPolicy OptOut OptIn file$/,
      /^info .* controller\.dryRun false true\b.*file$/,
      /^warn .*restart .* controller\.maxResizesPerSecond 50 7$/,
      /^warn .* market\.burstFactor 9 2 flag --burst-factor$/,
    ]);
    subject.takeFile({ path: "f", text: "controller: {maxResizesPerSecond: 7, dryRun: true}" });
    assert.equal(config.managementPolicy, "OptOut");
    assert.equal(changes(), 2);
  },
});

Deno.test({
  name: "takeFile() refuses a text with faults as a whole, and keeps all when the file is gone",
  permissions: PURE,
  fn() {
    const { subject, lines, changes } = live();
    subject.takeFile({
      path: "f",
      text: "market: {enabled: on, managementPolicy: OptIn, burstFactor: 0}",
    });
    assert.equal(subject.valid, false);
    subject.takeFile({ path: "f", text: undefined });
    assert.deepEqual([subject.values().managementPolicy, changes()], ["OptOut", 0]);
    assert.match(lines.join("\n"), /^error .*refused f: market\.burstFactor is "0", /);
    subject.takeFile({ path: "f", text: "market: off" });
    assert.deepEqual([subject.valid, subject.values().market, changes()], [true, false, 1]);
  },
});

Deno.test({
  name: "takeFile() follows the off switch of a text with faults, and nothing else of it",
  permissions: PURE,
  fn() {
    for (
      const text of [
        "market: {enabled: false, managementPolicy: OptIn, burstFactors: 3}",
        "market: off\nmarkets: {burstFactor: 3}",
        "market: {managementPolicy: OptIn, enabled: 'off'}\nlog: {level: loud}",
        "market: off\nlog: [",
        "market: off\nlog: {level: *none}",
        "log: {level: debug}\nlog: {level: info}\nmarket: {enabled: off}",
      ]
    ) {
      const { subject, lines, changes } = live();
      subject.takeFile({ path: "f", text });
      const { market, managementPolicy, burstFactor, logLevel } = subject.values();
      assert.deepEqual([subject.valid, market, managementPolicy, burstFactor, logLevel], [
        false,
        false,
        "OptOut",
        8,
        "info",
      ], text);
      assert.equal(changes(), 1);
      assert.match(lines[0] ?? "", /^error .*refused f: /);
      assert.match(lines.at(-1) ?? "", /^info .* market\.enabled on (off|false) file$/);
      // A file with faults can't turn it on again.
      subject.takeFile({ path: "f", text: "market: on\nmarkets: {}" });
      assert.equal(subject.values().market, false);
    }
  },
});

Deno.test({
  name: "takeFile() reports values of the file that a flag or a variable overrides",
  permissions: PURE,
  fn() {
    const byFlag = live({ flags: new Map([["--market", "on"]]) });
    const byVariable = live({ env: { MBCAS_MARKET: "true" } });
    for (const text of ["market: off", "market: {enabled: off, burstFactors: 2}"]) {
      byFlag.subject.takeFile({ path: "f", text });
      byVariable.subject.takeFile({ path: "f", text });
      const logged = [byFlag, byVariable].map(({ lines }) => lines.at(-1)?.split(" ").slice(-5));
      assert.deepEqual(logged, [
        ["market.enabled", "off", "on", "flag", "--market"],
        ["market.enabled", "off", "true", "env", "MBCAS_MARKET"],
      ]);
      assert.deepEqual([byFlag.subject.values().market, byVariable.changes()], [true, 0]);
    }
  },
});

Deno.test({
  name:
    "takeFile() follows the keys beside the file, and refuses all but the off switch for one that is unknown",
  permissions: PURE,
  fn() {
    const { subject, lines, changes } = live();
    const take = (data: Readonly<Record<string, string>>) => {
      const place = { name: "config.yaml", path: "f", place: "f: data." };
      subject.takeFile(settingsAmong(data, place) ?? { path: "f", text: undefined });
    };
    take({ dryRun: "true", prometheusURL: "http://prometheus:9090", reconciliationInterval: "5m" });
    const { dryRun, prometheusURL } = subject.values();
    assert.deepEqual([dryRun, prometheusURL, changes()], [true, "http://prometheus:9090", 1]);
    take({ "config.yaml": "market: off", dryRuns: "false" });
    assert.deepEqual([subject.valid, subject.values().market, changes()], [false, false, 2]);
    assert.match(lines.at(-2) ?? "", /^error .*refused f: data\.dryRuns .* setting; did/);
    take({ "config.yaml": "market: off" });
    const { market, dryRun: after } = subject.values();
    assert.deepEqual([subject.valid, market, after, changes()], [true, false, false, 3]);
  },
});

Deno.test({
  name: "takeFile() refuses settings that don't go together, and follows placement's where they do",
  permissions: PURE,
  fn() {
    const { subject, lines } = live();
    const window = (inside: string) => `placement: {disruptionWindow: {${inside}}}`;
    subject.takeFile({ path: "f", text: window("schedule: 0 2 * * *") });
    assert.deepEqual([subject.valid, subject.values().windowSchedule], [false, null]);
    assertMatches(lines, [
      /^error .*refused placement\.disruptionWindow\.schedule .*disruptionWindow\.duration .*both/,
    ]);
    subject.takeFile({ path: "f", text: window("schedule: 0 2 * * *, duration: 2h") });
    const { windowSchedule, windowDuration } = subject.values();
    assert.deepEqual([subject.valid, windowSchedule, windowDuration], [
      true,
      "0 2 * * *",
      7_200_000,
    ]);
  },
});
