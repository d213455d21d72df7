import assert from "node:assert/strict";
import project from "../../deno.json" with { type: "json" };
import { ApiError } from "../../shared/api/api_error.ts";
import { MANAGED } from "../../shared/api/market_keys.ts";
import { VERSION } from "../../shared/version.ts";
import { reportsOf, shopRecords, shopTest } from "../../tests/fixtures/cli/advised_shop.ts";
import {
  addMarketPod,
  type CoallocScene,
  sceneTest,
} from "../../tests/fixtures/cli/coalloc_scene.ts";
import { sampleNodeView, samplePodView } from "../../tests/fixtures/cli/node_views.ts";
import {
  addShopWorkload,
  placedScene,
  placedTest,
} from "../../tests/fixtures/placement/placed_shop.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { COMPLETION_SCRIPTS } from "./completion/completion_script.ts";
import { podArgument } from "./formats.ts";
import { runCoalloc } from "./run_coalloc.ts";

const COMMANDS = [
  ...["top", "explain", "restore", "resize", "recommend", "placement", "report"],
  ...["simulate", "version", "completion"],
];

sceneTest("runCoalloc() answers --help of every command with examples, and 0", async (scene) => {
  assert.equal(await scene.run(), 0);
  for (const command of COMMANDS) assert.match(scene.out, new RegExp(`^  ${command} `, "m"));
  for (const command of COMMANDS) {
    const [code, out] = await scene.ran(`${command} --help`);
    assert.equal(code, 0);
    assert.match(out, new RegExp(`^Usage: kubectl-coalloc ${command}`));
    if (command !== "version") assert.match(out, /^Examples:$/m, command);
  }
});

const WRONG_LINES = [
  ...["tap", "-o xml top", "--sot top", "-n shop", "-n top"],
  ...["top --sot x", "top --sort up", "top -o xml", "top -o patch"],
  ...["top --watch=soon", "top -w web-0", "top -n -A", "top -w -o csv"],
  ...["explain", "explain a/b/c", "explain web -l app=web"],
  ...["recommend pod/web", "recommend a/b/c", "recommend -o html"],
  ...["recommend --policy a/b/c", "recommend --policy /a"],
  ...["placement ", "placement pod/web", "placement a/b/c", "placement ds/log"],
  ...["placement -o patch", "placement -w web"],
  ...["report --core-hour free", "report --gib-hour -1", "report --core-hour 1"],
  ...["report --gib-hour 1", "report --since 5m", "report --compare-to monday"],
  ...["report --prometheus p:9090", "report --prometheus-matchers a"],
  ...["restore", "restore web --all", "restore a/b/c", "restore --all -n shop"],
  ...["resize web", "resize a/b/c --cpu-limit 1", "resize web --cpu-limit=much"],
  ...["resize web --cpu-limit=0", "resize web --cpu-limit=-1", "resize web --cpu-limit==5m"],
  "resize web --cpu-limit 1 --cpu-limit 2",
  "resize web --cpu-limit 1 --cpu-limit app=2",
  "resize web --cpu-limit app=1 --cpu-limit 2",
  "resize web --cpu-limit app=1 --cpu-limit app=2",
  ...["completion tcsh", "version now", "simulate --trace f --seeds 0"],
];

sceneTest("runCoalloc() ends with 2 for a wrong line, before it connects", async (scene) => {
  const world = { ...scene.world, connect: () => Promise.reject(new Error("not asked for")) };
  for (const line of WRONG_LINES) {
    scene.err = "";
    assert.deepEqual([await runCoalloc(line.split(" "), world), scene.out], [2, ""], line);
    const [command = ""] = line.split(" ");
    const program = `kubectl coalloc${COMMANDS.includes(command) ? ` ${command}` : ""}`;
    assert.match(scene.err, new RegExp(`^Cannot .*; see ${program} --help\n$`), line);
  }
});

sceneTest("runCoalloc() takes the flags of all commands before the command, too", async (scene) => {
  addMarketPod(scene, "web", { limit: 450, own: 200 });
  addMarketPod(scene, "far", { limit: 300, own: 200, namespace: "other" });
  const podsOf = async (line: string): Promise<string[]> => {
    const [code, out] = await scene.ran(line);
    assert.equal(code, 0, line);
    return JSON.parse(out).pods.map(({ pod }: { pod: string }) => pod);
  };
  assert.deepEqual(await podsOf("-n other top -o json"), ["far"]);
  assert.deepEqual(await podsOf("-o json --namespace=other top"), ["far"]);
  assert.deepEqual(await podsOf("-o yaml -A top -o json"), ["far", "web"]);
  assert.deepEqual(await podsOf("-n other top -n shop -o json"), ["web"]);
  const asked: unknown[] = [];
  const connect = (options: unknown) => {
    asked.push(options);
    return Promise.resolve(scene.cluster);
  };
  const line = ["--context", "c", "--kubeconfig=k", "version"];
  const as = ["--as", "jane", "--as-group", "a", "--as-group=b", "--as-uid", "7"];
  assert.equal(await runCoalloc([...line, ...as], { ...scene.world, connect }), 0);
  const impersonation = { user: "jane", groups: ["a", "b"], uid: "7" };
  assert.deepEqual(asked, [{ context: "c", kubeconfig: "k", impersonation }]);
});

sceneTest("runCoalloc() knows help and the client's version without a cluster", async (scene) => {
  const said = async (...args: string[]): Promise<string> => {
    scene.out = "";
    const connect = () => Promise.reject(new Error("not asked for"));
    assert.equal(await runCoalloc(args, { ...scene.world, connect }), 0);
    return scene.out;
  };
  assert.equal(VERSION, project.version);
  assert.equal(await said("--version"), `kubectl-coalloc ${VERSION}\n`);
  assert.equal(await said("help"), await said("--help"));
  assert.equal(await said("help", "top"), await said("top", "--help"));
  assert.equal(await scene.run("help", "tap"), 2);
  scene.out = scene.err = "";
  const message = "Cannot read the kubeconfig";
  const reject = () => Promise.reject(new TypeError(message));
  const reader = { ...scene.cluster.reader, versions: reject };
  const unreachable = () => Promise.resolve({ ...scene.cluster, reader });
  for (const connect of [reject, unreachable]) {
    const printed = async (line: string): Promise<string> => {
      scene.out = scene.err = "";
      assert.equal(await runCoalloc(line.split(" "), { ...scene.world, connect }), 1);
      assert.equal(scene.err, `${message}\n`);
      return scene.out;
    };
    assert.equal(await printed("version"), `Client: ${VERSION}\n`);
    assert.deepEqual(JSON.parse(await printed("version -o json")), { client: VERSION });
  }
  const [code, out] = await scene.ran("version");
  assert.equal(code, 0);
  assert.match(out, /^Client: \d.*\nServer: v1\.36\.3\nController: not \w+\n$/);
});

sceneTest("runCoalloc() ends with 130, silent, when the user interrupts it", async (scene) => {
  const { metadata: { uid } } = addMarketPod(scene, "web", { limit: 450, own: 200 });
  scene.agents.push("node-1");
  scene.views.set("node-1", sampleNodeView([samplePodView("web", { uid })]));
  const { reader, views } = scene.cluster;
  const { versions, allocations } = reader;
  const { agents } = views;
  const interrupted = (args: readonly string[], change: "rejects" | "answers") => {
    const ending = new AbortController();
    const abort = async <T>(answer: Promise<T>): Promise<T> => {
      ending.abort();
      if (change === "rejects") throw new ApiError(0, "Aborted", "aborted");
      return await answer;
    };
    reader.versions = () => abort(versions());
    reader.allocations = (namespace) => abort(allocations(namespace));
    views.agents = () => abort(agents());
    return runCoalloc(args, { ...scene.world, signal: ending.signal });
  };
  for (const args of [["top"], ["explain", "web"]]) {
    assert.equal(await interrupted(args, "rejects"), 130);
    assert.equal(await interrupted(args, "answers"), 130);
  }
  assert.equal(await interrupted(["version"], "rejects"), 130);
  assert.deepEqual([scene.out, scene.err], ["", ""]);
});

sceneTest("runCoalloc() ends with 141, silent, when its output is closed", async (scene) => {
  const out = (): void => {
    throw new Deno.errors.BrokenPipe("Broken pipe (os error 32)");
  };
  for (const args of [["--help"], ["top"], ["top", "-w"], ["completion", "bash"]]) {
    assert.equal(await runCoalloc(args, { ...scene.world, out }), 141, args.join(" "));
  }
  assert.equal(await runCoalloc(["tap"], { ...scene.world, err: out }), 141);
  assert.equal(await runCoalloc(["explain", "wed"], { ...scene.world, err: out }), 141);
  assert.equal(scene.err, "");
});

sceneTest("runCoalloc() ends with 1 and the remedy when the cluster refuses", async (scene) => {
  const refuse = (error: Error) => scene.cluster.reader.allocations = () => Promise.reject(error);
  refuse(new ApiError(0, "Unreachable", "connection refused."));
  assert.equal(await scene.run("top"), 1);
  refuse(new Error("a fault"));
  await assert.rejects(scene.run("top"), /a fault/);
});

sceneTest("runCoalloc() colours a terminal unless it is reported not to", async (scene) => {
  const size = { columns: 100, rows: 20 };
  for (
    const [line, isPainted] of [["top", true], ["top --no-color"], ["--no-color top"]] as const
  ) {
    scene.terminal = { ...size, color: true };
    assert.equal((await scene.ran(line))[1].includes("\x1b["), isPainted === true, line);
  }
  scene.terminal = size;
  assert.ok(!(await scene.ran("top"))[1].includes("\x1b["));
});

pure("podArgument() reads names as users write them", () => {
  assert.deepEqual(podArgument("web-0"), { name: "web-0" });
  assert.deepEqual(podArgument("pod/web-0"), { name: "web-0" });
  assert.deepEqual(podArgument("shop/web-0"), { namespace: "shop", name: "web-0" });
  for (const text of ["", "a/b/c", "a/", "/a"]) assert.equal(podArgument(text), undefined, text);
});

/** Pods `web-0`, `web-1` with the label app=web, and `db`, all above their original limits. */
function addPods(scene: CoallocScene): void {
  for (const [name, app] of [["web-0", "web"], ["web-1", "web"], ["db", "db"]] as const) {
    addMarketPod(scene, name, { limit: 450, own: 200, metadata: { labels: { app } } });
  }
}

const namesOf = (list: readonly { readonly pod: string }[]): string[] =>
  list.map(({ pod }) => pod).sort();

sceneTest("--selector chooses the pods of top, explain, resize and restore", async (scene) => {
  addPods(scene);
  const [, top] = await scene.ran("top -l app=web -o json");
  assert.deepEqual(namesOf(JSON.parse(top).pods), ["web-0", "web-1"]);
  const [, explained] = await scene.ran("explain -l app=web -o yaml");
  assert.deepEqual(explained.match(/^pod: .*/gm), ["pod: web-0", "pod: web-1"]);
  assert.equal(explained.match(/^---$/gm)?.length, 2);
  const [code, resized] = await scene.ran("resize -l app=web --cpu-limit 300m --dry-run");
  assert.equal(code, 0);
  assert.deepEqual(resized.match(/shop\/[\w-]+/g), ["shop/web-0", "shop/web-1"]);
  const [, restored] = await scene.ran("restore -l app=web -y -o json");
  assert.deepEqual(namesOf(JSON.parse(restored).results), ["web-0", "web-1"]);
  const managed = scene.api.store.tables.Pod.all().map(({ metadata: { annotations } }) =>
    annotations[MANAGED]
  );
  assert.deepEqual(managed.sort(), ["false", "false", undefined]);
});

shopTest("--selector chooses workloads of recommend by their manifests' labels", async (scene) => {
  const [, out] = await scene.ran("recommend -l app=web -o json");
  assert.deepEqual(JSON.parse(out).workloads.map(({ name }: { name: string }) => name), ["web"]);
});

placedTest("--selector chooses the workloads of placement", [
  { nodes: [] },
  { name: "cart", nodes: [] },
], async (scene) => {
  const metadata = { name: "cart", namespace: "shop", uid: "", resourceVersion: "" };
  scene.rightsizing.templates = [{ kind: "Deployment", metadata, replicas: 0, containers: [] }];
  const [, out] = await scene.ran("placement -l app=cart -o json");
  assert.deepEqual(JSON.parse(out).workloads.map(({ name }: { name: string }) => name), ["cart"]);
});

sceneTest("-o csv and -o markdown print every column, and notes beside it", async (scene) => {
  addPods(scene);
  const [, csv, notes] = await scene.ran("top -l app=db -o csv");
  assert.deepEqual(csv.split("\n"), [
    "NAMESPACE,POD,USAGE,DEMAND,LIMIT,THROTTLED,PRICE,REASON,NODE,ORIGINAL,FLOOR,CEILING,AGE",
    "shop,db,-,-,-,-,-,-,node-1,200m,-,-,0ms",
    "",
  ]);
  assert.match(notes, /^No agent/);
  const [, markdown] = await scene.ran("top -l app=db -o markdown");
  assert.deepEqual(markdown.split("\n").slice(0, 2).map((line) => line.slice(0, 38)), [
    "| NAMESPACE | POD | USAGE | DEMAND | L",
    "| --- | --- | ---: | ---: | ---: | ---",
  ]);
  for (const line of ["recommend -o csv", "placement -o csv"]) {
    assert.match((await scene.ran(line))[1], /^NAMESPACE,WORKLOAD,/, line);
  }
});

/** Each command line, and what completion offers for its last argument; `:0` alone are files. */
async function assertCompleted(
  scene: CoallocScene,
  rows: readonly (readonly [line: string, offered: string])[],
): Promise<void> {
  for (const [line, offered] of rows) {
    const [code, out] = await scene.ran(`__complete ${line}`);
    assert.equal(code, 0);
    const found = out.trimEnd().split("\n").map((one) => one.split("\t")[0] ?? "");
    assert.equal(found.join(" "), offered.startsWith(":") ? offered : `${offered} :4`, line);
  }
}

sceneTest("complete() offers commands, flags, values and names from the cluster", async (scene) => {
  for (const name of ["web-0", "web-1", "db"]) addMarketPod(scene, name, { limit: 1, own: 1 });
  addMarketPod(scene, "far", { limit: 1, own: 1, namespace: "other" });
  await assertCompleted(scene, [
    ["rep", "report"],
    ["explain w", "web-0 web-1"],
    ["explain web-0 ", ":4"],
    ["top web-0 ", "db web-1"],
    ["explain -n other ", "far"],
    ["top --namespace=other ", "far"],
    ["top -n o", "other"],
    ["top --namespace=s", "--namespace=shop"],
    ["top --node ", "node-1"],
    ["top -o y", "yaml"],
    ["top -o p", ":4"],
    ["top --kubeconfig ", ":0"],
    ["top --context ", "here there"],
    ["top --kubeconfig=k --context t", ":4"],
    ["top --kubeconfig=k --context o", "of-k"],
    ["explain -nother ", "far"],
    ["explain -no", "-nother"],
    ["explain -n", ":4"],
    ["top --watch=soon ", ":4"],
    ["top -Ao y", "yaml"],
    ["restore --d", "--dry-run"],
    ["completion z", "zsh"],
    ["version ", ":4"],
    ["nothing ", ":4"],
    ["si", "simulate"],
    ["simulate --trace ", ":0"],
    ["simulate --history ", ":0"],
    ["simulate --policy ", ":0"],
    ["simulate --policy=a", ":0"],
    ["simulate --format p", "prometheus"],
    ["simulate --s", "--series --scale-p95 --slo-ms --seeds"],
    ["simulate ", ":4"],
    // Flags before the command.
    ["-A res", "restore resize"],
    ["-n o", "other"],
    ["-n other explain ", "far"],
    ["--no-c", "--no-color"],
  ]);
});

sceneTest("complete() offers workloads with recommendations, and their policies", async (scene) => {
  addMarketPod(scene, "pod-of-web", { limit: 1, own: 1 });
  const records = shopRecords();
  const [web, db] = records;
  assert.ok(web !== undefined && db !== undefined);
  scene.rightsizing.reports = [...reportsOf(records), ...reportsOf([web], "other")];
  await assertCompleted(scene, [
    ["recommend ", "db log web"],
    ["recommend -n other ", "web"],
    ["recommend web ", ":4"],
    ["recommend --policy ", "all databases"],
    ["recommend -n other --policy=", "--policy=all"],
    ["recommend -o p", "patch"],
  ]);
  // Two of one name are reported apart.
  const twin = { ...db, workload: { ...db.workload, name: "web" } };
  scene.rightsizing.reports = reportsOf([web, twin]);
  await assertCompleted(scene, [["recommend ", "deployment/web statefulset/web"]]);
});

const placed = () =>
  placedScene(
    { nodes: [] },
    { kind: "StatefulSet", name: "db", nodes: [] },
    { name: "cart", namespace: "far", nodes: [] },
  );

sceneTest("complete() offers workloads with replicas that may be placed", async (scene) => {
  await assertCompleted(scene, [
    ["pl", "placement"],
    ["placement ", "db web"],
    ["placement -n far ", "cart"],
    ["placement web ", ":4"],
    ["placement --w", "--watch"],
    ["placement -o w", "wide"],
  ]);
  addShopWorkload(scene, { kind: "StatefulSet", name: "web", nodes: [] });
  await assertCompleted(scene, [["placement deployment", "deployment/web"]]);
  scene.placement.hidden.add("statuses");
  await assertCompleted(scene, [["placement ", ":4"]]);
}, placed);

sceneTest("complete() offers nothing without a cluster, which its flags name", async (scene) => {
  const asked: unknown[] = [];
  const connect = (options: unknown) => {
    asked.push(options);
    return Promise.reject(new Error("no cluster"));
  };
  const args = ["__complete", "--as", "joe", "top", "--kubeconfig", "k", "--context=c"];
  const as = ["--as=jane", "--as-group=a", "--as-group", "b", ""];
  assert.equal(await runCoalloc([...args, ...as], { ...scene.world, connect }), 0);
  assert.equal(scene.out, ":4\n");
  const impersonation = { user: "jane", groups: ["a", "b"] };
  assert.deepEqual(asked, [{ kubeconfig: "k", context: "c", impersonation }]);
});

sceneTest("each completion script asks the program itself", async (scene) => {
  for (const shell of Object.keys(COMPLETION_SCRIPTS)) {
    const [code, out] = await scene.ran(`completion ${shell}`);
    assert.equal(code, 0);
    assert.match(out, /coalloc __complete/, shell);
  }
});
