import fc from "fast-check";
import assert from "node:assert/strict";
import * as z from "zod";
import { pureYAML } from "../../tests/fixtures/pure.ts";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import { choiceKind, namespacesKind, numberKind, optionalKind } from "./kinds.ts";
import { effectiveFields, effectiveSettings, type SettingSources } from "./load.ts";
import { DRY_RUN_SETTING, MARKET_SETTING } from "./schema.ts";
import { serverURLKind } from "./server_kinds.ts";
import { setting, type SettingsSchema } from "./setting.ts";

const rules = (text: string) => ({ default: text, description: "" });

const SCHEMA = z.object({
  burstFactor: setting("market.burstFactor", {
    ...{ kind: numberKind({ min: 1, max: 100 }), ...rules("4") },
  }),
  enabled: MARKET_SETTING,
  excluded: setting("market.excludedNamespaces", {
    ...{ kind: namespacesKind, onlyBy: "file" },
    ...rules("kube-system"),
  }),
  config: setting("config", {
    ...{ kind: optionalKind(choiceKind(["a", "b"])), onlyBy: "flag" },
    ...rules(""),
  }),
});

/** With the aliases `--metrics-addr` and `metrics.port`. */
const ALIASED = z.object({
  listen: setting("controller.listen", { kind: numberKind({ max: 100 }), ...rules("80") }),
});

const DRY_RUN = z.object({ dryRun: DRY_RUN_SETTING });

/** A file beside which these keys are in a ConfigMap. */
function file(text: string, data: Readonly<Record<string, string>> = {}) {
  const texts = new Map(Object.entries(data));
  return { path: "config.yaml", text, keys: { beside: "config.yaml", place: "/etc/", texts } };
}

const flags = (texts: Readonly<Record<string, string>>) => new Map(Object.entries(texts));

function faults(sources: SettingSources, schema: SettingsSchema = SCHEMA): readonly string[] {
  const result = effectiveSettings(schema, { ignoredSections: ["agent"], ...sources });
  return "faults" in result ? result.faults : [];
}

pureYAML("effectiveSettings() takes flag over variable over file and keys over default", () => {
  const given = fc.record({ flag: fc.boolean(), env: fc.boolean(), text: fc.boolean() });
  fc.assert(fc.property(given, (set) => {
    const read = effectiveSettings(SCHEMA, {
      flags: flags(set.flag ? { "--burst-factor": "1" } : {}),
      env: set.env ? { MBCAS_BURST_FACTOR: "2" } : { MBCAS_BURST_FACTOR: "" },
      file: file(set.text ? "market: {burstFactor: 3}" : ""),
    });
    assert.ok(!("faults" in read));
    const found = [[1, "flag"], [2, "environment"], [3, "file"], [4, "default"]];
    const place = [set.flag, set.env, set.text, true].indexOf(true);
    const { origin } = read.origins.get("market.burstFactor") ?? {};
    assert.deepEqual([read.values.burstFactor, origin], found[place]);
    const overridden = set.text && place < 2
      ? [{
        ...{ key: "market.burstFactor", inFile: "3", holds: `${found[place]?.[0]}` },
        by: place === 0 ? "flag --burst-factor" : "env MBCAS_BURST_FACTOR",
      }]
      : [];
    assert.deepEqual(read.overridden, overridden);
    const keyed = effectiveSettings(DRY_RUN, {
      flags: flags(set.flag ? { "--dry-run": "true" } : {}),
      env: set.env ? { MBCAS_DRY_RUN: "off" } : {},
      file: file(set.text ? "controller: {dryRun: on}" : "", { dryRun: "on\n" }),
    });
    const texts = [["true", "flag"], ["off", "environment"], ["on", "file"], ["on", "file"]];
    const { text, ...from } = "faults" in keyed ? assert.fail() : keyed.origins
      .get("controller.dryRun") ?? assert.fail();
    assert.deepEqual([text, from.origin], texts[place]);
  }));
});

pureYAML("effectiveSettings() reports all faults at once, with all that mends them", () => {
  const found = faults({
    flags: flags({ "--market": "maybe" }),
    env: {
      ...{ MBCAS_BURST_FACTOR: "0", MBCAS_BURST_FACTR: "2", HOME: "/root" },
      ...{ SPOTALIS_CONTROLLERS_RECONCILE_INTERVAL: "30s", SPOTALIS_METRICS_ENABLED: "" },
    },
    file: file(
      "market: {burstFacter: 3, excludedNamespaces: [a, {b: 1}]}\nagent: {sampleMs: 5}\nlog: 1",
    ),
  });
  assertMatches([...found].sort(), [
    /^config\.yaml: log .* known are /,
    /^config\.yaml: market\.burstFacter .* market\.burstFactor\?$/,
    /^config\.yaml: market\.excludedNamespaces is \["a",{"b":1}\], .* list$/,
    /^env MBCAS_BURST_FACTOR is "0", .* 1 to 100$/,
    /^env MBCAS_BURST_FACTR .* MBCAS_BURST_FACTOR\?$/,
    /^env SPOTALIS_CONTROLLERS_RECONCILE_INTERVAL .* SPOTALIS_RESYNC_PERIOD\?$/,
    /^env SPOTALIS_METRICS_ENABLED .*; unset it$/,
    /^flag --market is "maybe", .* off$/,
  ]);
  const inFile = (text: string) => faults({ file: file(text) }).join();
  assert.match(inFile("market: [1]"), /^config\.yaml: market\.enabled is "1", /);
  assert.equal(inFile("market:\n# nothing yet\n"), "");
});

pureYAML("effectiveSettings() takes `market: off` for the whole section", () => {
  const read = effectiveSettings(SCHEMA, { file: file("market: off") });
  assert.ok(!("faults" in read));
  const { enabled, ...others } = read.values;
  assert.deepEqual([enabled, others], [false, {
    ...{ burstFactor: 4, excluded: ["kube-system"], config: null },
  }]);
  assert.deepEqual(effectiveFields(read), {
    "market.burstFactor": "4 (default)",
    "market.enabled": "off (file)",
    "market.excludedNamespaces": "kube-system (default)",
    config: " (default)",
  });
});

pureYAML("effectiveSettings() takes a setting by its other names, in the place of its own", () => {
  const typed = flags({ "--metrics-addr": "1" });
  const env = { MBCAS_CONTROLLER_LISTEN: "2" };
  const rows: readonly (readonly [SettingSources, number, string])[] = [
    [{ flags: typed }, 1, "flag"],
    [{ flags: typed, env, file: file("metrics: {port: 3}") }, 1, "flag"],
    [{ env, file: file("metrics: {port: 3}") }, 2, "environment"],
    [{ file: file('metrics: {port: "3"}') }, 3, "file"],
    [{ file: file("controller: {listen: 3}\nmetrics: {port: 3.0}") }, 3, "file"],
    [{ file: file("metrics:") }, 80, "default"],
  ];
  for (const [sources, value, origin] of rows) {
    const read = effectiveSettings(ALIASED, sources);
    assert.ok(!("faults" in read));
    const from = read.origins.get("controller.listen")?.origin;
    assert.deepEqual([read.values.listen, from], [value, origin]);
  }
});

pureYAML("effectiveSettings() refuses two names of a setting with two values", () => {
  const both = file("metrics: {port: 3}\ncontroller: {listen: 4}");
  assertMatches(faults({ file: both }, ALIASED), [
    /: controller\.listen is "4" and config\.yaml: metrics\.port is "3", .* controller\.listen: /,
  ]);
  const keyed = file("controller: {dryRun: off}", { dryRun: "on" });
  assertMatches(faults({ file: keyed }, DRY_RUN), [
    /: controller\.dryRun is "off" and \/etc\/dryRun is "on", .* controller\.dryRun: /,
  ]);
  // In no section, and none of its own names.
  const unknown = file("controller: {port: 3}\nlisten: 1");
  const patterns = [/^config\.yaml: controller\.port /, /^config\.yaml: listen /];
  assertMatches(faults({ file: unknown }, ALIASED), patterns);
});

pureYAML("effectiveSettings() shows no password of an address under another name", () => {
  const kind = optionalKind(serverURLKind);
  const schema = z.object({ url: setting("metrics.prometheusURL", { kind, ...rules("") }) });
  const secret = "http://reader:hunter2@prometheus";
  for (const [own, other] of [["http://prometheus", secret], [secret, "http://prometheus"]]) {
    const text = `metrics: {prometheusURL: "${own}"}\nprometheusURL: "${other}"\n`;
    const found = faults({ file: file(text) }, schema);
    assertMatches(found, [/prometheusURL: .* password /]);
    assert.ok(!found[0]?.includes("hunter2"));
  }
});
