import fc from "fast-check";
import assert from "node:assert/strict";
import * as z from "zod";
import { AGENT_SETTINGS } from "../agent/settings.ts";
import { CONTROLLER_SETTINGS } from "../controller/settings.ts";
import project from "../deno.json" with { type: "json" };
import {
  type Setting,
  settingOf,
  type SettingSchema,
  settingsOf,
} from "../shared/config/setting.ts";
import { pure } from "../tests/fixtures/pure.ts";
import { type Built, compilePrograms } from "./build/compile_program.ts";
import { permissionFlags } from "./build/permission_flags.ts";
import { settingsPage } from "./configuration_page.ts";
import { devCommand, type DevInput, devPlan } from "./dev.ts";
import { castText, drawTerminal, framesOf, parseCast } from "./terminal_picture/draw.ts";
import { groupModule, projectPath, selectedTests, testGroups } from "./test/test_groups.ts";
import { parseTestOptions } from "./test/main.ts";

const FILES = [
  "agent/main.ts",
  "agent/main_test.ts",
  "shared/market/solver_test.ts",
  "shared/market_test.ts",
  "tests/browser/page_test.ts",
  "tests/cluster/harness/machine_test.ts",
  "tests/cluster/market_test.ts",
  "tests/long/stability_test.ts",
  "tests/prometheus/queries_test.ts",
  "tests/release/chart_test.ts",
];

pure("selectedTests() leaves out what needs a cluster, a browser, Prometheus or time", () => {
  const short = [
    "agent/main_test.ts",
    "shared/market/solver_test.ts",
    "shared/market_test.ts",
    "tests/cluster/harness/machine_test.ts",
  ];
  assert.deepEqual(selectedTests(FILES, { paths: [], long: false }), short);
  assert.deepEqual(
    selectedTests(FILES, { paths: [], long: true }),
    [...short, "tests/long/stability_test.ts"],
  );
});

pure("selectedTests() takes files and folders, and refuses a path without tests", () => {
  const at = (...paths: string[]): string[] => selectedTests(FILES, { paths, long: false });
  assert.deepEqual(at("shared/market"), ["shared/market/solver_test.ts"]);
  assert.deepEqual(at("tests/long", "agent/main_test.ts"), [
    "agent/main_test.ts",
    "tests/long/stability_test.ts",
  ]);
  assert.throws(() => at("agent", "tests/browser"), /RangeError.*tests\/browser/);
});

pure("testGroups() has each file once, the last ones first, in groups of about one size", () => {
  fc.assert(fc.property(fc.nat(300), fc.integer({ min: 1, max: 60 }), (count, size) => {
    const files = Array.from({ length: count }, (_, i) => `f${i}_test.ts`);
    const groups = testGroups(files, size);
    assert.deepEqual(groups.flat(), files.toReversed());
    const sizes = groups.map((group) => group.length);
    assert.ok(sizes.every((length) => length <= size && length >= Math.max(...sizes) - 1));
  }));
});

pure("projectPath() takes paths as people and shells write them", () => {
  const root = new URL("file:///work/p/");
  const paths = ["./a/b/", "a/b", "/work/p/a/b", "x/../a/b", "a\\b"];
  assert.deepEqual(paths.map((path) => projectPath(path, root)), paths.map(() => "a/b"));
  assert.deepEqual([".", "./", "/work/p"].map((path) => projectPath(path, root)), ["", "", ""]);
  assert.equal(projectPath("/elsewhere", root), "/elsewhere");
});

pure("groupModule() imports each file of the group, and a broken file fails alone", () => {
  const source = groupModule(["a_test.ts", "b/c_test.ts"], new URL("file:///p/"));
  assert.match(source, /^await import\("file:\/\/\/p\/a_test\.ts"\)\.catch\(.*"a_test\.ts"/m);
  assert.match(
    source,
    /^await import\("file:\/\/\/p\/b\/c_test\.ts"\)\.catch\(.*"b\/c_test\.ts"/m,
  );
});

pure("parseTestOptions() draws 100 cases, and thousands in the long tests", () => {
  assert.deepEqual(parseTestOptions([]), {
    kind: "run",
    options: { paths: [], long: false, cases: 100 },
  });
  assert.deepEqual(parseTestOptions(["--", "--long", "--seed", "-7", "shared"]), {
    kind: "run",
    options: { paths: ["shared"], long: true, cases: 2000, seed: -7 },
  });
});

pure("parseTestOptions() names the flag and the value that are wrong", () => {
  for (
    const [args, expected] of [
      [["--seed", "x"], /--seed.*'x'/],
      [["--cases=99"], /--cases.*'99'.* 100 /],
      [["--jobs", "1.5"], /--jobs.*'1\.5'/],
      [["--lang"], /--lang/],
    ] as const
  ) {
    const read = parseTestOptions(args);
    assert.ok(read.kind === "usage-error");
    assert.match(read.message, expected);
  }
});

const ALL = new Set(["docker", "kind", "kubectl"]);
const KUBECTL = new Set(["kubectl"]);
const GO = { installed: ALL, kindClusters: [], follow: true };

/** Inputs, and how each command of the plan begins, or what the problem names. */
const PLANS: readonly (readonly [DevInput, readonly string[] | RegExp])[] = [
  [GO, [
    "kind create cluster",
    "docker build --target agent --tag mbcas-agent:dev",
    "docker build --target controller",
    "kind load docker-image --name coallocator mbcas-agent:dev mbcas-controller:dev",
    "kubectl --context kind-coallocator apply -k manifests/overlays/kind",
    ...Array(4).fill("kubectl --context kind-coallocator --namespace mbcas-system "),
  ]],
  // The Kind cluster that KUBECONFIG names is taken; without --follow the rollout is the end.
  [{ ...GO, context: "kind-mine", kindClusters: ["mine"], follow: false }, [
    "docker build",
    "docker build",
    "kind load docker-image --name mine",
    "kubectl --context kind-mine apply",
    "kubectl --context kind-mine --namespace mbcas-system rollout restart",
    "kubectl --context kind-mine --namespace mbcas-system rollout status daemonset/mbcas-agent",
    "kubectl --context kind-mine --namespace mbcas-system rollout status deployment/mbcas-contro",
  ]],
  // The harness's node needs neither Docker nor Kind.
  [{ ...GO, installed: KUBECTL, harness: "coallocator", context: "default", follow: false }, [
    "deno task image:local --load",
    "kubectl apply -k manifests/overlays/kind",
    ...Array(3).fill("kubectl --namespace mbcas-system rollout "),
  ]],
  [{ ...GO, installed: KUBECTL }, /docker .*install .*; kind /],
  [{ ...GO, dockerRuns: false }, /daemon does not answer; start it/],
  [{ ...GO, context: "production" }, / production .*Kind/],
  [
    { ...GO, installed: KUBECTL, context: "staging", useInstalled: true },
    Array(2).fill("kubectl --context staging --namespace mbcas-system rollout status "),
  ],
];

pure("devPlan() goes from what is there to commands, or says what is missing", () => {
  for (const [found, expected] of PLANS) {
    const plan = devPlan(found);
    if (expected instanceof RegExp) {
      assert.match("problem" in plan ? plan.problem : "", expected);
      continue;
    }
    const steps = "steps" in plan ? plan.steps.map(({ command }) => command.join(" ")) : [];
    assert.deepEqual(steps.map((step, at) => step.slice(0, expected[at]?.length)), expected);
  }
});

pure("devCommand() refuses an option that it does not know, before anything is built", () => {
  const parsed = (...args: string[]) =>
    devCommand().exitOverride().configureOutput({ writeErr: () => {} })
      .parse(args, { from: "user" }).opts();
  assert.deepEqual(parsed(), { follow: true, useInstalled: false });
  assert.deepEqual(parsed("--no-follow", "--use-installed"), { follow: false, useInstalled: true });
  for (const odd of ["--nofollow", "again"]) assert.throws(() => parsed(odd), /error: /);
});

Deno.test("compilePrograms() ends with 0 for binaries alone, and says what it has built", async () => {
  const compiled = async (kind: Built["kind"] | Error, ...names: string[]) => {
    const lines: string[] = [];
    const code = await compilePrograms(names, {
      compile: () =>
        kind instanceof Error ? Promise.reject(kind) : Promise.resolve({ path: "LICENSE", kind }),
      out: (line) => void lines.push(line),
      err: (line) => void lines.push(line),
    });
    return [code, lines.join("\n")] as const;
  };
  const [code, text] = await compiled("binary");
  assert.equal(code, 0);
  assert.match(text, /^(binary LICENSE \d+\.\d kB\n?){3}$/);
  const [bundled, reason] = await compiled("bundle", "kubectl-coalloc");
  assert.equal(bundled, 1);
  assert.match(reason, /^bundle LICENSE .*\nCannot make binaries: /);
  assert.deepEqual(await compiled(new Error("no such module")), [1, "no such module"]);
  const [refused] = await compiled("binary", "agent");
  assert.equal(refused, 2);
});

pure("permissionFlags() allows what the set names and never asks", () => {
  assert.deepEqual(
    permissionFlags({ read: ["/a", "/b"], net: true, write: false, env: ["X"] }),
    ["--no-prompt", "--allow-read=/a,/b", "--allow-net", "--allow-env=X"],
  );
  assert.deepEqual(permissionFlags({}), ["--no-prompt"]);
});

pure("permissionFlags() refuses what would allow more or less than the set says", () => {
  const unclear = [{ read: [] }, { read: ["/a,/b"] }, { read: "/a" }, { all: true }, { net: [1] }];
  for (const set of unclear) {
    assert.throws(() => permissionFlags(set), {
      name: "SyntaxError",
      message: /: (read|all|net) is /,
    });
  }
});

const CLEAR = "\x1b[2J\x1b[H";
const CAST = {
  width: 30,
  height: 3,
  events: [
    { at: 0, text: `${CLEAR}\x1b[1mPOD   LIMIT\x1b[0m\r\n` },
    { at: 0.01, text: "a<b   \x1b[32m200m\x1b[0m" },
    { at: 1, text: `${CLEAR}\x1b[1mPOD   LIMIT\x1b[0m\r\na<b   \x1b[32m300m\x1b[0m` },
    { at: 2, text: "" },
    { at: 60, text: `${CLEAR}end` },
  ],
};

Deno.test("framesOf() keeps screens that differ, and shortens what does not move", async () => {
  const frames = await framesOf(CAST);
  assert.deepEqual(frames.map(({ at }) => at), [0.01, 1, 4.5]);
  assert.deepEqual(
    frames[0]?.rows.map((row) => row.replaceAll(/<tspan [^>]*>|<\/tspan>/g, "|")),
    ["|POD||LIMIT|", "|a&lt;b||200m|", ""],
  );
});

Deno.test("drawTerminal() has each line once, in looks of its own", async () => {
  const picture = await drawTerminal(CAST, { title: "a & b" });
  assert.equal(picture.match(/>POD</g)?.length, 1);
  assert.equal(picture.match(/<use /g)?.length, 5);
  assert.match(picture, /<tspan x="46.8" class="g">300m</);
  assert.match(picture, /<title>a &amp; b</);
});

Deno.test("drawTerminal() begins with a full screen, which is there without animations", async () => {
  const picture = await drawTerminal(CAST, { title: "a" });
  const [first = ""] = /<g id="f0">.*<\/g>/.exec(picture) ?? [];
  assert.equal(first.match(/<use /g)?.length, 2);
  assert.deepEqual(
    [0, 1, 2].map((index) => picture.includes(`#f${index}{visibility:hidden;`)),
    [false, true, true],
  );
  // Typing comes last: the recording's first screen has one line.
  const events = [
    { at: 0, text: "$ top" },
    ...CAST.events.map((one) => ({ ...one, at: one.at + 1 })),
  ];
  const typed = await drawTerminal({ ...CAST, events }, { title: "a" });
  const groups = [...typed.matchAll(/<g id="f\d">.*<\/g>/g)].map(([group]) => group);
  assert.deepEqual(groups.map((group) => group.match(/<use /g)?.length), [2, 2, 1, 1]);
});

Deno.test("parseCast() reads what castText() writes", () => {
  assert.deepEqual(parseCast(castText(CAST)), CAST);
});

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
    /for the agent `listen`, `cgroupRoot`,\s`kernelRoot` and `--kubeconfig`, .*\s`\/etc\/mbcas`\./;
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
