import assert from "node:assert/strict";
import type { ApiFindings } from "../adapters/kube/client/api_checks.ts";
import { readProgramSettings } from "../adapters/program_settings.ts";
import project from "../deno.json" with { type: "json" };
import { createVirtualClock } from "../lab/simulation/virtual_clock.ts";
import { ApiError } from "../shared/api/api_error.ts";
import type { Node } from "../shared/api/node.ts";
import { settingsAmong } from "../shared/config/file.ts";
import { effectiveFields, effectiveSettings, type SettingSources } from "../shared/config/load.ts";
import {
  fileKeysOf,
  flagsOf,
  type Setting,
  settingOf,
  settingsOf,
} from "../shared/config/setting.ts";
import { type Log, silentLog } from "../shared/log.ts";
import { PLACEMENT_SETTINGS } from "../shared/placement/settings.ts";
import { seededRandom } from "../shared/random.ts";
import { sampleNode } from "../tests/contract/support/sample_objects.ts";
import { assertMatches } from "../tests/fixtures/assert_matches.ts";
import { createWatchedCache } from "../tests/fixtures/caches.ts";
import { pure, pureYAML } from "../tests/fixtures/pure.ts";
import { DEFAULT_MARKET_CONFIG, marketConfig } from "./config.ts";
import { createLiveSettings, type StartSettings } from "./live_settings.ts";
import { RIGHTSIZING_SETTINGS } from "./rightsizing/settings.ts";
import { CONTROLLER_PROGRAM, CONTROLLER_SETTINGS, IGNORED_SECTIONS } from "./settings.ts";
import {
  createServedResize,
  reportOldKubelets,
  startCheck,
  type StartVerdict,
} from "./start_check.ts";
import { WEBHOOK_SETTINGS } from "./webhook/settings.ts";

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

pureYAML("CONTROLLER_SETTINGS have no key, flag, variable or alias twice", () => {
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

/** Settings that do or don't fit together, and the values that the fault names of these. */
const TOGETHER: readonly (readonly [text: string, fault?: string])[] = [
  ["{}"],
  [ports(":8080", ":9443")],
  [
    ports(":9443", "0.0.0.0:9443"),
    "controller.listen is :9443 and webhook.listen is 0.0.0.0:9443",
  ],
  [
    ports("127.0.0.1:9443", ":09443"),
    "controller.listen is 127.0.0.1:9443 and webhook.listen is :09443",
  ],
  [ports(":9443", ":9443", "off")],
  [ports("127.0.0.1:9443", "10.0.0.1:9443")],
  [ports(":0", ":0")],
  [silent("2m", "60s")],
  [silent("10s", "5s")],
  [
    silent("119s", "60s"),
    "controller.agentSilentAfter is 119s and agent.heartbeat is 60s: make it 120s",
  ],
];

pureYAML("CONTROLLER_SETTINGS refuse settings that don't fit together, with their keys", () => {
  for (const [text, fault = ""] of TOGETHER) {
    const file = { path: "f", text };
    const read = effectiveSettings(CONTROLLER_SETTINGS, {
      file,
      ignoredSections: IGNORED_SECTIONS,
    });
    const faults = "faults" in read ? read.faults : [];
    assert.equal(faults.join("\n").replace(/(: \D+|(?<=120s)\b.*)$/, ""), fault, text);
  }
});

pureYAML("CONTROLLER_PROGRAM starts despite faults where the market is off, for that alone", () => {
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

pureYAML("DEFAULT_MARKET_CONFIG equals the defaults of the settings", () => {
  assert.deepEqual({ ...marketConfig(started().live.values) }, DEFAULT_MARKET_CONFIG);
});

pureYAML("marketConfig() excludes the installation's own namespace, whatever the list", () => {
  const { live, take } = started({ flags: new Map([["--namespace", "own"]]) });
  take("market: {excludedNamespaces: [batch, own]}");
  assert.deepEqual(marketConfig(live.values).excludedNamespaces, ["batch", "own"]);
  take("market: {excludedNamespaces: [batch]}");
  assert.deepEqual(marketConfig(live.values).excludedNamespaces, ["batch", "own"]);
});

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

pureYAML("CONTROLLER_SETTINGS take what fits each setting of a feature, and nothing else", () => {
  const left = [PLACEMENT_SETTINGS, RIGHTSIZING_SETTINGS].flatMap(({ shape }) =>
    Object.entries(shape).flatMap(([name, one]) =>
      settingOf(one).onlyBy === "file" || name in TEXTS ? [] : [name]
    )
  );
  assert.deepEqual(left, []);
  for (const [name, [text, bad = "{}", message = ""]] of Object.entries(TEXTS)) {
    const one = CONTROLLER_SETTINGS.shape[name as keyof typeof CONTROLLER_SETTINGS.shape];
    const { key, env = "" } = settingOf(one);
    assert.ok(project.permissions.controller.env.includes(env), env);
    const by = (value: string): SettingSources => ({ env: { [env]: value } });
    // Alone: a window's schedule asks for its duration.
    const read = name in PLACEMENT_SETTINGS.shape
      ? effectiveSettings(PLACEMENT_SETTINGS, by(text))
      : effectiveSettings(CONTROLLER_SETTINGS, by(text));
    assert.ok("origins" in read, key);
    // As it is logged at the start: names of files, never what stands in them.
    assert.equal(effectiveFields(read)[key], `${text} (environment)`);
    const refused = effectiveSettings(CONTROLLER_SETTINGS, by(bad));
    const [fault = "", ...more] = "faults" in refused ? refused.faults : [];
    assert.deepEqual(more, [], key);
    assert.ok(fault.includes(env) && fault.includes(message), fault);
  }
});

pureYAML("takeFile() follows live settings, and keeps flags above the file", () => {
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

pureYAML("takeFile() refuses a text with faults as a whole, and keeps all without a file", () => {
  const { live, lines, seen, take } = started();
  take("market: {enabled: on, managementPolicy: OptIn, burstFactor: 0}");
  assert.equal(live.valid, false);
  take(undefined);
  assert.deepEqual([live.values().managementPolicy, seen.changes], ["OptOut", 0]);
  assert.match(lines.join("\n"), /^error .*refused f: market\.burstFactor is "0", /);
  take("market: off");
  assert.deepEqual([live.valid, live.values().market, seen.changes], [true, false, 1]);
});

pureYAML("takeFile() follows the off switch of a text with faults, and nothing else of it", () => {
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

pureYAML("takeFile() reports values of the file that a flag or a variable overrides", () => {
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

pureYAML("takeFile() follows the keys beside the file, all or none of them", () => {
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

pureYAML("WEBHOOK_SETTINGS are off by default, and name what does not fit", () => {
  const settle = (text: string) =>
    effectiveSettings(WEBHOOK_SETTINGS, { file: { path: "config.yaml", text } });
  const read = settle("");
  assert.deepEqual("values" in read && read.values, {
    webhook: false,
    webhookListen: ":9443",
    webhookCertificates: "self",
    webhookFolder: "/etc/mbcas-webhook",
    webhookService: "mbcas-webhook",
  });
  const refused = settle(
    "webhook: {certificates: vault, serviceName: Web_Hook, listen: all, ports: 1}",
  );
  const faults = "faults" in refused ? refused.faults.join("\n") : "";
  for (const name of ["certificates", "serviceName", "listen", "ports"]) {
    assert.match(faults, new RegExp(`webhook\\.${name}`));
  }
  assert.match(faults, /self, cert-manager, files/);
});

const FINE: ApiFindings = {
  ...{ serverVersion: "v1.36.3", servesPodResize: true, servesAllocations: true },
  ...{ lowersMemoryLimits: true, unknownFields: [] },
};

function check(
  findings: Partial<ApiFindings> | Error,
  { signal } = new AbortController(),
): Promise<StartVerdict> {
  const ask = () =>
    findings instanceof Error
      ? Promise.reject(findings)
      : Promise.resolve({ ...FINE, ...findings });
  const clock = createVirtualClock({ wallStart: 0 });
  const parts = { ask, clock, random: seededRandom(1), log: silentLog };
  return startCheck({ ...parts, waitsFor: () => {} }, signal);
}

pure("startCheck() returns whether the server resizes pods, and passes on faults", async () => {
  for (const servesPodResize of [true, false]) {
    const found = { servesPodResize, lowersMemoryLimits: servesPodResize };
    assert.deepEqual(await check(found), found);
  }
  await assert.rejects(check(new TypeError("a fault")), TypeError);
  const stopped = new AbortController();
  stopped.abort();
  assert.equal(await check({}, stopped), "stopped");
});

pure("createServedResize() has the last answer of the server, and reports another", async () => {
  const answers = [
    () => Promise.resolve({ ...FINE, lowersMemoryLimits: true }),
    () => Promise.reject(new ApiError(503, "ServiceUnavailable", "later")),
    () => Promise.resolve({ ...FINE, servesPodResize: false, lowersMemoryLimits: false }),
  ];
  const rest = answers.values();
  const clock = createVirtualClock({ wallStart: 0 });
  const ask = () => (rest.next().value ?? assert.fail())();
  const first = { servesPodResize: true, lowersMemoryLimits: false };
  const resize = createServedResize({ ask, clock, log: silentLog }, first);
  let changes = 0;
  resize.subscribe(() => changes++);
  const over = new AbortController();
  const running = resize.run(over.signal);
  const found = [];
  for (const atMs of [0, 300_000, 600_000, 900_000]) {
    await clock.runUntil(atMs);
    found.push([resize.served, resize.lowersMemoryLimits, changes]);
  }
  const unchanged = [true, true, 0];
  assert.deepEqual(found, [[true, false, 0], unchanged, unchanged, [false, false, 1]]);
  over.abort();
  await running;
});

pure("reportOldKubelets() reports a node once, and again after it changed", () => {
  const nodes = createWatchedCache<Node>();
  const logged: unknown[] = [];
  const warn = (_text: string, fields?: object) => void logged.push(fields);
  reportOldKubelets(nodes, { ...silentLog, warn });
  for (const kubeletVersion of ["v1.30.1", "v1.30.1", "v1.33.1", "v1.30.1"]) {
    nodes.put({ ...sampleNode("n"), kubeletVersion });
  }
  nodes.remove(sampleNode("n"));
  assert.deepEqual(logged, Array(2).fill({ node: "n", kubelet: "v1.30.1" }));
});
