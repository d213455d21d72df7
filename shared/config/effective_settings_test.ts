import assert from "node:assert/strict";
import fc from "fast-check";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import { effectiveFields, effectiveSettings, type SettingSources } from "./effective_settings.ts";
import { serverURLKind } from "./server_url_kind.ts";
import { choiceKind, numberKind, optionalKind, switchKind, termsKind } from "./setting_kinds.ts";

/** The YAML parser looks at two variables for its own debugging. */
const PURE = { env: ["LOG_TOKENS", "LOG_STREAM"] };

const TABLE = {
  burstFactor: {
    key: "market.burstFactor",
    flag: "--burst-factor",
    env: "MBCAS_BURST_FACTOR",
    default: "4",
    description: "How far a limit may go above the user's own.",
    kind: numberKind({ least: 1, most: 100 }),
  },
  enabled: {
    key: "market.enabled",
    flag: "--market",
    env: "MBCAS_MARKET",
    default: "on",
    description: "Whether limits are set at all.",
    kind: switchKind,
    shorthand: true,
  },
  excluded: {
    key: "market.excludedNamespaces",
    default: "kube-system",
    description: "Namespaces that are left alone.",
    kind: termsKind("names of namespaces", /^[a-z0-9-]+$/),
  },
  level: {
    key: "log.level",
    default: "info",
    description: "How much is logged.",
    kind: choiceKind(["info", "debug"]),
  },
  config: {
    key: "config",
    flag: "--config",
    default: "",
    description: "The settings file.",
    kind: optionalKind(choiceKind(["a", "b"])),
  },
} as const;

function faultsOf(sources: SettingSources): readonly string[] {
  const result = effectiveSettings(TABLE, { otherSections: ["agent"], ...sources });
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
      const result = effectiveSettings(TABLE, {
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
    const result = effectiveSettings(TABLE, {
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

const ALIASED = {
  listen: {
    key: "controller.listen",
    flag: "--listen",
    env: "MBCAS_LISTEN",
    default: "80",
    description: "",
    kind: numberKind({ most: 100 }),
    aliases: ["--metrics-addr", "listenOn"],
  },
} as const;

Deno.test({
  name: "effectiveSettings() takes a setting by its other names, where its own would stand",
  permissions: PURE,
  fn() {
    const typed = new Map([["--metrics-addr", "1"]]);
    for (
      const [sources, value, origin] of [
        [{ flags: typed }, 1, "flag"],
        [{ flags: typed, env: { MBCAS_LISTEN: "2" }, file: file("listenOn: 3") }, 1, "flag"],
        [{ env: { MBCAS_LISTEN: "2" }, file: file("listenOn: 3") }, 2, "environment"],
        [{ file: file('listenOn: "3"') }, 3, "file"],
        [{ file: file("controller: {listen: 3}\nlistenOn: 3.0") }, 3, "file"],
        [{ file: file("listenOn:") }, 80, "default"],
      ] as const
    ) {
      const result = effectiveSettings(ALIASED, sources);
      assert.ok(!("faults" in result));
      assert.equal(result.values.listen, value);
      assert.equal(result.origins.get("controller.listen")?.origin, origin);
    }
  },
});

Deno.test({
  name: "effectiveSettings() refuses two names of a setting with two values, and names both",
  permissions: PURE,
  fn() {
    const flags = new Map([["--listen", "1"], ["--metrics-addr", "2"]]);
    const problems = (sources: SettingSources) => {
      const result = effectiveSettings(ALIASED, sources);
      assert.ok("faults" in result);
      return result.faults;
    };
    assertMatches(problems({ flags }), [
      /^flag --listen is "1" and flag --metrics-addr is "2", .* controller\.listen: /,
    ]);
    assertMatches(problems({ file: file("listenOn: 3\ncontroller: {listen: 4}") }), [
      /: controller\.listen is "4" and config\.yaml: listenOn is "3", .* controller\.listen: /,
    ]);
    // In no section, and none of its own names.
    assertMatches(problems({ file: file("controller: {listenOn: 3}\nlisten: 1") }), [
      /^config\.yaml: controller\.listenOn .* controller\.listen\?$/,
      /^config\.yaml: listen .* listenOn\?$/,
    ]);
    assertMatches(problems({ file: file("listenOn: {a: 1}") }), [
      /: listenOn is {"a":1}, .* list$/,
    ]);
  },
});

/** A file beside which these keys stand in a ConfigMap. */
function mounted(text: string, data: Readonly<Record<string, string>>) {
  const texts = new Map(Object.entries(data));
  return { ...file(text), keys: { beside: "config.yaml", place: "/etc/", texts } };
}

Deno.test({
  name:
    "effectiveSettings() takes keys beside the file as the file, with flag and variable over them",
  permissions: PURE,
  fn() {
    const sources = fc.record({ flag: fc.boolean(), env: fc.boolean(), text: fc.boolean() });
    fc.assert(fc.property(sources, (set) => {
      const result = effectiveSettings(ALIASED, {
        flags: new Map(set.flag ? [["--metrics-addr", "1"]] : []),
        env: set.env ? { MBCAS_LISTEN: "2" } : {},
        file: mounted(set.text ? "controller: {listen: 3}" : "", { listenOn: "3\n" }),
      });
      assert.ok(!("faults" in result));
      const expected = set.flag ? [1, "flag"] : set.env ? [2, "environment"] : [3, "file"];
      const { origin } = result.origins.get("controller.listen") ?? {};
      assert.deepEqual([result.values.listen, origin], expected);
    }));
  },
});

Deno.test({
  name: "effectiveSettings() refuses a key beside the file that says another value than the file",
  permissions: PURE,
  fn() {
    for (
      const [text, name] of [["controller: {listen: 4}", "controller.listen"], [
        "listenOn: 4",
        "listenOn",
      ]]
    ) {
      const result = effectiveSettings(ALIASED, { file: mounted(`${text}`, { listenOn: "3" }) });
      assertMatches("faults" in result ? result.faults : [], [
        new RegExp(`: ${name} is "4" and /etc/listenOn is "3", .* controller\\.listen: `),
      ]);
    }
    const unknown = effectiveSettings(ALIASED, { file: mounted("", { listenAt: "3" }) });
    assertMatches("faults" in unknown ? unknown.faults : [], [/^\/etc\/listenAt /]);
  },
});

Deno.test({
  name: "effectiveSettings() shows no password of an address that stands under another name",
  permissions: PURE,
  fn() {
    const url = {
      key: "metrics.url",
      default: "",
      description: "",
      kind: serverURLKind,
      aliases: ["url"],
    };
    const secret = "http://reader:hunter2@prometheus";
    for (const [own, other] of [["http://prometheus", secret], [secret, "http://prometheus"]]) {
      const text = `metrics: {url: "${own}"}\nurl: "${other}"\n`;
      const result = effectiveSettings({ url }, { file: file(text) });
      assert.ok("faults" in result);
      assert.equal(result.faults.length, 1);
      assert.match(result.faults[0] ?? "", /url: .* password /);
      assert.ok(!result.faults[0]?.includes("hunter2"));
    }
  },
});
