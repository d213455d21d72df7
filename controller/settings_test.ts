import assert from "node:assert/strict";
import { readProgramSettings } from "../adapters/program_settings.ts";
import project from "../deno.json" with { type: "json" };
import { commandFlags } from "../shared/config/command_line.ts";
import { settingsAmong } from "../shared/config/file.ts";
import { effectiveFields, effectiveSettings, type SettingSources } from "../shared/config/load.ts";
import {
  fileKeysOf,
  flagsOf,
  type Setting,
  settingOf,
  settingsOf,
} from "../shared/config/setting.ts";
import type { Log } from "../shared/log.ts";
import { PLACEMENT_SETTINGS } from "../shared/placement/settings.ts";
import { assertMatches } from "../tests/fixtures/assert_matches.ts";
import { DEFAULT_MARKET_CONFIG, marketConfig } from "./config.ts";
import { createLiveSettings, type StartSettings } from "./live_settings.ts";
import { RIGHTSIZING_SETTINGS } from "./rightsizing/settings.ts";
import { CONTROLLER_PROGRAM, CONTROLLER_SETTINGS, OTHER_SECTIONS } from "./settings.ts";

/** The YAML parser looks at two variables for its own debugging. */
function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: { env: ["LOG_TOKENS", "LOG_STREAM"] }, fn });
}

/** Live settings with what they log: level, message and values. */
function follow(start: StartSettings) {
  const lines: string[] = [];
  const put = (level: string) => (message: string, fields: object = {}) =>
    void lines.push([level, message, ...Object.values(fields)].join(" "));
  const log: Log = {
    ...{ debug: put("debug"), info: put("info"), warn: put("warn"), error: put("error") },
  };
  const live = createLiveSettings(start, log);
  const seen = { changes: 0 };
  live.subscribe(() => seen.changes++);
  const take = (text: string | undefined): void =>
    live.takeFile({ path: "f", text } as { path: string; text: string });
  return { live, lines, seen, take };
}

function started(sources: SettingSources = {}) {
  const settings = effectiveSettings(CONTROLLER_SETTINGS, sources);
  assert.ok(!("faults" in settings));
  return follow({ settings, sources });
}

test("CONTROLLER_SETTINGS have no key, flag, variable or alias twice", () => {
  for (const namesOf of [fileKeysOf, flagsOf, ({ env }: Setting) => env ?? []]) {
    const names = settingsOf(CONTROLLER_SETTINGS).flatMap((one) => namesOf(one)).toSorted();
    assert.ok(names.length > 10);
    assert.deepEqual(names, [...new Set(names)]);
  }
});

function ports(listen: string, webhook: string, enabled = "on"): string {
  return `controller: {listen: "${listen}"}\nwebhook: {enabled: ${enabled}, listen: "${webhook}"}`;
}

function silent(after: string, heartbeat: string): string {
  return `{controller: {agentSilentAfter: ${after}}, agent: {heartbeat: ${heartbeat}}}`;
}

/** Settings that do or don't fit together, and the sentence about these. */
const TOGETHER: readonly (readonly [text: string, fault?: string])[] = [
  ["{}"],
  [ports(":8080", ":9443")],
  [
    ports(":9443", "0.0.0.0:9443"),
    "controller.listen is :9443 and webhook.listen is 0.0.0.0:9443: give each a port of its own",
  ],
  [
    ports("127.0.0.1:9443", ":09443"),
    "controller.listen is 127.0.0.1:9443 and webhook.listen is :09443: give each a port of its own",
  ],
  [ports(":9443", ":9443", "off")],
  [ports("127.0.0.1:9443", "10.0.0.1:9443")],
  [ports(":0", ":0")],
  [silent("2m", "60s")],
  [silent("10s", "5s")],
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

test("CONTROLLER_SETTINGS refuse settings that don't fit together, with their keys", () => {
  for (const [text, fault = ""] of TOGETHER) {
    const file = { path: "f", text };
    const read = effectiveSettings(CONTROLLER_SETTINGS, { file, otherSections: OTHER_SECTIONS });
    assert.equal("faults" in read ? read.faults.join("\n") : "", fault, text);
  }
});

test("CONTROLLER_PROGRAM starts despite faults where the market is off, for that alone", () => {
  const env = { MBCAS_RIGHTSIZING: "on", MBCAS_PLACEMENT: "on", MBCAS_WEBHOOK: "on" };
  const begin = (text: string) =>
    readProgramSettings(CONTROLLER_PROGRAM, {
      ...{ args: ["--config", "f"], env },
      readFile: (path) => ({ path, text }),
    });
  const faulty = "controller: {dryRun: true, maxResizesPerSecond: many}";
  for (const text of [faulty, `market: on\n${faulty}`]) {
    assert.deepEqual(Object.keys(begin(text)), ["exitCode", "text"]);
  }
  const begun = begin(`market: off\n${faulty}`);
  assert.ok("settings" in begun);
  const { market, dryRun, rightsizing, placement, webhook, maxResizesPerSecond } =
    begun.settings.values;
  assert.deepEqual([market, rightsizing, placement, webhook], [false, false, false, false]);
  assert.deepEqual([dryRun, maxResizesPerSecond], [true, 50]);
  assertMatches(begun.faults, [/^f: controller\.maxResizesPerSecond is "many", /]);
  // The mended file turns the others on at the next start.
  const { live, lines, take } = follow(begun);
  assert.equal(live.valid, false);
  take("market: off");
  assert.deepEqual([live.valid, live.values().rightsizing], [true, false]);
  const restarts = lines.filter((line) => line.startsWith("warn "));
  assertMatches(restarts.toSorted(), [
    / placement\.enabled /,
    / rightsizing\.enabled /,
    / webhook\.enabled /,
  ]);
});

test("DEFAULT_MARKET_CONFIG equals the defaults of the settings", () => {
  assert.deepEqual({ ...marketConfig(started().live.values) }, DEFAULT_MARKET_CONFIG);
});

test("marketConfig() excludes the installation's own namespace, whatever the list", () => {
  const { live, take } = started({ flags: new Map([["--namespace", "own"]]) });
  take("market: {excludedNamespaces: [batch, own]}");
  assert.deepEqual(marketConfig(live.values).excludedNamespaces, ["batch", "own"]);
  take("market: {excludedNamespaces: [batch]}");
  assert.deepEqual(marketConfig(live.values).excludedNamespaces, ["batch", "own"]);
});

const inFile = (text: string): SettingSources => ({ file: { path: "config.yaml", text } });

/** A text that fits each setting, one that does not, and a part of the message about that. */
const TEXTS: Readonly<Record<string, readonly [text: string, bad?: string, message?: string]>> = {
  placement: ["on", "yes", "false or off"],
  resyncPeriod: ["5s", "4s", "a duration from 5s to 1h"],
  placementWorkers: ["100", "0", "a whole number from 1 to 100"],
  placementNamespaces: ["team=shop", "team", "a label selector"],
  nodeClassifier: ["aks", "azure", "karpenter, eks, gke, aks"],
  departureSigns: ["aws,gke", "azure", 'presets[0] is "azure"'],
  readOnlyMode: ["on", "maybe", "false or off"],
  windowSchedule: ["0 2 * * *", "@daily", 'Cannot parse schedule: "@daily"'],
  windowDuration: ["4h", "0s", "Cannot parse duration"],
  placementCooldown: ["0s", "25h", "a duration from 0s to 24h"],
  evictionsPerSecond: ["0.1", "0", "a number from 0.001 to 1000"],
  evictionBurst: ["1", "1.5", "a whole number from 1 to 1000"],
  scheduleTimeout: ["1s", "2h", "a duration from 1s to 1h"],
  fallbackDuration: ["1m", "0s", "a duration from 1s to 24h"],
  maxFallbackDuration: ["24h", "25h", "a duration from 1s to 24h"],
  rightsizing: ["on"],
  rightsizingDryRun: ["on"],
  rightsizingWorkers: ["7"],
  policyNamespaces: ["a,b"],
  annotateWorkloads: ["on"],
  samplerInterval: ["45s"],
  samplerSize: ["32"],
  rightsizingProvider: ["prometheus"],
  rightsizingInterval: ["300s"],
  leaderElection: ["on"],
  dryRun: ["on"],
  prometheusURL: ["http://a:1"],
  prometheusLogin: ["tokenFile=/t"],
};

test("CONTROLLER_SETTINGS take each by file, variable and flag, the last before all", () => {
  const left = [PLACEMENT_SETTINGS, RIGHTSIZING_SETTINGS].flatMap(({ shape }) =>
    Object.entries(shape).flatMap(([name, one]) =>
      settingOf(one).onlyBy === "file" || name in TEXTS ? [] : [name]
    )
  );
  // Those of the file alone have no variable and no flag.
  assert.deepEqual(left, []);
  for (const [name, [text, bad = "{}", message = ""]] of Object.entries(TEXTS)) {
    const one = CONTROLLER_SETTINGS.shape[name as keyof typeof CONTROLLER_SETTINGS.shape];
    const { key, flag = "", env = "" } = settingOf(one);
    assert.ok(project.permissions.controller.env.includes(env), env);
    const [last = "", ...outer] = key.split(".").toReversed();
    const filed = (value: string): SettingSources =>
      inFile(outer.reduce((inner, one) => `${one}: {${inner}}`, `${last}: "${value}"`));
    const typed = (value: string) => {
      const command = commandFlags(CONTROLLER_PROGRAM, [`${flag}=${value}`]);
      assert.ok("flags" in command);
      return { flags: command.flags };
    };
    // Where a source of higher rank fits, one of lower rank is not read.
    const rows:
      readonly (readonly [string, where: string, SettingSources, wrong: SettingSources])[] = [
        ["file", key, filed(text), filed(bad)],
        ["environment", env, { ...filed(bad), env: { [env]: text } }, { env: { [env]: bad } }],
        ["flag", flag, { ...filed(bad), env: { [env]: bad }, ...typed(text) }, typed(bad)],
      ];
    for (const [origin, where, sources, wrong] of rows) {
      // Alone: a window's schedule asks for its duration.
      const read = name in PLACEMENT_SETTINGS.shape
        ? effectiveSettings(PLACEMENT_SETTINGS, sources)
        : effectiveSettings(CONTROLLER_SETTINGS, sources);
      assert.ok("origins" in read, `${key} by ${origin}`);
      assert.deepEqual(read.origins.get(key), { origin, text });
      // As it is logged at the start: names of files, never what stands in them.
      assert.equal(effectiveFields(read)[key], `${text} (${origin})`);
      const refused = effectiveSettings(CONTROLLER_SETTINGS, wrong);
      const [fault = "", ...more] = "faults" in refused ? refused.faults : [];
      assert.deepEqual(more, [], key);
      assert.ok(fault.includes(where) && fault.includes(message), fault);
    }
  }
});

test("takeFile() follows live settings, reports the others, and keeps flags above the file", () => {
  const { live, lines, seen, take } = started({ flags: new Map([["--burst-factor", "2"]]) });
  const config = marketConfig(live.values);
  const controller = "controller: {maxResizesPerSecond: 7, dryRun: true}";
  take(`market: {burstFactor: 9, managementPolicy: OptIn}\n${controller}`);
  const { burstFactor, managementPolicy, dryRun, maxResizesPerSecond } = config;
  assert.deepEqual([burstFactor, managementPolicy, dryRun], [2, "OptIn", true]);
  assert.deepEqual([maxResizesPerSecond, seen.changes], [50, 1]);
  assertMatches(lines, [
    /^info .* market\.managementPolicy OptOut OptIn file$/,
    /^info .* controller\.dryRun false true\b.*file$/,
    /^warn .*restart .* controller\.maxResizesPerSecond 50 7$/,
    /^warn .* market\.burstFactor 9 2 flag --burst-factor$/,
  ]);
  take(controller);
  assert.deepEqual([config.managementPolicy, seen.changes], ["OptOut", 2]);
});

test("takeFile() refuses a text with faults as a whole, and keeps all without a file", () => {
  const { live, lines, seen, take } = started();
  take("market: {enabled: on, managementPolicy: OptIn, burstFactor: 0}");
  assert.equal(live.valid, false);
  take(undefined);
  assert.deepEqual([live.values().managementPolicy, seen.changes], ["OptOut", 0]);
  assert.match(lines.join("\n"), /^error .*refused f: market\.burstFactor is "0", /);
  take("market: off");
  assert.deepEqual([live.valid, live.values().market, seen.changes], [true, false, 1]);
});

test("takeFile() follows the off switch of a text with faults, and nothing else of it", () => {
  const rows = [
    "market: {enabled: false, managementPolicy: OptIn, burstFactors: 3}",
    "market: off\nmarkets: {burstFactor: 3}",
    "market: {managementPolicy: OptIn, enabled: 'off'}\nlog: {level: loud}",
    "market: off\nlog: [",
    "market: off\nlog: {level: *none}",
    "log: {level: debug}\nlog: {level: info}\nmarket: {enabled: off}",
  ];
  for (const text of rows) {
    const { live, lines, seen, take } = started();
    take(text);
    const { market, managementPolicy, burstFactor, logLevel } = live.values();
    assert.deepEqual([live.valid, market, seen.changes], [false, false, 1], text);
    assert.deepEqual([managementPolicy, burstFactor, logLevel], ["OptOut", 8, "info"], text);
    assert.match(lines[0] ?? "", /^error .*refused f: /);
    assert.match(lines.at(-1) ?? "", /^info .* market\.enabled on (off|false) file$/);
    // A file with faults can't turn it on again.
    take("market: on\nmarkets: {}");
    assert.equal(live.values().market, false);
  }
});

test("takeFile() reports values of the file that a flag or a variable overrides", () => {
  const rows = [
    [{ flags: new Map([["--market", "on"]]) }, "on", "flag", "--market"],
    [{ env: { MBCAS_MARKET: "true" } }, "true", "env", "MBCAS_MARKET"],
  ] as const;
  for (const [sources, ...holds] of rows) {
    const { live, lines, seen, take } = started(sources);
    for (const text of ["market: off", "market: {enabled: off, burstFactors: 2}"]) {
      take(text);
      assert.deepEqual(lines.at(-1)?.split(" ").slice(-5), ["market.enabled", "off", ...holds]);
      assert.deepEqual([live.values().market, seen.changes], [true, 0]);
    }
  }
});

test("takeFile() follows the keys beside the file, all or none of them", () => {
  const { live, lines, seen } = started();
  const take = (data: Readonly<Record<string, string>>) => {
    const place = { name: "config.yaml", path: "f", place: "f: data." };
    live.takeFile(settingsAmong(data, place) ?? { path: "f", text: undefined });
  };
  take({ dryRun: "true", prometheusURL: "http://prometheus:9090", reconciliationInterval: "5m" });
  const { dryRun, prometheusURL } = live.values();
  assert.deepEqual([dryRun, prometheusURL, seen.changes], [true, "http://prometheus:9090", 1]);
  take({ "config.yaml": "market: off", dryRuns: "false" });
  assert.deepEqual([live.valid, live.values().market, seen.changes], [false, false, 2]);
  assert.match(lines.at(-2) ?? "", /^error .*refused f: data\.dryRuns .* setting; did/);
  take({ "config.yaml": "market: off" });
  const { market, dryRun: after } = live.values();
  assert.deepEqual([live.valid, market, after, seen.changes], [true, false, false, 3]);
});
