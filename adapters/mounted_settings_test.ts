import assert from "node:assert/strict";
import { readSettingsFile } from "./mounted_settings.ts";

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
