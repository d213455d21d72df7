import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import { addMarketPod, sceneTest } from "../../tests/fixtures/cli/coalloc_scene.ts";
import { sampleNodeView, samplePodView } from "../../tests/fixtures/cli/node_views.ts";
import { podArgument } from "./formats.ts";
import type { Cluster } from "./ports.ts";
import { runCoalloc } from "./run_coalloc.ts";
import { VERSION } from "../../shared/version.ts";

sceneTest("runCoalloc() answers --help of every command with examples, and 0", async (scene) => {
  assert.equal(await scene.run(), 0);
  const commands = [
    ...["top", "explain", "restore", "resize", "recommend", "placement"],
    ...["simulate", "version", "completion"],
  ];
  for (const command of commands) assert.match(scene.out, new RegExp(`^  ${command} `, "m"));
  for (const command of commands) {
    const [code, out] = await scene.ran(`${command} --help`);
    assert.equal(code, 0);
    assert.match(out, new RegExp(`^Usage: kubectl-coalloc ${command}`));
    if (command !== "version") assert.match(out, /^Examples:$/m, command);
  }
});

sceneTest("runCoalloc() ends with 2 and one line for a wrong command line", async (scene) => {
  const wrong = ["top --sot x", "top --sort up", "top -o xml", "top --watch=soon", "top -n -A"];
  const more = ["completion tcsh", "version now", "simulate --trace f --seeds 0"];
  for (const line of [...wrong, ...more]) {
    const program = `kubectl coalloc ${line.split(" ")[0]}`;
    const [code, out, err] = await scene.ran(line);
    assert.deepEqual([code, out], [2, ""], line);
    assert.match(err, new RegExp(`^Cannot run ${program}: .*; see ${program} --help\n$`));
  }
  for (const line of ["tap", "-o xml top", "--sot top"]) {
    const [code, , err] = await scene.ran(line);
    assert.equal(code, 2, line);
    assert.match(err, /^Cannot .*; see kubectl coalloc --help\n$/);
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
  scene.terminal = { columns: 100, rows: 20, color: true };
  assert(!(await scene.ran("--no-color top"))[1].includes("\x1b["));
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
  assert.equal(await scene.run("-n", "shop"), 2);
  assert.equal(await scene.run("-n", "top"), 2);
});

sceneTest("runCoalloc() knows --version and help without a cluster", async (scene) => {
  const said = async (...args: string[]): Promise<string> => {
    scene.out = "";
    const connect = () => Promise.reject(new Error("not asked for"));
    assert.equal(await runCoalloc(args, { ...scene.world, connect }), 0);
    return scene.out;
  };
  assert.equal(await said("--version"), `kubectl-coalloc ${VERSION}\n`);
  assert.equal(await said("help"), await said("--help"));
  assert.equal(await said("help", "top"), await said("top", "--help"));
  assert.equal(await scene.run("help", "tap"), 2);
  scene.out = "";
  const connect = () => Promise.reject(new TypeError("Cannot read the kubeconfig"));
  assert.equal(await runCoalloc(["version"], { ...scene.world, connect }), 1);
  assert.equal(scene.out, `Client: ${VERSION}\n`);
});

sceneTest(
  "runCoalloc() reports a wrong command line before it looks for a cluster",
  async (scene) => {
    const connect = () => Promise.reject(new RangeError("Cannot find context: none"));
    const lines = ["restore", "restore web --all", "restore a/b/c", "restore --all -n shop"];
    for (const line of [...lines, "explain a/b/c", "resize a/b/c --cpu-limit 1"]) {
      scene.err = "";
      assert.equal(await runCoalloc(line.split(" "), { ...scene.world, connect }), 2, line);
      const [name] = line.split(" ");
      assert.match(
        scene.err,
        new RegExp(`^Cannot .*; see kubectl coalloc ${name} --help\n$`),
        line,
      );
    }
    assert.equal(await runCoalloc(["top", "-w", "web-0"], { ...scene.world, connect }), 2);
  },
);

sceneTest(
  "runCoalloc() ends with 130 and prints nothing when the user interrupts a reading",
  async (scene) => {
    const { metadata: { uid } } = addMarketPod(scene, "web", { limit: 450, own: 200 });
    scene.agents.push("node-1");
    scene.views.set("node-1", sampleNodeView([samplePodView("web", { uid })]));
    const { reader, views } = scene.cluster;
    const interrupted = (args: readonly string[], change: "rejects" | "answers") => {
      const ending = new AbortController();
      const abort = <T>(value: T): Promise<T> => {
        ending.abort();
        const error = new ApiError(0, "Aborted", "aborted");
        return change === "rejects" ? Promise.reject(error) : Promise.resolve(value);
      };
      const cluster: Cluster = {
        ...scene.cluster,
        reader: {
          ...reader,
          versions: async () => abort(await reader.versions()),
          allocations: async (namespace) => abort(await reader.allocations(namespace)),
        },
        views: { ...views, agents: async () => abort(await views.agents()) },
      };
      const connect = () => Promise.resolve(cluster);
      return runCoalloc(args, { ...scene.world, connect, signal: ending.signal });
    };
    for (const args of [["top"], ["explain", "web"]]) {
      assert.equal(await interrupted(args, "rejects"), 130);
      assert.equal(await interrupted(args, "answers"), 130);
    }
    assert.equal(await interrupted(["version"], "rejects"), 130);
    assert.deepEqual([scene.out, scene.err], ["", ""]);
  },
);

sceneTest(
  "runCoalloc() ends with 141 and prints nothing when its output is closed",
  async (scene) => {
    const out = (): void => {
      throw new Deno.errors.BrokenPipe("Broken pipe (os error 32)");
    };
    for (const args of [["--help"], ["top"], ["top", "-w"], ["completion", "bash"]]) {
      assert.equal(await runCoalloc(args, { ...scene.world, out }), 141, args.join(" "));
    }
    assert.equal(await runCoalloc(["tap"], { ...scene.world, err: out }), 141);
    assert.equal(await runCoalloc(["explain", "wed"], { ...scene.world, err: out }), 141);
    assert.equal(scene.err, "");
  },
);

sceneTest("runCoalloc() ends with 1 and the remedy when the cluster refuses", async (scene) => {
  const refusing = (error: Error): Promise<number> => {
    const cluster: Cluster = {
      ...scene.cluster,
      reader: { ...scene.cluster.reader, allocations: () => Promise.reject(error) },
    };
    return runCoalloc(["top"], { ...scene.world, connect: () => Promise.resolve(cluster) });
  };
  assert.equal(await refusing(new ApiError(0, "Unreachable", "connection refused.")), 1);
  await assert.rejects(refusing(new Error("a fault")), /a fault/);
  const connect = () => Promise.reject(new RangeError('Cannot find context "x": it is not there'));
  assert.equal(await runCoalloc(["version"], { ...scene.world, connect }), 1);
  assert.match(scene.err, /Cannot find context "x"/);
});

sceneTest("runCoalloc() shows versions", async (scene) => {
  const [code, out] = await scene.ran("version");
  assert.equal(code, 0);
  assert.match(out, /^Client: \d.*\nServer: v1\.36\.3\nController: not installed\n$/);
});

sceneTest("runCoalloc() colours a terminal unless it is reported not to", async (scene) => {
  const size = { columns: 100, rows: 20 };
  for (const [line, color] of [["top", true], ["top"], ["top --no-color", true]] as const) {
    scene.terminal = color ? { ...size, color } : size;
    const [, out] = await scene.ran(line);
    assert.equal(out.includes("\x1b["), color === true && line === "top", line);
  }
});

pure("podArgument() reads names as users write them", () => {
  assert.deepEqual(podArgument("web-0"), { name: "web-0" });
  assert.deepEqual(podArgument("pod/web-0"), { name: "web-0" });
  assert.deepEqual(podArgument("shop/web-0"), { namespace: "shop", name: "web-0" });
  for (const text of ["", "a/b/c", "a/", "/a"]) assert.equal(podArgument(text), undefined, text);
});

import project from "../../deno.json" with { type: "json" };

pure("VERSION is that of deno.json", () => {
  assert.equal(VERSION, project.version);
});
