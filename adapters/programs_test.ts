import assert from "node:assert/strict";
import * as z from "zod";
import { numberKind } from "../shared/config/kinds.ts";
import { DRY_RUN_SETTING, PROGRAM_SETTINGS } from "../shared/config/schema.ts";
import { setting } from "../shared/config/setting.ts";
import { clockContract } from "../tests/contract/clock_and_cgroup_contracts.ts";
import { assertMatches } from "../tests/fixtures/assert_matches.ts";
import { pure, pureYAML } from "../tests/fixtures/pure.ts";
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

pure("createJSONLog() leaves out what is below its level", () => {
  assert.equal(lines({}).length, 3);
  assert.equal(lines({ level: "error" }).length, 1);
});

pure("createJSONLog() writes text for people", () => {
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
  for (
    const [args, env] of [
      [["--", "--config", "/etc/c.yaml", "--dry-run"], {}],
      [["--config=/etc/c.yaml"], { MBCAS_DRY_RUN: "on" }],
      [["--dry-run", "true"], { MBCAS_CONFIG: "/etc/c.yaml" }],
    ] as const
  ) {
    const result = read(args, env);
    assert.ok("settings" in result, JSON.stringify(result));
    assert.partialDeepStrictEqual(result.settings.values, { dryRun: true, workers: 3 });
  }
});

pureYAML("readProgramSettings() reports faults of all sources, one per line, with code 2", () => {
  const result = read(["--dry-rum", "--workers", "0", "--config", "/nowhere", "more"], {});
  assert.ok("exitCode" in result);
  assert.equal(result.exitCode, 2);
  assertMatches(result.text.trim().split("\n").sort(), [
    / controller: --config \/nowhere: no such/,
    / controller: argument "more" .* --help$/,
    / controller: flag --dry-rum .* --dry-run\?$/,
    / controller: flag --workers is "0", .* 1 to 64$/,
  ]);
});

pureYAML("readProgramSettings() shows each flag with default and variable on --help", () => {
  const result = read(["--help"]);
  assert.ok("exitCode" in result);
  assert.equal(result.exitCode, 0);
  assert.match(result.text, /--dry-run \[true\|false\][^-]*default: false, env: MBCAS_DRY_RUN/);
  assert.match(result.text, /--workers <value>/);
  const missing = read(["--workers"]);
  assert.ok("text" in missing);
  assert.match(missing.text, / controller: option '--workers <value>' /);
});

Deno.test({
  name: "programEnvironment() reads the settings' variables where it may not list them all",
  permissions: { env: ["MBCAS_CONFIG"] },
  fn() {
    const before = Deno.env.get("MBCAS_CONFIG");
    Deno.env.set("MBCAS_CONFIG", "/k");
    try {
      assert.deepEqual(programEnvironment(PROGRAM_SETTINGS), { MBCAS_CONFIG: "/k" });
    } finally {
      if (before === undefined) Deno.env.delete("MBCAS_CONFIG");
      else Deno.env.set("MBCAS_CONFIG", before);
    }
  },
});

Deno.test({
  name:
    "programEnvironment() sees variables of Spotalis, of which readProgramSettings() reports the names here",
  permissions: { env: [THEIRS] },
  fn() {
    Deno.env.set(THEIRS, "true");
    try {
      const env = programEnvironment(SCHEMA);
      assert.deepEqual(env, { [THEIRS]: "true" });
      const result = read([], { ...env });
      assert.ok("text" in result);
      assert.equal(result.exitCode, 2);
      assert.match(result.text, new RegExp(`env ${THEIRS} .* SPOTALIS_READ_ONLY_MODE\\?\n$`));
    } finally {
      Deno.env.delete(THEIRS);
    }
  },
});

/** Folders as the kubelet makes them for a ConfigMap, and one without. */
const MOUNTS = new URL("../tests/fixtures/settings-mount/", import.meta.url).pathname;

/** As the images have it: nothing but the folder. */
const only = (folder: string): Deno.PermissionOptions => ({ read: [`${MOUNTS}${folder}`] });

Deno.test({
  name: "readSettingsFile() takes the other keys of a mounted ConfigMap, and nothing mounted below",
  permissions: only("whole"),
  fn() {
    const path = `${MOUNTS}whole/config.yaml`;
    const { text, keys } = readSettingsFile(path);
    assert.equal(text, "market: off\n");
    assert.deepEqual([keys?.beside, keys?.place], ["config.yaml", `${MOUNTS}whole/`]);
    const found = Object.fromEntries(keys?.texts ?? []);
    assert.deepEqual(found, { dryRun: "true\n", metricProvider: "prometheus" });
  },
});

Deno.test({
  name: "readSettingsFile() needs no file where a mounted ConfigMap has keys",
  permissions: only("keys-alone"),
  fn() {
    const { text, keys } = readSettingsFile(`${MOUNTS}keys-alone/config.yaml`);
    assert.deepEqual([text, [...keys?.texts ?? []]], ["", [["dryRun", "true"]]]);
  },
});

Deno.test({
  name: "readSettingsFile() takes a file alone where nothing is mounted, whatever stands beside it",
  permissions: only("bare"),
  fn() {
    const path = `${MOUNTS}bare/config.yaml`;
    assert.deepEqual(readSettingsFile(path), { path, text: "market: off\n" });
    assert.throws(() => readSettingsFile(`${MOUNTS}bare/other.yaml`), Deno.errors.NotFound);
  },
});

Deno.test({
  name: "readSettingsFile() reads a file beside which it may read nothing",
  permissions: { read: [`${MOUNTS}whole/config.yaml`, `${MOUNTS}whole/..2026_08_12_10_00_00.1`] },
  fn() {
    const path = `${MOUNTS}whole/config.yaml`;
    assert.deepEqual(readSettingsFile(path), { path, text: "market: off\n" });
  },
});
