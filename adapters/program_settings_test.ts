import { pureYAML } from "../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import * as z from "zod";
import { assertMatches } from "../tests/fixtures/assert_matches.ts";
import { numberKind } from "../shared/config/kinds.ts";
import { DRY_RUN_SETTING, PROGRAM_SETTINGS } from "../shared/config/schema.ts";
import { setting } from "../shared/config/setting.ts";
import {
  programEnvironment,
  type ProgramSettings,
  readProgramSettings,
  readSettingsFile,
} from "./program_settings.ts";

/** What a user of Spotalis may have set so that nothing changes. */
const THEIRS = "SPOTALIS_OPERATOR_READ_ONLY_MODE";

const SCHEMA = z.object({
  config: PROGRAM_SETTINGS.shape.configFile,
  dryRun: DRY_RUN_SETTING,
  workers: setting("controller.workers", {
    kind: numberKind({ least: 1, most: 64, whole: true }),
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

pureYAML(
  "readProgramSettings() reports all faults of all sources, one per line, with exit code 2",
  () => {
    const result = read(["--dry-rum", "--workers", "0", "--config", "/nowhere", "more"], {});
    assert.ok("exitCode" in result);
    assert.equal(result.exitCode, 2);
    assertMatches(result.text.trim().split("\n").sort(), [
      / controller: --config \/nowhere: no such/,
      / controller: argument "more" .* --help$/,
      / controller: flag --dry-rum .* --dry-run\?$/,
      / controller: flag --workers is "0", .* 1 to 64$/,
    ]);
  },
);

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
