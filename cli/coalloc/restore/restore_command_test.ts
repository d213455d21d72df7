import assert from "node:assert/strict";
import { ApiError } from "../../../shared/api/api_error.ts";
import { MANAGED } from "../../../shared/api/market_keys.ts";
import { settleVirtually } from "../../../tests/contract/support/settle_virtually.ts";
import {
  addMarketPod,
  type CoallocScene,
  sceneTest,
} from "../../../tests/fixtures/cli/coalloc_scene.ts";
import { marketSettings } from "../market_settings.ts";
import { runCoalloc } from "../run_coalloc.ts";
import { awaitRelease } from "./release.ts";
import { switchOff } from "./switch_off.ts";

const CHANGED = { limit: 450, own: 200 };

function pod(scene: CoallocScene, key: string) {
  const found = scene.api.store.tables.Pod.get(key);
  assert.ok(found !== undefined);
  return found;
}

function limits(scene: CoallocScene, key: string) {
  const [app] = pod(scene, key).containers;
  return [app?.limits.cpu, app?.applied.limits.cpu, app?.limitManagers];
}

const OWN = [200, 200, ["mbcas-restore"]];

sceneTest("restoreCommand() opts one pod out, and notes when that ends", async (scene) => {
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-5", uid: "rs-1" };
  addMarketPod(scene, "web", { ...CHANGED, metadata: { owner } });
  addMarketPod(scene, "bare", CHANGED);
  const [, json, note] = await scene.ran("restore web -o json");
  assert.deepEqual(JSON.parse(json).notes.map((note: string) => `${note}.\n`), [note]);
  assert.deepEqual(limits(scene, "shop/web"), OWN);
  const [code, out, err] = await scene.ran("restore bare");
  assert.deepEqual([code, err], [0, ""]);
  assert.match(out, /^Restored +shop\/bare +app 450m → 200m \(0\.\d s\)\n1 of 1 .*\n$/);
  assert.deepEqual(limits(scene, "shop/bare"), OWN);
  assert.equal(pod(scene, "shop/bare").metadata.annotations[MANAGED], "false");
  // A pod that is opted out already may be so by its template.
  const [again, text, none] = await scene.ran("restore shop/web");
  assert.deepEqual([again, none], [0, ""]);
  assert.match(text, /^Restored +shop\/web +the [^→]*\n/);
});

sceneTest("restoreCommand() restores a namespace, and leaves others alone", async (scene) => {
  addMarketPod(scene, "a", CHANGED);
  addMarketPod(scene, "b", { ...CHANGED, metadata: { labels: { [MANAGED]: "true" } } });
  addMarketPod(scene, "idle", { limit: 200, own: 200, recorded: false });
  addMarketPod(scene, "far", { limit: 300, own: 200, namespace: "other" });
  const { Namespace: namespaces } = scene.api.store.tables;
  assert.equal(await scene.run("restore", "-n", "shop", "--yes"), 0);
  assert.deepEqual(limits(scene, "shop/a"), OWN);
  assert.deepEqual(limits(scene, "shop/b"), OWN);
  assert.equal(limits(scene, "other/far")[0], 300);
  assert.equal(namespaces.get("shop")?.metadata.annotations[MANAGED], "false");
  // The pod's annotation would have taken precedence over the namespace's.
  assert.equal(pod(scene, "shop/b").metadata.annotations[MANAGED], "false");
  assert.equal(pod(scene, "shop/a").metadata.annotations[MANAGED], undefined);
  assert.match(scene.out, /^2 of 2 .*, 1 .*\.\n$/m);
});

sceneTest("switchOff() writes to no namespace that is off already", async (scene) => {
  const { reader, switches } = scene.cluster;
  let writes = 0;
  const optOutNamespace = (name: string) => {
    writes++;
    return switches.optOutNamespace(name);
  };
  const parts = { reader, switches: { ...switches, optOutNamespace }, pods: [] };
  addMarketPod(scene, "web", CHANGED);
  for (let time = 0; time < 2; time++) {
    await switchOff({ kind: "namespace", namespace: "shop" }, parts);
    assert.equal(writes, 1);
  }
  // One that is not there is for the server to refuse.
  await assert.rejects(switchOff({ kind: "namespace", namespace: "gone" }, parts));
  assert.equal(writes, 2);
});

sceneTest("restoreCommand() switches the market off for --all", async (scene) => {
  addMarketPod(scene, "a", CHANGED);
  addMarketPod(scene, "far", { limit: 300, own: 200, namespace: "other" });
  scene.settings = "# ours\nmarket:\n  burstFactor: 2\n";
  assert.equal(await scene.run("restore", "--all", "-y", "-o", "json"), 0);
  assert.match(scene.settings, /# ours\n/);
  assert.match(scene.settings, /enabled: false/);
  const { results } = JSON.parse(scene.out);
  assert.deepEqual(
    results.map(({ pod, outcome }: { pod: string; outcome: string }) => [pod, outcome]),
    [["a", "Restored"], ["far", "Restored"]],
  );
  assert.deepEqual(limits(scene, "other/far"), OWN);
});

sceneTest("restoreCommand() names what keeps the market on despite the settings", async (scene) => {
  addMarketPod(scene, "web", CHANGED);
  scene.controllerAlive = true;
  const rows = [
    [{}, ["--log-level", "debug", "--market=on"], "flag --market is on", true],
    [{ MBCAS_MARKET: "true" }, [], "env MBCAS_MARKET is true", true],
    [{ MBCAS_MARKET: "off" }, [], "MBCAS_MARKET", false],
  ] as const;
  for (const [variables, args, cause, overridden] of rows) {
    scene.settings = "";
    Object.assign(scene.placement, { variables, args });
    const [code, out] = await scene.ran("restore --all --yes --timeout 2s");
    assert.equal(code, 1);
    const blocked = /^RestoreBlocked .*/m.exec(out)?.[0];
    assert.equal(blocked?.includes(cause), overridden);
    assert.equal(scene.err.includes(cause), overridden);
  }
  // The Deployment may be hidden from the user.
  scene.placement.hidden.add("controllerCommand");
  assert.equal(await scene.run("restore", "--all", "--yes", "--timeout", "2s"), 1);
});

sceneTest("restoreCommand() switches the market off in faulty settings", async (scene) => {
  addMarketPod(scene, "web", CHANGED);
  for (const text of ["markets: {}\n", "market: on\nlog: {level: loud}", "log: [", "- market"]) {
    scene.settings = text;
    assert.equal(await scene.run("restore", "--all", "--yes"), 0, scene.err);
    assert.equal(marketSettings(scene.settings).market, false);
  }
  scene.settings = "market: on\nlog: [";
  assert.equal(await scene.run("restore", "--all", "--yes"), 1);
  assert.match(scene.err, / market\.enabled: .*configmap mbcas-config /);
  assert.equal(scene.settings, "market: on\nlog: [");
});

sceneTest("restoreCommand() names a refusal and goes on with the others", async (scene) => {
  for (const name of ["a", "b", "c"]) addMarketPod(scene, name, { limit: 100, own: 200 });
  scene.api.store.tables.LimitRange.seed({
    metadata: { name: "small", namespace: "shop", uid: "", resourceVersion: "" },
    items: [{ type: "Container", max: 150 }],
  });
  addMarketPod(scene, "far", { limit: 300, own: 200, namespace: "other" });
  scene.settings = "";
  assert.equal(await scene.run("restore", "--all", "--yes"), 1);
  assert.equal(scene.out.match(/^RestoreBlocked +shop\//gm)?.length, 3);
  assert.match(scene.out, /maximum cpu usage/);
  assert.match(scene.out, /^1 of 4 .*; 3 .*\(RestoreBlocked\): /m);
  assert.equal(limits(scene, "other/far")[0], 200);
});

sceneTest("restoreCommand() sends nothing that adds a LimitRange's defaults", async (scene) => {
  addMarketPod(scene, "web", CHANGED);
  const { LimitRange: ranges } = scene.api.store.tables;
  ranges.seed({
    metadata: { name: "late", namespace: "shop", uid: "", resourceVersion: "" },
    items: [{ type: "Container", defaults: { "limits.memory": "1Gi" } }],
  });
  assert.equal(await scene.run("restore", "web", "-n", "shop", "--yes"), 1);
  assert.match(scene.out, /^RestoreBlocked +shop\/web +.*\bapp \(limits\.memory\)/m);
  assert.equal(limits(scene, "shop/web")[0], 450);
  ranges.remove("shop/late");
  assert.equal(await scene.run("restore", "web", "-n", "shop", "--yes"), 0);
  assert.equal(limits(scene, "shop/web")[0], 200);
});

sceneTest("restoreCommand() ends with the kubelet's condition if it refuses", async (scene) => {
  addMarketPod(scene, "web", CHANGED);
  scene.kubelet.refuseResizes("shop/web", {
    type: "PodResizePending",
    reason: "Deferred",
    message: "no room",
  });
  assert.equal(await scene.run("restore", "web", "--timeout", "3s"), 1);
  assert.match(scene.out, /^ResizeDeferred +shop\/web +no room \(after 3 s\)\n/);
  // Rerun after the cause is gone: nothing was lost.
  scene.kubelet.refuseResizes("shop/web");
  scene.out = "";
  assert.equal(await scene.run("restore", "web"), 0);
  assert.deepEqual(limits(scene, "shop/web"), OWN);
});

sceneTest("restoreCommand() takes lost records from templates", async (scene) => {
  const lost = { ...CHANGED, recorded: false };
  addMarketPod(scene, "owned", lost);
  addMarketPod(scene, "db", { ...lost, guaranteed: true });
  addMarketPod(scene, "bare", lost);
  for (const name of ["owned", "db"]) scene.templates.set(name, new Map([["app", 200]]));
  assert.equal(await scene.run("restore", "-n", "shop", "--dry-run"), 1);
  assert.equal(await scene.run("restore", "-n", "shop", "--yes"), 1);
  for (const name of ["owned", "db"]) assert.deepEqual(limits(scene, `shop/${name}`), OWN);
  assert.equal(pod(scene, "shop/db").containers[0]?.requests.cpu, 200);
  assert.equal(limits(scene, "shop/bare")[0], 450);
  scene.installed = false;
  addMarketPod(scene, "recorded", CHANGED);
  scene.templates.set("recorded", new Map([["app", 200]]));
  assert.equal(await scene.run("restore", "recorded"), 0);
  assert.deepEqual(limits(scene, "shop/recorded"), OWN);
});

sceneTest("restoreCommand() restores a bare pod without a record by itself", async (scene) => {
  const container = { limitManagers: ["mbcas/200m"] };
  addMarketPod(scene, "bare", { ...CHANGED, recorded: false, container });
  scene.installed = false;
  assert.equal(await scene.run("restore", "--all", "--yes"), 0);
  assert.deepEqual(limits(scene, "shop/bare"), OWN);
});

sceneTest("restoreCommand() overwrites no limit that is newer than the record", async (scene) => {
  const limits700 = { limits: { cpu: 700 } };
  const container = {
    ...limits700,
    applied: { requests: {}, ...limits700 },
    limitManagers: ["kubectl-patch"],
  };
  addMarketPod(scene, "web", { ...CHANGED, container });
  assert.equal(await scene.run("restore", "web"), 0);
  assert.deepEqual(limits(scene, "shop/web"), [700, 700, ["kubectl-patch"]]);
});

sceneTest("restoreCommand() restores where the user can't see the controller", async (scene) => {
  addMarketPod(scene, "web", CHANGED);
  scene.controllerAlive = new ApiError(403, "Forbidden", "leases is forbidden");
  scene.settings = "";
  assert.match((await scene.ran("restore --all --yes"))[2], /kubectl get podallocations -A /);
  assert.deepEqual(limits(scene, "shop/web"), OWN);
  // The command does not wait for a pod that needs no restore.
  addMarketPod(scene, "idle", { limit: 200, own: 200, recorded: false });
  assert.equal((await scene.ran("restore idle"))[2], "");
  scene.controllerAlive = new Error("a fault");
  await assert.rejects(scene.run("restore", "web"), /a fault/);
});

sceneTest("awaitRelease() looks each second, at its timeout and when stopped", async (scene) => {
  const { clock, cluster: { reader } } = scene;
  addMarketPod(scene, "web", CHANGED);
  const restored = { namespace: "shop", pod: "web", message: "", steps: [], tookMs: 0 };
  const rows = [
    { releasedMs: 700, timeoutMs: 5000, expected: ["Restored", 1000] },
    { releasedMs: 1700, timeoutMs: 1500, expected: ["RestoreBlocked", 1500] },
    { releasedMs: Infinity, timeoutMs: 5000, stoppedMs: 300, expected: ["RestoreBlocked", 300] },
  ];
  for (const { releasedMs, timeoutMs, stoppedMs = Infinity, expected } of rows) {
    const beganMs = clock.monotonic();
    const ending = new AbortController();
    clock.at(beganMs + stoppedMs, () => ending.abort());
    let lookedMs = NaN;
    const allocations = async () => {
      lookedMs = clock.monotonic() - beganMs;
      return lookedMs < releasedMs ? await reader.allocations() : [];
    };
    const controllerIsAlive = () => Promise.resolve(true);
    const release = awaitRelease([{ ...restored, outcome: "Restored" }], {
      ...{ reader: { ...reader, allocations, controllerIsAlive }, clock, timeoutMs },
      signal: ending.signal,
    });
    const { results } = await settleVirtually(clock, release);
    assert.deepEqual([results[0]?.outcome, lookedMs], expected);
  }
});

sceneTest("restoreCommand() has a summary also when the wait is interrupted", async (scene) => {
  addMarketPod(scene, "web", CHANGED);
  const ending = new AbortController();
  scene.cluster.reader.controllerIsAlive = () => {
    ending.abort();
    return Promise.reject(new ApiError(0, "Aborted", "aborted"));
  };
  const world = { ...scene.world, signal: ending.signal };
  assert.equal(await settleVirtually(scene.clock, runCoalloc(["restore", "web"], world)), 0);
  assert.match(scene.out, /^1 of 1 .*\.\n$/m);
  assert.match(scene.err, /^Cannot see .*: stopped .*; kubectl get /);
});

sceneTest("restoreCommand() plans without the settings where they can't be read", async (scene) => {
  addMarketPod(scene, "bare", { ...CHANGED, recorded: false });
  const answer = new ApiError(403, "Forbidden", "configmaps is forbidden");
  scene.cluster.reader.settingsText = () => Promise.reject(answer);
  const [code, out, err] = await scene.ran("restore --all --dry-run");
  assert.deepEqual([code, err], [1, ""]);
  assert.match(out, / market\.enabled: false [^]*shop\/bare {2}OriginalUnknown/);
});

sceneTest("restoreCommand() restores all pods also when its output is closed", async (scene) => {
  // More than are restored at the same time.
  const names = Array.from({ length: 20 }, (_, index) => `web-${index}`);
  for (const name of names) addMarketPod(scene, name, CHANGED);
  const out = (): void => {
    throw new Deno.errors.BrokenPipe("Broken pipe (os error 32)");
  };
  const args = ["restore", "-n", "shop", "--yes"];
  const ended = runCoalloc(args, { ...scene.world, out });
  assert.equal(await settleVirtually(scene.clock, ended), 141);
  for (const name of names) assert.deepEqual(limits(scene, `shop/${name}`), OWN);
});

sceneTest("restoreCommand() changes nothing on a dry run or without consent", async (scene) => {
  addMarketPod(scene, "web", CHANGED);
  assert.equal(await scene.run("restore", "-n", "shop", "--dry-run"), 0);
  assert.equal(await scene.run("restore", "-n", "shop"), 1);
  scene.answer = false;
  assert.equal(await scene.run("restore", "-n", "shop"), 1);
  assert.equal(limits(scene, "shop/web")[0], 450);
  const namespace = scene.api.store.tables.Namespace.get("shop");
  assert.equal(namespace?.metadata.annotations[MANAGED], undefined);
});
