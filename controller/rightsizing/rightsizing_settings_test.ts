import assert from "node:assert/strict";
import fc from "fast-check";
import { OTHER_SECTIONS } from "../../agent/settings.ts";
import { effectiveSettings, type SettingSources } from "../../shared/config/effective_settings.ts";
import { OPTIPOD_KEYS } from "../../shared/config/optipod_keys.ts";
import { fileKeysOf, sectionOf } from "../../shared/config/setting.ts";
import { commandFlags } from "../../shared/config/settings_command.ts";
import { CONTROLLER_PROGRAM, CONTROLLER_SETTINGS, type ControllerSettings } from "../settings.ts";
import { rightsizingConfig } from "./rightsizing_config.ts";
import { RIGHTSIZING_ROWS } from "./rightsizing_settings.ts";

/** The YAML parser looks at two variables for its own debugging. */
const PURE = { env: ["LOG_TOKENS", "LOG_STREAM"] };

const file = (text: string) => ({ path: "config.yaml", text });

function valuesOf(sources: SettingSources): ControllerSettings {
  const read = effectiveSettings(CONTROLLER_SETTINGS, sources);
  assert.ok("values" in read, "faults" in read ? read.faults.join("\n") : "");
  return read.values;
}

function faultsOf(sources: SettingSources): readonly string[] {
  const read = effectiveSettings(CONTROLLER_SETTINGS, sources);
  return "faults" in read ? read.faults : [];
}

function typed(...args: readonly string[]): SettingSources {
  const command = commandFlags(CONTROLLER_PROGRAM, args);
  assert.ok("flags" in command);
  assert.deepEqual(command.faults, []);
  return { flags: command.flags };
}

Deno.test({
  name: "RIGHTSIZING_ROWS are off by default, and rightsizingConfig() has the documented defaults",
  permissions: PURE,
  fn() {
    const values = valuesOf({});
    assert.equal(values.rightsizing, false);
    assert.deepEqual({ ...rightsizingConfig(() => values) }, {
      dryRun: false,
      policyNamespaces: ["mbcas-system"],
      annotateWorkloads: false,
      workers: 10,
    });
  },
});

Deno.test({
  name: "rightsizingConfig() follows the settings, and either dry-run is one",
  permissions: PURE,
  fn() {
    let values = valuesOf({});
    const config = rightsizingConfig(() => values);
    const text = "rightsizing:\n  enabled: on\n  workers: 3\n  annotateWorkloads: true\n" +
      "  policyNamespaces: [platform, teams]\n";
    values = valuesOf({ file: file(text) });
    assert.equal(values.rightsizing, true);
    assert.deepEqual({ ...config }, {
      dryRun: false,
      policyNamespaces: ["platform", "teams"],
      annotateWorkloads: true,
      workers: 3,
    });
    for (const section of ["controller", "rightsizing"]) {
      values = valuesOf({ file: file(`${section}: {dryRun: true}`) });
      assert.equal(config.dryRun, true, section);
      // That of rightsizing leaves the market alone.
      assert.equal(values.dryRun, section === "controller");
    }
  },
});

Deno.test({
  name: "RIGHTSIZING_ROWS name what does not fit",
  permissions: PURE,
  fn() {
    const faults = faultsOf({
      file: file(
        "rightsizing: {workers: 0, policyNamespaces: [Teams], annotateWorkloads: maybe, interval: 1m}",
      ),
    }).join("\n");
    for (const name of ["workers", "policyNamespaces", "annotateWorkloads", "interval"]) {
      assert.match(faults, new RegExp(`rightsizing\\.${name} is`));
    }
    assert.match(faults, /a whole number from 1 to 100/);
  },
});

Deno.test({
  name: "CONTROLLER_SETTINGS take the flags of OptiPod",
  permissions: PURE,
  fn() {
    const values = valuesOf(
      typed(
        "--metrics-addr=:9000",
        "--enable-leader-election",
        "--metrics-provider=metrics-server",
        "--dry-run",
        "--health-probe-addr=:9000",
      ),
    );
    assert.deepEqual(
      [values.listen, values.leaderElection, values.rightsizingProvider, values.dryRun],
      [":9000", true, "metrics-server", true],
    );
    assert.deepEqual(faultsOf(typed("--metrics-addr=:8080", "--health-probe-addr=:8081")), [
      'flag --metrics-addr is ":8080" and flag --health-probe-addr is ":8081", but both are names ' +
      "of controller.listen: keep one of them",
    ]);
    assert.deepEqual(
      faultsOf(typed("--enable-leader-election=false", "--metrics-provider=influx")),
      [
        'flag --metrics-provider is "influx", expected one of prometheus, metrics-server, custom',
        'flag --enable-leader-election is "false", expected true: of all controllers one works, ' +
        "which can't be switched off",
      ],
    );
  },
});

Deno.test({
  name: "CONTROLLER_SETTINGS take the data of OptiPod's ConfigMap at the top of the file",
  permissions: PURE,
  fn() {
    const values = valuesOf({
      file: file(
        'dryRun: "true"\nmetricsProvider: prometheus\nprometheusURL: http://prometheus:9090\n' +
          'leaderElection: "true"\nreconciliationInterval: 5m\nmarket: off\n',
      ),
    });
    assert.deepEqual(
      [values.dryRun, values.prometheusURL, values.rightsizingProvider, values.market],
      [true, "http://prometheus:9090", "prometheus", false],
    );
    assert.deepEqual(
      faultsOf({
        file: file(
          "leaderElection: false\nreconciliationInterval: 10m\nmetricProvider: prometheus\n" +
            "dryRun: true\ncontroller: {dryRun: false}\n",
        ),
      }),
      [
        "config.yaml: metricProvider is not a setting; did you mean metricsProvider?",
        'config.yaml: reconciliationInterval is "10m", expected 5m: others are said in each ' +
        "policy, as its reconciliationInterval",
        'config.yaml: leaderElection is "false", expected true: of all controllers one works, ' +
        "which can't be switched off",
        'config.yaml: controller.dryRun is "false" and config.yaml: dryRun is "true", but both are ' +
        "names of controller.dryRun: keep one of them",
      ],
    );
  },
});

Deno.test({
  name:
    "CONTROLLER_SETTINGS refuse two names with two values whatever these are, and take equal ones",
  permissions: PURE,
  fn() {
    const word = fc.constantFrom("true", "on", "false", "off");
    fc.assert(fc.property(word, word, (own, other) => {
      const isOn = (text: string) => text === "true" || text === "on";
      const text = `controller: {dryRun: "${own}"}\ndryRun: "${other}"\n`;
      const faults = faultsOf({ file: file(text) });
      assert.equal(faults.length, isOn(own) === isOn(other) ? 0 : 1, text);
      if (faults.length === 0) assert.equal(valuesOf({ file: file(text) }).dryRun, isOn(own));
    }));
  },
});

Deno.test("OTHER_SECTIONS of the agent are all that the controller's table has in the file", () => {
  const keys = Object.values(CONTROLLER_SETTINGS).flatMap(fileKeysOf);
  const alone = keys.filter((key) => sectionOf(key) === undefined);
  assert.deepEqual(alone.sort(), [...OPTIPOD_KEYS].sort());
  for (const key of keys) {
    const section = sectionOf(key) ?? key;
    if (section !== "log") assert.ok(OTHER_SECTIONS.includes(section), key);
  }
  assert.ok(Object.keys(RIGHTSIZING_ROWS).every((name) => name in CONTROLLER_SETTINGS));
});
