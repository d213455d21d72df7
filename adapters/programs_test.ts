import assert from "node:assert/strict";
import { dirname } from "node:path";
import * as z from "zod";
import { numberKind } from "../shared/config/kinds.ts";
import { DRY_RUN_SETTING, PROGRAM_SETTINGS } from "../shared/config/schema.ts";
import { setting } from "../shared/config/setting.ts";
import { cgroupTreeContract, clockContract } from "../tests/contract/clock_and_cgroup_contracts.ts";
import { pure, pureYAML } from "../tests/fixtures/pure.ts";
import { type CgroupTreeOptions, openCgroupTree } from "./cgroup_files.ts";
import { createJSONLog, type JSONLogOptions } from "./json_log.ts";
import {
  programEnvironment,
  type ProgramSettings,
  readProgramSettings,
  readSettingsFile,
} from "./program_settings.ts";
import { programSignals } from "./program_signals.ts";
import { systemClock } from "./system_clock.ts";

/**
 * Sends this process a SIGTERM and lets the event loop deliver it. (At a SIGINT the test runner
 * itself would end.)
 */
async function terminate(until: () => boolean): Promise<void> {
  await new Deno.Command("sh", { args: ["-c", `kill -TERM ${Deno.pid}`] }).output();
  while (!until()) await new Promise((resolve) => setTimeout(resolve, 1));
}

Deno.test("programSignals() aborts at the first signal and calls onDeadline at the second", async () => {
  let deadlines = 0;
  using signals = programSignals({ graceMs: 60_000, onDeadline: () => deadlines++ });
  assert.equal(signals.signal.aborted, false);
  await terminate(() => signals.signal.aborted);
  assert.equal(signals.signal.reason, "SIGTERM");
  assert.equal(deadlines, 0);
  await terminate(() => deadlines > 0);
  assert.equal(deadlines, 1);
});

Deno.test("programSignals() calls onDeadline when the grace is over", async () => {
  let over = false;
  using signals = programSignals({ graceMs: 1, onDeadline: () => over = true });
  await terminate(() => over);
  assert.equal(signals.signal.reason, "SIGTERM");
});

function lines(options: Partial<JSONLogOptions>): string[] {
  const written: string[] = [];
  const log = createJSONLog({
    write: (line) => void written.push(line),
    clock: { wall: () => Date.UTC(2026, 0, 2, 3, 4, 5, 678) },
    program: "controller",
    ...options,
  });
  log.debug("Looked");
  log.info("Changed {x}", { pod: "shop/web", count: 2, reason: undefined });
  log.warn("Lost");
  log.error("Broken", { error: "a\nb" });
  return written;
}

pure("createJSONLog() writes one JSON object a line, with the fields beside the message", () => {
  const written = lines({ level: "debug" });
  assert.equal(written.length, 4);
  for (const line of written) assert.match(line, /^\{[^\n]*\}\n$/);
  assert.deepEqual(JSON.parse(written[1] ?? ""), {
    "@timestamp": "2026-01-02T03:04:05.678Z",
    level: "INFO",
    message: "Changed {x}",
    logger: "controller",
    pod: "shop/web",
    count: 2,
  });
  assert.equal(JSON.parse(written[3] ?? "").error, "a\nb");
});

pure("createJSONLog() leaves out what is below its level, and writes text for people", () => {
  assert.equal(lines({}).length, 3);
  assert.equal(lines({ level: "error" }).length, 1);
  const [line = ""] = lines({ format: "text" });
  assert.match(line, /^03:04:05\.678 INF Changed \{x\} pod=shop\/web count=2\n$/);
});

pure("createJSONLog() writes a line of text for each message, whatever is in it", () => {
  let written = "";
  const log = createJSONLog({
    write: (line) => void (written += line),
    clock: { wall: () => 0 },
    program: "agent",
    format: "text",
  });
  log.info("Read\n00:00:00.000 INF Forged", { pod: "a\r\nForged\u2028Forged", "k\n": "\x1b[2J" });
  assert.match(written, /^00:00:00\.000 INF [^\n]*\n$/);
  assert.doesNotMatch(written.trimEnd(), /[\p{Cc}\p{Zl}\p{Zp}]/u);
});

clockContract("systemClock", () => ({ clock: systemClock, pass: (ms) => systemClock.sleep(ms) }));

pure("sleep() refuses NaN, and takes longer times than a timer can hold", async () => {
  assert.throws(() => systemClock.sleep(NaN), /ms is NaN/);
  const controller = new AbortController();
  let woke = false;
  const sleeping = systemClock.sleep(2 ** 40, controller.signal).then(() => woke = true);
  await systemClock.sleep(2);
  assert.equal(woke, false);
  controller.abort();
  await sleeping;
});

/** A variable that users of Spotalis may have set so that nothing changes. */
const THEIRS = "SPOTALIS_OPERATOR_READ_ONLY_MODE";

const SCHEMA = z.object({
  config: PROGRAM_SETTINGS.shape.configFile,
  dryRun: DRY_RUN_SETTING,
  workers: setting("controller.workers", {
    kind: numberKind({ min: 1, max: 64, whole: true }),
    default: "8",
    description: "Pods in work at the same time.",
  }),
});

const FILES: Readonly<Record<string, string>> = { "/etc/c.yaml": "controller: {workers: 3}" };

function read(
  args: readonly string[],
  env: Record<string, string> = {},
): ProgramSettings<typeof SCHEMA> {
  return readProgramSettings({ name: "controller", description: "Enforces.", schema: SCHEMA }, {
    args,
    env,
    readFile(path) {
      const text = FILES[path];
      if (text === undefined) throw new Deno.errors.NotFound("no such file");
      return { path, text };
    },
  });
}

pureYAML("readProgramSettings() reads flags, variables and the file that one of them names", () => {
  const rows = [
    [["--", "--config", "/etc/c.yaml", "--dry-run"], {}],
    [["--config=/etc/c.yaml"], { MBCAS_DRY_RUN: "on" }],
    [["--dry-run", "true"], { MBCAS_CONFIG: "/etc/c.yaml" }],
  ] as const;
  for (const [args, env] of rows) {
    const result = read(args, env);
    assert.ok("settings" in result, JSON.stringify(result));
    assert.partialDeepStrictEqual(result.settings.values, { dryRun: true, workers: 3 });
  }
});

pureYAML("readProgramSettings() reports faults of all sources, one per line, with code 2", () => {
  const result = read(["--dry-rum", "--workers", "0", "--config", "/nowhere", "more"], {});
  assert.ok("exitCode" in result);
  assert.deepEqual([result.exitCode, result.text.match(/^Cannot .*\n/gm)?.length], [2, 4]);
});

pureYAML("readProgramSettings() shows each flag with default and variable on --help", () => {
  const result = read(["--help"]);
  assert.ok("exitCode" in result);
  assert.equal(result.exitCode, 0);
  assert.match(result.text, /--dry-run \[true\|false\][^-]*default: false, env: MBCAS_DRY_RUN/);
  assert.match(result.text, /--workers <value>/);
});

/** Runs `check` with the variable set. */
function withVariable(name: string, value: string, check: () => void): void {
  const before = Deno.env.get(name);
  Deno.env.set(name, value);
  try {
    check();
  } finally {
    if (before === undefined) Deno.env.delete(name);
    else Deno.env.set(name, before);
  }
}

Deno.test({
  name: "programEnvironment() reads the settings' variables where it may not list them all",
  permissions: { env: ["MBCAS_CONFIG"] },
  fn: () =>
    withVariable("MBCAS_CONFIG", "/k", () => {
      assert.deepEqual(programEnvironment(PROGRAM_SETTINGS), { MBCAS_CONFIG: "/k" });
    }),
});

Deno.test({
  name:
    "programEnvironment() sees variables of Spotalis, of which readProgramSettings() reports the names here",
  permissions: { env: [THEIRS] },
  fn: () =>
    withVariable(THEIRS, "true", () => {
      const env = programEnvironment(SCHEMA);
      assert.deepEqual(env, { [THEIRS]: "true" });
      const result = read([], { ...env });
      assert.ok("text" in result);
      assert.equal(result.exitCode, 2);
      assert.match(result.text, new RegExp(`env ${THEIRS} .* SPOTALIS_READ_ONLY_MODE\\?\n$`));
    }),
});

/** Folders as the kubelet makes them for a ConfigMap, and one without. */
const MOUNTS = new URL("../tests/fixtures/settings-mount/", import.meta.url).pathname;

/** Readable paths as the images have them, the file, and what is read; keys are those beside it. */
const MOUNTED: readonly (readonly [
  what: string,
  readable: readonly string[],
  file: string,
  text: string,
  keys?: Readonly<Record<string, string>>,
])[] = [
  [
    "takes the other keys of a mounted ConfigMap, and nothing mounted below",
    ["whole"],
    "whole/config.yaml",
    "market: off\n",
    { dryRun: "true\n", metricProvider: "prometheus" },
  ],
  [
    "needs no file where a mounted ConfigMap has keys",
    ["keys-alone"],
    "keys-alone/config.yaml",
    "",
    { dryRun: "true" },
  ],
  ["takes a file alone where nothing is mounted", ["bare"], "bare/config.yaml", "market: off\n"],
  [
    "reads a file beside which it may read nothing",
    ["whole/config.yaml", "whole/..2026_08_12_10_00_00.1"],
    "whole/config.yaml",
    "market: off\n",
  ],
];

for (const [what, readable, file, text, expected] of MOUNTED) {
  Deno.test({
    name: `readSettingsFile() ${what}`,
    permissions: { read: readable.map((path) => MOUNTS + path) },
    fn() {
      const path = MOUNTS + file;
      const { keys, ...read } = readSettingsFile(path);
      assert.deepEqual(read, { path, text });
      assert.deepEqual(keys && Object.fromEntries(keys.texts), expected);
      if (keys === undefined) return;
      assert.deepEqual([keys.beside, keys.place], ["config.yaml", path.replace(/[^/]*$/, "")]);
    },
  });
}

Deno.test("readSettingsFile() finds no file that is not there", () => {
  assert.throws(() => readSettingsFile(`${MOUNTS}bare/other.yaml`), Deno.errors.NotFound);
});

function folder(options: CgroupTreeOptions = {}) {
  const root = Deno.makeTempDirSync({ prefix: "cgroup-files-" });
  const tree = openCgroupTree(root, options);
  return {
    tree,
    write(file: string, text: string) {
      Deno.mkdirSync(dirname(`${root}/${file}`), { recursive: true });
      Deno.writeTextFileSync(`${root}/${file}`, text);
    },
    remove: (directory: string) => Deno.removeSync(`${root}/${directory}`, { recursive: true }),
    [Symbol.dispose]() {
      tree[Symbol.dispose]();
      Deno.removeSync(root, { recursive: true });
    },
  };
}

cgroupTreeContract("openCgroupTree()", folder);
// The smallest limit takes the path that closes a file at each read.
cgroupTreeContract("openCgroupTree() with one open file", () => folder({ maxOpenFiles: 1 }));

Deno.test("openCgroupTree() refuses paths that leave the root", () => {
  using subject = folder();
  for (const path of ["../secret", "a/../../secret", "/etc/passwd", "a/..", "a\0b"]) {
    assert.throws(() => subject.tree.read(path), { name: "RangeError", message: /leaves/ });
    assert.throws(() => subject.tree.children(path), { name: "RangeError", message: /leaves/ });
  }
});

Deno.test("read() refuses a file that is longer than any of the kernel's", () => {
  using subject = folder();
  subject.write("a/long", "x".repeat(16 * 1024));
  assert.throws(() => subject.tree.read("a/long"), { name: "RangeError", message: /a\/long/ });
  subject.write("a/longest", "x".repeat(16 * 1024 - 1));
  assert.equal(subject.tree.read("a/longest")?.length, 16 * 1024 - 1);
});

Deno.test({
  name: "read() and children() name the missing permission",
  permissions: { read: false },
  fn() {
    using tree = openCgroupTree("/host/cgroup");
    const expected = {
      name: "NotCapable",
      message: /read access to.*\/sys\/fs\/cgroup .*\/host\/cgroup$/s,
    };
    assert.throws(() => tree.read("cpu.stat"), expected);
    assert.throws(() => tree.children(""), expected);
  },
});

Deno.test("release() closes what is open below a directory, and nothing beside it", () => {
  using subject = folder();
  for (const file of ["a/one", "a/b/two", "ab/three"]) {
    subject.write(file, file);
    subject.tree.read(file);
  }
  // A removed file can be read on for as long as it is held open: that is how it shows.
  subject.remove("a");
  subject.remove("ab");
  subject.tree.release("a");
  assert.equal(subject.tree.read("a/one"), undefined);
  assert.equal(subject.tree.read("a/b/two"), undefined);
  assert.equal(subject.tree.read("ab/three"), "ab/three");
});
