/** The permission sets of `deno.json`, the settings and the Dockerfile agree. */
import assert from "node:assert/strict";
import { AGENT_SETTINGS } from "../../agent/settings.ts";
import { CONTROLLER_SETTINGS } from "../../controller/settings.ts";
import { settingsOf } from "../../shared/config/setting.ts";
import { SPOTALIS_VARIABLES } from "../../shared/config/aliases.ts";
import { compileArguments, PROGRAM_ENVIRONMENT, PROGRAMS } from "../../tools/build/programs.ts";

const root = new URL("../../", import.meta.url);
const { permissions } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));

for (
  const [name, schema] of [["agent", AGENT_SETTINGS], ["controller", CONTROLLER_SETTINGS]] as const
) {
  Deno.test(`the permission set ${name} has the variable of each setting`, () => {
    for (const { key, env } of settingsOf(schema)) {
      if (env !== undefined) assert.ok(permissions[name].env.includes(env), `${key}: ${env}`);
    }
  });
}

Deno.test("the permission set controller sees the variables that Spotalis had by other names", () => {
  const ours = settingsOf(CONTROLLER_SETTINGS).flatMap(({ env }) => env ?? []);
  for (const [name, here] of SPOTALIS_VARIABLES) {
    assert.ok(permissions.controller.env.includes(name), name);
    assert.ok(!ours.includes(name) && (here === "" || ours.includes(here)), `${name}: ${here}`);
  }
});

Deno.test("the programs in the cluster may run, load and write nothing", () => {
  for (const { permissions: name } of PROGRAMS.filter(({ image }) => image)) {
    const kinds = Object.keys(permissions[name]).sort();
    assert.deepEqual(kinds, ["env", "net", "read"], name);
  }
});

Deno.test("the permission set agent names one host, one port to listen on, one file and three folders", () => {
  assert.deepEqual(permissions.agent.net, ["kubernetes.default.svc:443", "0.0.0.0:8081"]);
  assert.deepEqual(permissions.agent.read, [
    "/host/cgroup",
    "/host/kernel/sched_ext/state",
    "/etc/mbcas",
    "/var/run/secrets/kubernetes.io/serviceaccount",
  ]);
});

Deno.test("Dockerfile sets PROGRAM_ENVIRONMENT for each program", async () => {
  const dockerfile = await Deno.readTextFile(new URL("Dockerfile", root));
  const images = dockerfile.split(/^FROM /m).filter((stage) => stage.includes("ENTRYPOINT"));
  assert.equal(images.length, PROGRAMS.filter(({ image }) => image).length);
  for (const stage of images) {
    for (const [name, value] of Object.entries(PROGRAM_ENVIRONMENT)) {
      assert.ok(stage.includes(`\nENV ${name}=${value}\n`), `${name} is not in: ${stage}`);
    }
  }
});

Deno.test("Dockerfile compiles with the flags of compileArguments()", async () => {
  const dockerfile = await Deno.readTextFile(new URL("Dockerfile", root));
  for (const program of PROGRAMS.filter(({ image }) => image)) {
    for (const argument of compileArguments(program, "unused")) {
      if (/^(--quiet|-P=|--output=)/.test(argument) || argument === program.entry) continue;
      assert.ok(dockerfile.includes(argument), `${argument} is not in the Dockerfile`);
    }
    assert.match(dockerfile, new RegExp(`ENTRYPOINT \\["/${program.name}"\\]`));
  }
  assert.match(dockerfile, /deno:debian-2\.9\.6/);
});
