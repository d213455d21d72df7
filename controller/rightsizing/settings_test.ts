import assert from "node:assert/strict";
import { AGENT_SETTINGS, IGNORED_SECTIONS } from "../../agent/settings.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { USAGE_PROVIDERS } from "../../shared/api/optimization_policy.ts";
import { OPTIPOD_KEYS } from "../../shared/config/aliases.ts";
import { commandFlags } from "../../shared/config/command_line.ts";
import { settingsAmong } from "../../shared/config/file.ts";
import { refusalOf, valueOf } from "../../shared/config/kinds.ts";
import { effectiveSettings, type SettingSources } from "../../shared/config/load.ts";
import { fileKeysOf, sectionOf, settingsOf } from "../../shared/config/setting.ts";
import { silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import { pureYAML } from "../../tests/fixtures/pure.ts";
import { CONTROLLER_PROGRAM, CONTROLLER_SETTINGS, type ControllerSettings } from "../settings.ts";
import { connectRightsizingAPI } from "./api.ts";
import { isDryRun, policyNamespacesOf } from "./config.ts";
import { customSourceTableKind } from "./sources/custom_usage.ts";

pureYAML("customSourceTableKind reads addresses and logins, and shows no secret", () => {
  const text = JSON.stringify({
    billing: "https://billing:8443/v1/ tokenFile=/etc/mbcas/token caFile=/etc/mbcas/ca",
    plain: " http://plain ",
  });
  const login = { tokenFile: "/etc/mbcas/token", caFile: "/etc/mbcas/ca" };
  const billing = { url: "https://billing:8443/v1", login };
  const sources = [["billing", billing], ["plain", { url: "http://plain", login: {} }]] as const;
  assert.deepEqual(valueOf(customSourceTableKind, text), new Map<string, unknown>(sources));
  assert.deepEqual(valueOf(customSourceTableKind, ""), new Map());
  const rows = [
    ["No_Name", "http://a"],
    ["a", "billing"],
    ["a", "http://me:hunter2@host"],
    ["a", "http://a hunter2"],
  ] as const;
  for (const [name, address] of rows) {
    const text = JSON.stringify({ fine: "http://fine", [name]: address });
    assert.equal(valueOf(customSourceTableKind, text), undefined, address);
    const fault = refusalOf(customSourceTableKind, text) ?? "";
    assert.ok(fault.includes(name) && !fault.includes("hunter2"), fault);
    assert.ok(!fault.includes("fine"), fault);
  }
});

const file = (text: string) => ({ path: "config.yaml", text });

function valuesOf(sources: SettingSources): ControllerSettings {
  const read = effectiveSettings(CONTROLLER_SETTINGS, sources);
  assert.ok("values" in read, "faults" in read ? read.faults.join("\n") : "");
  return read.values;
}

function assertFaults(sources: SettingSources, patterns: readonly RegExp[]): void {
  const read = effectiveSettings(CONTROLLER_SETTINGS, sources);
  assertMatches("faults" in read ? read.faults : [], patterns);
}

function typed(...args: readonly string[]): SettingSources {
  const command = commandFlags(CONTROLLER_PROGRAM, args);
  assert.ok("flags" in command);
  assert.deepEqual(command.faults, []);
  return { flags: command.flags };
}

pureYAML("CONTROLLER_SETTINGS have the defaults of rightsizing, and either dry-run is one", () => {
  const read = (sources: SettingSources) => {
    const values = valuesOf(sources);
    const { annotateWorkloads, rightsizingWorkers, samplerInterval, samplerSize } = values;
    const derived = [values.rightsizing, isDryRun(values), policyNamespacesOf(values)];
    return [...derived, annotateWorkloads, rightsizingWorkers, samplerInterval, samplerSize];
  };
  assert.deepEqual(read({}), [false, false, ["mbcas-system"], false, 10, 30_000, 16]);
  const text = "rightsizing: {enabled: on, workers: 3, annotateWorkloads: true, " +
    "policyNamespaces: [platform, teams], samplerInterval: 45s, samplerSize: 32}";
  const all = [true, false, ["platform", "teams"], true, 3, 45_000, 32];
  assert.deepEqual(read({ file: file(text) }), all);
  for (const section of ["controller", "rightsizing"]) {
    const values = valuesOf({ file: file(`${section}: {dryRun: true}`) });
    assert.equal(isDryRun(values), true, section);
    // That of rightsizing leaves the market alone.
    assert.equal(values.dryRun, section === "controller");
  }
});

pureYAML("CONTROLLER_SETTINGS take OptiPod's flags, and say what they can't do", () => {
  const optiPod = ["--enable-leader-election", "--metrics-provider=metrics-server", "--dry-run"];
  const values = valuesOf(typed("--metrics-addr=:9000", "--health-probe-addr=:9000", ...optiPod));
  const { listen, leaderElection, rightsizingProvider, dryRun } = values;
  assert.deepEqual([listen, leaderElection, dryRun], [":9000", true, true]);
  assert.equal(rightsizingProvider, "metrics-server");
  assertFaults(typed("--metrics-addr=:8080", "--health-probe-addr=:8081"), [
    /--metrics-addr .*":8080" .*--health-probe-addr .*":8081", .*controller\.listen/,
  ]);
  assertFaults(typed("--enable-leader-election=false", "--metrics-provider=influx"), [
    new RegExp(`--metrics-provider .*"influx", .*${USAGE_PROVIDERS.join(", ")}$`),
    /--enable-leader-election .*"false", expected true/,
  ]);
  assertFaults(typed("--metrics-addr=0"), [/--metrics-addr .*"0", .*127\.0\.0\.1:8080$/]);
  const command = commandFlags(CONTROLLER_PROGRAM, ["--help"]);
  assert.ok("help" in command);
  const help = command.help.replaceAll(/\s+/g, " ");
  for (const flag of ["--metrics-addr", "--health-probe-addr"]) {
    assert.match(help, new RegExp(`${flag} <value> Another name of --listen: `));
  }
  assert.match(help, /--enable-leader-election \S+ Accepted [^:]*no effect: /);
});

pureYAML("CONTROLLER_SETTINGS take OptiPod's ConfigMap, in the file or mounted", () => {
  const data = {
    dryRun: "true",
    metricsProvider: "prometheus",
    prometheusURL: "http://prometheus:9090",
    leaderElection: "true",
    reconciliationInterval: "5m",
  };
  assert.deepEqual(Object.keys(data).toSorted(), OPTIPOD_KEYS.toSorted());
  const place = { name: "config.yaml", path: "/etc/mbcas/config.yaml", place: "/etc/mbcas/" };
  const mounted = settingsAmong(data, place);
  assert.ok(mounted !== undefined);
  const text = Object.entries(data).map(([key, value]) => `${key}: "${value}"\n`).join("");
  for (const one of [mounted, file(text)]) {
    const { dryRun, prometheusURL, rightsizingProvider } = valuesOf({ file: one });
    assert.deepEqual([dryRun, rightsizingProvider], [true, "prometheus"]);
    assert.equal(prometheusURL, data.prometheusURL);
  }
  // The agent mounts the same one.
  assert.ok("values" in effectiveSettings(AGENT_SETTINGS, { file: mounted }));
  assertFaults({ file: file("leaderElection: false\nreconciliationInterval: 10m\n") }, [
    /^config\.yaml: reconciliationInterval .*"10m", expected 5m/,
    /^config\.yaml: leaderElection .*"false", expected true/,
  ]);
});

pureYAML(
  "IGNORED_SECTIONS of the agent are all that the controller's table has in the file",
  () => {
    const keys = settingsOf(CONTROLLER_SETTINGS).flatMap(fileKeysOf);
    const alone = keys.filter((key) => sectionOf(key) === undefined);
    assert.deepEqual(alone.sort(), [...OPTIPOD_KEYS, "nodeLabels"].sort());
    const own = new Set(settingsOf(AGENT_SETTINGS).flatMap(fileKeysOf).map(sectionOf));
    for (const key of keys) {
      const section = sectionOf(key) ?? key;
      assert.ok(own.has(section) || IGNORED_SECTIONS.includes(section), key);
    }
  },
);

pureYAML("connectRightsizingAPI() resizes under its own name, and stores by labels", async () => {
  const asked: unknown[] = [];
  const api = connectRightsizingAPI({
    request({ path, query }) {
      asked.push([path, query?.["fieldManager"] ?? query?.["labelSelector"]]);
      const metadata = { resourceVersion: "9" };
      return Promise.resolve({ metadata, kind: "PodMetricsList", items: [] });
    },
    async *lines() {},
  }, {
    namespace: "ns",
    settings: () => valuesOf({}),
    events: { emit: () => {} },
    clock: createVirtualClock({ wallStart: 0 }),
    random: seededRandom(1),
    log: silentLog,
  });
  await api.resizer.resize("shop", "web-0", { metadata: { uid: "u" }, spec: {} });
  const over = new AbortController();
  assert.deepEqual(await api.correctionStore.list(over.signal), []);
  const { run, close } = api.connectUsage({
    createLookup: () => () => undefined,
    isWanted: () => true,
    workloadUIDs: () => (over.abort(), undefined),
  }, undefined);
  await run(over.signal);
  close();
  assert.deepEqual(asked, [
    ["/api/v1/namespaces/shop/pods/web-0/resize", "optipod"],
    ["/api/v1/namespaces/ns/configmaps", "optipod.io/corrections=true"],
    ["/api/v1/namespaces/ns/configmaps", "optipod.io/usage-history=true"],
    ["/apis/metrics.k8s.io/v1beta1/pods", undefined],
  ]);
});
