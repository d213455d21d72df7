import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import * as z from "zod";
import { AGENT_SETTINGS } from "../../agent/settings.ts";
import { CONTROLLER_SETTINGS } from "../../controller/settings.ts";
import project from "../../deno.json" with { type: "json" };
import { settingsPage } from "./docs.ts";
import { type Setting, settingOf, type SettingSchema, settingsOf } from "./setting.ts";

function described<T extends Readonly<Record<string, SettingSchema<unknown>>>>(
  shape: T,
): { readonly [K in keyof T]: Setting } {
  const entries = Object.entries(shape).map(([name, schema]) => [name, settingOf(schema)]);
  return Object.fromEntries(entries);
}

pure("settingsPage() has one row per setting, with all its names", () => {
  const page = settingsPage([{ title: "Controller", schema: CONTROLLER_SETTINGS }]);
  const [own = ""] = page.split("\n## Names ");
  const rows = own.split("\n").filter((line) => /^\| [–`]/.test(line));
  assert.equal(rows.length, settingsOf(CONTROLLER_SETTINGS).length);
  assert.match(
    page,
    /\| `market\.burstFactor` \| `--burst-factor` \| `MBCAS_BURST_FACTOR` \| `8` \| .*\(\*live\*\) \|/,
  );
  assert.match(page, /^\| – \| `--kubeconfig` \| `KUBECONFIG` \| – \|/m);
  assert.match(page, /^\| `metrics\.queries` \| – \| – \| – \| .*\bfile only/m);
});

pure("settingsPage() says what the names stand for that settings have beside their own", () => {
  const both = [
    { title: "Controller", schema: CONTROLLER_SETTINGS },
    { title: "Agent", schema: AGENT_SETTINGS },
  ];
  const [, names = ""] = settingsPage(both).split("\n## Names ");
  assert.deepEqual(names.split("\n").filter((line) => /^\| `/.test(line)), [
    "| `logging.level:` | `log.level` |",
    "| `logging.format:` | `log.format` |",
    "| `prometheusURL:` | `metrics.prometheusURL` |",
    "| `metricsProvider:` | `rightsizing.provider` |",
    "| `reconciliationInterval:` | `rightsizing.interval` |",
    "| `leaderElection:` | `controller.leaderElection` |",
    "| `controller.leaderElection.enabled:` | `controller.leaderElection` |",
    "| `webhook.port:` | `webhook.listen` |",
    "| `webhook.certDir:` | `webhook.certificateFolder` |",
    "| `controller.resyncPeriod:` | `placement.resyncPeriod` |",
    "| `controller.workers:` | `placement.workers` |",
    "| `controller.namespaceSelector:` | `placement.namespaceSelector` |",
    "| `placement.nodeLabels:` | `placement.nodeClassifier` |",
    "| `nodeLabels:` | `placement.nodeClassifier` |",
    "| `dryRun:` | `controller.dryRun` |",
    `| \`--metrics-addr\` | \`--listen\`: ${
      settingOf(CONTROLLER_SETTINGS.shape.listen).aliasNote
    } |`,
    `| \`--health-probe-addr\` | \`--listen\`: ${
      settingOf(CONTROLLER_SETTINGS.shape.listen).aliasNote
    } |`,
    "| `metrics.port:` | `controller.listen` |",
  ]);
  assert.match(names, /^\| `--health-probe-addr` \| `--listen`: one address /m);
  const bare = settingsPage([{
    title: "Agent",
    schema: z.object({ configFile: AGENT_SETTINGS.shape.configFile }),
  }]);
  assert.ok(!bare.includes("\n## Names "));
});

pure("settingsPage() names the settings that the images' permissions fix", () => {
  const { agent, controller } = project.permissions;
  const { listen, cgroupRoot, kernelRoot } = described(AGENT_SETTINGS.shape);
  assert.deepEqual(agent.net, ["kubernetes.default.svc:443", `0.0.0.0${listen.default}`]);
  assert(agent.read.includes(cgroupRoot.default));
  assert(agent.read.includes(`${kernelRoot.default}/sched_ext/state`));
  assert(agent.read.includes("/etc/mbcas") && controller.read.includes("/etc/mbcas"));
  const fixed =
    /the agent's `listen`, `cgroupRoot`,\s`kernelRoot` and `--kubeconfig`, .*\s`\/etc\/mbcas`\./;
  assert.match(settingsPage([]), fixed);
  const { listen: probes, webhookListen, webhookFolder } = described(CONTROLLER_SETTINGS.shape);
  const [, paragraph = ""] = settingsPage([]).split("\nPermissions that ");
  for (const { key } of [probes, webhookListen, webhookFolder]) {
    assert.ok(paragraph.includes(`\`${key}\``), key);
  }
  // Certificates of files can be read in no other folder, such as that of Spotalis.
  const folders = ["/etc/mbcas", webhookFolder.default];
  assert.deepEqual(controller.read.filter((one) => one.startsWith("/etc/")), folders);
  for (const one of folders) assert.ok(paragraph.includes(`\`${one}\``), one);
});
