import assert from "node:assert/strict";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import { switchKind, textKind } from "./setting_kinds.ts";
import { keyValues, settingsAmong } from "./settings_keys.ts";

const TABLE = {
  dryRun: {
    key: "controller.dryRun",
    default: "false",
    description: "",
    kind: switchKind,
    aliases: ["--dry", "dryRun"],
  },
  level: { key: "log.level", default: "info", description: "", kind: textKind("a level") },
};

const PLACE = { name: "config.yaml", path: "configmap a/b", place: "configmap a/b: data." };

function read(data: Record<string, string>) {
  const { keys } = settingsAmong(data, PLACE) ?? {};
  assert.ok(keys !== undefined);
  return keyValues(keys, TABLE);
}

Deno.test({
  name: "settingsAmong() reports the file from the keys beside it, of which either may be missing",
  permissions: "none",
  fn() {
    const { path } = PLACE;
    const keys = { beside: "config.yaml", place: PLACE.place, texts: new Map([["dryRun", "on"]]) };
    assert.equal(settingsAmong({}, PLACE), undefined);
    assert.deepEqual(settingsAmong({ "config.yaml": "" }, PLACE), { path, text: "" });
    assert.deepEqual(settingsAmong({ dryRun: "on" }, PLACE), { path, text: "", keys });
    assert.deepEqual(settingsAmong({ "config.yaml": "market: off", dryRun: "on" }, PLACE), {
      path,
      text: "market: off",
      keys,
    });
  },
});

Deno.test({
  name: "keyValues() takes the table's keys, passes over the other program's, and trims",
  permissions: "none",
  fn() {
    const { texts, faults } = read({ dryRun: " true\n", metricsProvider: "prometheus" });
    assert.deepEqual([[...texts], faults], [[["dryRun", "true"]], []]);
    assert.deepEqual([...read({ dryRun: "\n" }).texts], []);
  },
});

Deno.test({
  name: "keyValues() names what is no key, with what is near and all that there are; never a value",
  permissions: "none",
  fn() {
    const { texts, faults } = read({
      metricProvider: "prometheus",
      "config.yml": "market: off",
      "--dry": "true",
      "log.level": "debug",
      password: "hunter2",
    });
    assert.deepEqual([...texts], []);
    assertMatches(faults, [
      /^configmap a\/b: data\.metricProvider .* metricsProvider\? .*config\.yaml, dryRun, /,
      /^configmap a\/b: data\.config\.yml .* config\.yaml\? .*config\.yaml, dryRun, /,
      /^configmap a\/b: data\.--dry [^?]*config\.yaml, dryRun, /,
      /^configmap a\/b: data\.log\.level [^?]*config\.yaml, dryRun, /,
      /^configmap a\/b: data\.password [^?]*config\.yaml, dryRun, .*reconciliationInterval$/,
    ]);
    assert.ok(!faults.join().includes("hunter2"));
  },
});
