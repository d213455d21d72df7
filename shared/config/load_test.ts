import assert from "node:assert/strict";
import fc from "fast-check";
import * as z from "zod";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import { choiceKind, namespacesKind, numberKind, optionalKind } from "./kinds.ts";
import { effectiveFields, effectiveSettings, type SettingSources } from "./load.ts";
import { DRY_RUN_SETTING, MARKET_SETTING } from "./schema.ts";
import { serverURLKind } from "./server_kinds.ts";
import { setting, type SettingsSchema } from "./setting.ts";

/** The YAML parser looks at two variables for its own debugging. */
const PURE = { env: ["LOG_TOKENS", "LOG_STREAM"] };

const SCHEMA = z.object({
  burstFactor: setting("market.burstFactor", {
    kind: numberKind({ least: 1, most: 100 }),
    default: "4",
    description: "",
  }),
  enabled: MARKET_SETTING,
  excluded: setting("market.excludedNamespaces", {
    kind: namespacesKind,
    default: "kube-system",
    description: "",
    onlyBy: "file",
  }),
  level: setting("log.level", {
    kind: choiceKind(["info", "debug"]),
    default: "info",
    description: "",
    onlyBy: "file",
  }),
  config: setting("config", {
    kind: optionalKind(choiceKind(["a", "b"])),
    default: "",
    description: "",
    onlyBy: "flag",
  }),
});

function faultsOf(sources: SettingSources): readonly string[] {
  const result = effectiveSettings(SCHEMA, { otherSections: ["agent"], ...sources });
  return "faults" in result ? result.faults : [];
}

const file = (text: string) => ({ path: "config.yaml", text });

Deno.test({
  name: "effectiveSettings() takes flag over variable over file over default",
  permissions: PURE,
  fn() {
    const given = fc.record({
      flag: fc.boolean(),
      env: fc.boolean(),
      file: fc.boolean(),
    });
    fc.assert(fc.property(given, (set) => {
      const result = effectiveSettings(SCHEMA, {
        flags: new Map(set.flag ? [["--burst-factor", "1"]] : []),
        env: set.env ? { MBCAS_BURST_FACTOR: "2" } : {},
        file: file(set.file ? "market: {burstFactor: 3}" : ""),
      });
      assert.ok(!("faults" in result));
      const expected = set.flag
        ? [1, "flag"]
        : set.env
        ? [2, "environment"]
        : set.file
        ? [3, "file"]
        : [4, "default"];
      const { origin } = result.origins.get("market.burstFactor") ?? {};
      assert.deepEqual([result.values.burstFactor, origin], expected);
    }));
  },
});

Deno.test({
  name: "effectiveSettings() reports all faults at once, with source, key, value and remedy",
  permissions: PURE,
  fn() {
    const faults = faultsOf({
      flags: new Map([["--market", "maybe"]]),
      env: { MBCAS_BURST_FACTOR: "0", MBCAS_BURST_FACTR: "2", HOME: "/root" },
      file: file(
        "market: {burstFacter: 3, excludedNamespaces: [a, {b: 1}]}\nagent: {sampleMs: 5}\nlog: 1",
      ),
    });
    assertMatches([...faults].sort(), [
      /^config\.yaml: log is 1, .* map /,
      /^config\.yaml: market\.burstFacter .* market\.burstFactor\?$/,
      /^config\.yaml: market\.excludedNamespaces is \["a",{"b":1}\], .* list$/,
      /^env MBCAS_BURST_FACTOR is "0", .* 1 to 100$/,
      /^env MBCAS_BURST_FACTR .* MBCAS_BURST_FACTOR\?$/,
      /^flag --market is "maybe", .* off$/,
    ]);
  },
});

Deno.test("effectiveSettings() reports what variables of Spotalis are called here, or that they are none", () => {
  const env = {
    SPOTALIS_CONTROLLERS_RECONCILE_INTERVAL: "30s",
    SPOTALIS_HEALTH_ENABLED: "true",
    SPOTALIS_METRICS_ENABLED: "",
  };
  assertMatches(faultsOf({ env }), [
    /^env SPOTALIS_CONTROLLERS_RECONCILE_INTERVAL .* SPOTALIS_RESYNC_PERIOD\?$/,
    /^env SPOTALIS_HEALTH_ENABLED .*; unset it$/,
    /^env SPOTALIS_METRICS_ENABLED .*; unset it$/,
  ]);
});

Deno.test({
  name:
    "effectiveSettings() takes `market: off` for the whole section, and an empty variable as unset",
  permissions: PURE,
  fn() {
    const result = effectiveSettings(SCHEMA, {
      env: { MBCAS_BURST_FACTOR: "" },
      file: file("market: off"),
    });
    assert.ok(!("faults" in result));
    assert.deepEqual(result.values, {
      burstFactor: 4,
      enabled: false,
      excluded: ["kube-system"],
      level: "info",
      config: null,
    });
    assert.deepEqual(effectiveFields(result), {
      "market.burstFactor": "4 (default)",
      "market.enabled": "off (file)",
      "market.excludedNamespaces": "kube-system (default)",
      "log.level": "info (default)",
      config: " (default)",
    });
  },
});

Deno.test({
  name: "effectiveSettings() names a file that is no YAML, or no map",
  permissions: PURE,
  fn() {
    assert.match(faultsOf({ file: file("market: {") }).join(), /^config\.yaml: is not YAML: /);
    assert.match(faultsOf({ file: file("[1]") }).join(), /^config\.yaml: .* sections .*market/);
    assert.match(faultsOf({ file: file("log: 7") }).join(), /log is 7, .* map/);
    assert.deepEqual(faultsOf({ file: file("market:\n# nothing yet\n") }), []);
  },
});

/** With the aliases `--metrics-addr` and `metrics.port`. */
const ALIASED = z.object({
  listen: setting("controller.listen", {
    kind: numberKind({ most: 100 }),
    default: "80",
    description: "",
  }),
});

/** With the alias `dryRun`. */
const DRY_RUN = z.object({ dryRun: DRY_RUN_SETTING });

Deno.test({
  name: "effectiveSettings() takes a setting by its other names, in the place of its own",
  permissions: PURE,
  fn() {
    const typed = new Map([["--metrics-addr", "1"]]);
    const env = { MBCAS_CONTROLLER_LISTEN: "2" };
    for (
      const [sources, value, origin] of [
        [{ flags: typed }, 1, "flag"],
        [{ flags: typed, env, file: file("metrics: {port: 3}") }, 1, "flag"],
        [{ env, file: file("metrics: {port: 3}") }, 2, "environment"],
        [{ file: file('metrics: {port: "3"}') }, 3, "file"],
        [{ file: file("controller: {listen: 3}\nmetrics: {port: 3.0}") }, 3, "file"],
        [{ file: file("metrics:") }, 80, "default"],
      ] as const
    ) {
      const result = effectiveSettings(ALIASED, sources);
      assert.ok(!("faults" in result));
      assert.equal(result.values.listen, value);
      assert.equal(result.origins.get("controller.listen")?.origin, origin);
    }
  },
});

/** A file beside which these keys are in a ConfigMap. */
function mounted(text: string, data: Readonly<Record<string, string>>) {
  const texts = new Map(Object.entries(data));
  return { ...file(text), keys: { beside: "config.yaml", place: "/etc/", texts } };
}

Deno.test({
  name: "effectiveSettings() refuses two names of a setting with two values, and names both",
  permissions: PURE,
  fn() {
    const flags = new Map([["--listen", "1"], ["--metrics-addr", "2"]]);
    const problems = (schema: SettingsSchema, sources: SettingSources) => {
      const result = effectiveSettings(schema, sources);
      return "faults" in result ? result.faults : [];
    };
    assertMatches(problems(ALIASED, { flags }), [
      /^flag --listen is "1" and flag --metrics-addr is "2", .* controller\.listen: /,
    ]);
    const both = file("metrics: {port: 3}\ncontroller: {listen: 4}");
    assertMatches(problems(ALIASED, { file: both }), [
      /: controller\.listen is "4" and config\.yaml: metrics\.port is "3", .* controller\.listen: /,
    ]);
    for (
      const [text, name] of [
        ["controller: {dryRun: off}", "controller\\.dryRun"],
        ["dryRun: off", "dryRun"],
      ]
    ) {
      assertMatches(problems(DRY_RUN, { file: mounted(`${text}`, { dryRun: "on" }) }), [
        new RegExp(`: ${name} is "off" and /etc/dryRun is "on", .* controller\\.dryRun: `),
      ]);
    }
    // In no section, and none of its own names.
    assertMatches(problems(ALIASED, { file: file("controller: {port: 3}\nlisten: 1") }), [
      /^config\.yaml: controller\.port /,
      /^config\.yaml: listen /,
    ]);
    assertMatches(problems(DRY_RUN, { file: file("dryRun: {a: 1}") }), [
      /: dryRun is {"a":1}, .* list$/,
    ]);
    assertMatches(problems(DRY_RUN, { file: mounted("", { dryRan: "on" }) }), [/^\/etc\/dryRan /]);
  },
});

Deno.test({
  name:
    "effectiveSettings() takes keys beside the file as the file, with flag and variable over them",
  permissions: PURE,
  fn() {
    const sources = fc.record({ flag: fc.boolean(), env: fc.boolean(), text: fc.boolean() });
    fc.assert(fc.property(sources, (set) => {
      const result = effectiveSettings(DRY_RUN, {
        flags: new Map(set.flag ? [["--dry-run", "true"]] : []),
        env: set.env ? { MBCAS_DRY_RUN: "off" } : {},
        file: mounted(set.text ? "controller: {dryRun: on}" : "", { dryRun: "on\n" }),
      });
      assert.ok(!("faults" in result));
      const expected = set.flag
        ? ["true", "flag"]
        : set.env
        ? ["off", "environment"]
        : ["on", "file"];
      const { origin, text } = result.origins.get("controller.dryRun") ?? {};
      assert.deepEqual([text, origin], expected);
    }));
  },
});

Deno.test({
  name: "effectiveSettings() shows no password of an address under another name",
  permissions: PURE,
  fn() {
    const schema = z.object({
      url: setting("metrics.prometheusURL", {
        kind: optionalKind(serverURLKind),
        default: "",
        description: "",
      }),
    });
    const secret = "http://reader:hunter2@prometheus";
    for (const [own, other] of [["http://prometheus", secret], [secret, "http://prometheus"]]) {
      const text = `metrics: {prometheusURL: "${own}"}\nprometheusURL: "${other}"\n`;
      const result = effectiveSettings(schema, { file: file(text) });
      assert.ok("faults" in result);
      assertMatches(result.faults, [/prometheusURL: .* password /]);
      assert.ok(!result.faults[0]?.includes("hunter2"));
    }
  },
});
