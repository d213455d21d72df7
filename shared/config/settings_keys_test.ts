import assert from "node:assert/strict";
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
  name: "settingsAmong() tells the file from the keys beside it, of which either may be missing",
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
    const known =
      "known are config.yaml, dryRun, metricsProvider, prometheusURL, leaderElection, " +
      "reconciliationInterval";
    const { texts, faults } = read({
      metricProvider: "prometheus",
      "config.yml": "market: off",
      "--dry": "true",
      "log.level": "debug",
      password: "hunter2",
    });
    assert.deepEqual([...texts], []);
    assert.deepEqual(faults, [
      `configmap a/b: data.metricProvider is not a setting; did you mean metricsProvider? ${known}`,
      `configmap a/b: data.config.yml is not a setting; did you mean config.yaml? ${known}`,
      `configmap a/b: data.--dry is not a setting; ${known}`,
      `configmap a/b: data.log.level is not a setting; ${known}`,
      `configmap a/b: data.password is not a setting; ${known}`,
    ]);
  },
});
