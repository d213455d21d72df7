import fc from "fast-check";
import assert from "node:assert/strict";
import * as z from "zod";
import { AGENT_SETTINGS } from "../agent/settings.ts";
import { CONTROLLER_SETTINGS } from "../controller/settings.ts";
import project from "../deno.json" with { type: "json" };
import { type Setting, settingOf, type SettingSchema } from "../shared/config/setting.ts";
import { pure } from "../tests/fixtures/pure.ts";
import { type Built, compilePrograms } from "./build/compile_program.ts";
import { permissionFlags } from "./build/permission_flags.ts";
import { settingsPage } from "./configuration_page.ts";
import { devCommand, type DevInput, devPlan } from "./dev.ts";
import { castText, drawTerminal, framesOf, parseCast } from "./terminal_picture/draw.ts";
import { projectPath, selectedTests, testGroups } from "./test/test_groups.ts";
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
  [{ ...GO, dockerRuns: false }, /\bdaemon\b/],
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

/** Lines of each screen of a picture. */
function usesOf(picture: string): readonly (number | undefined)[] {
  const groups = [...picture.matchAll(/<g id="f\d">.*<\/g>/g)];
  return groups.map(([group]) => group.match(/<use /g)?.length);
}

Deno.test("drawTerminal() has each line once, and begins with a full screen, also without animations", async () => {
  const picture = await drawTerminal(CAST, { title: "a & b" });
  assert.equal(picture.match(/>POD</g)?.length, 1);
  assert.match(picture, /<tspan x="46.8" class="g">300m</);
  assert.match(picture, /<title>a &amp; b<.*>a&lt;b</s);
  // Screens that do not move are shortened.
  assert.deepEqual((await framesOf(CAST)).map(({ at }) => at), [0.01, 1, 4.5]);
  assert.deepEqual(usesOf(picture), [2, 2, 1]);
  assert.deepEqual(
    [0, 1, 2].map((index) => picture.includes(`#f${index}{visibility:hidden;`)),
    [false, true, true],
  );
  // Typing comes last: the recording's first screen has one line.
  const typed = CAST.events.map((one) => ({ ...one, at: one.at + 1 }));
  const events = [{ at: 0, text: "$ top" }, ...typed];
  assert.deepEqual(usesOf(await drawTerminal({ ...CAST, events }, { title: "a" })), [2, 2, 1, 1]);
  assert.deepEqual(parseCast(castText(CAST)), CAST);
});

function described<T extends Readonly<Record<string, SettingSchema<unknown>>>>(
  shape: T,
): { readonly [K in keyof T]: Setting } {
  const entries = Object.entries(shape).map(([name, schema]) => [name, settingOf(schema)]);
  return Object.fromEntries(entries);
}

Deno.test("docs/configuration.md is settingsPage() of both programs", async () => {
  const programs = [
    { title: "Controller: mbcas-controller", schema: CONTROLLER_SETTINGS },
    { title: "Agent: mbcas-agent", schema: AGENT_SETTINGS },
  ];
  assert.equal(settingsPage(programs), await Deno.readTextFile("docs/configuration.md"));
  const bare = z.object({ configFile: AGENT_SETTINGS.shape.configFile });
  assert.ok(!settingsPage([{ title: "Agent", schema: bare }]).includes("\n## Names "));
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
