import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import {
  addMarketPod,
  type CoallocScene,
  coallocScene,
} from "../../tests/fixtures/cli/coalloc_scene.ts";
import { sampleNodeView, samplePodView } from "../../tests/fixtures/cli/node_views.ts";
import { explainApiError } from "./api_problem.ts";
import { podArgument } from "./formats.ts";
import type { Cluster } from "./ports.ts";
import { runCoalloc } from "./run_coalloc.ts";
import { VERSION } from "./version_command.ts";

async function withScene(fn: (scene: CoallocScene) => Promise<void>): Promise<void> {
  const scene = coallocScene();
  await fn(scene);
  await scene.close();
}

Deno.test({
  name: "runCoalloc() answers --help of every command with examples, and 0",
  permissions: "none",
  fn: () =>
    withScene(async (scene) => {
      assert.equal(await scene.run(), 0);
      const commands = [
        ...["top", "explain", "restore", "resize", "recommend", "placement"],
        ...["simulate", "version", "completion"],
      ];
      for (const command of commands) assert.match(scene.out, new RegExp(`^  ${command} `, "m"));
      for (const command of commands) {
        scene.out = "";
        assert.equal(await scene.run(command, "--help"), 0);
        assert.match(scene.out, new RegExp(`^Usage: kubectl-coalloc ${command}`));
        if (command !== "version") assert.match(scene.out, /^Examples:$/m, command);
      }
      assert.equal(scene.err, "");
    }),
});

Deno.test({
  name: "runCoalloc() ends with 2 and one line for a wrong command line",
  permissions: "none",
  fn: () =>
    withScene(async (scene) => {
      const wrong = ["top --sot x", "top --sort up", "top -o xml", "top --watch=soon", "top -n -A"];
      const more = ["explain", "completion tcsh", "version now", "simulate --trace f --seeds 0"];
      for (const line of [...wrong, ...more]) {
        scene.err = "";
        const args = line.split(" ");
        assert.equal(await scene.run(...args), 2, line);
        const program = `kubectl coalloc ${args[0]}`;
        assert.match(
          scene.err,
          new RegExp(`^Cannot run ${program}: .*; see ${program} --help\n$`),
        );
      }
      for (const line of ["tap", "-o xml top", "--sot top"]) {
        scene.err = "";
        assert.equal(await scene.run(...line.split(" ")), 2, line);
        assert.match(scene.err, /^Cannot .*; see kubectl coalloc --help\n$/);
      }
      assert.equal(scene.out, "");
    }),
});

Deno.test({
  name: "runCoalloc() takes the flags of all commands before the command, too",
  permissions: "none",
  fn: () =>
    withScene(async (scene) => {
      addMarketPod(scene, "web", { limit: 450, own: 200 });
      addMarketPod(scene, "far", { limit: 300, own: 200, namespace: "other" });
      const podsOf = async (line: string): Promise<string[]> => {
        scene.out = "";
        assert.equal(await scene.run(...line.split(" ")), 0, line);
        return JSON.parse(scene.out).pods.map(({ pod }: { pod: string }) => pod);
      };
      assert.deepEqual(await podsOf("-n other top -o json"), ["far"]);
      assert.deepEqual(await podsOf("-o json --namespace=other top"), ["far"]);
      assert.deepEqual(await podsOf("-o yaml -A top -o json"), ["far", "web"]);
      assert.deepEqual(await podsOf("-n other top -n shop -o json"), ["web"]);
      const world = { ...scene.world, outIsTerminal: true };
      scene.out = "";
      assert.equal(await runCoalloc(["--no-color", "top"], world), 0);
      assert(!scene.out.includes("\x1b["), scene.out);
      const asked: unknown[] = [];
      const connect = (options: unknown) => {
        asked.push(options);
        return Promise.resolve(scene.cluster);
      };
      const line = ["--context", "c", "--kubeconfig=k", "version"];
      assert.equal(await runCoalloc(line, { ...scene.world, connect }), 0);
      assert.deepEqual(asked, [{ context: "c", kubeconfig: "k" }]);
      assert.equal(await scene.run("-n", "shop"), 2);
      assert.equal(await scene.run("-n", "top"), 2);
      assert.equal(scene.err.match(/^Cannot .* no command .* --help$/gm)?.length, 2);
    }),
});

Deno.test({
  name: "runCoalloc() knows --version and help without a cluster",
  permissions: "none",
  fn: () =>
    withScene(async (scene) => {
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
      assert.match(scene.err, /^Cannot .* 'tap'; .* --help\n$/);
    }),
});

Deno.test({
  name: "runCoalloc() reports a wrong command line before it looks for a cluster",
  permissions: "none",
  fn: () =>
    withScene(async (scene) => {
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
      scene.err = "";
      assert.equal(await runCoalloc(["top", "-w", "web-0"], { ...scene.world, connect }), 2);
      assert.match(scene.err, /'web-0' is invalid.*; put pods before -w, or write --watch=2s; see/);
    }),
});

Deno.test({
  name: "runCoalloc() ends with 130 and prints nothing when the user interrupts a reading",
  permissions: "none",
  fn: () =>
    withScene(async (scene) => {
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
    }),
});

Deno.test({
  name: "runCoalloc() ends with 141 and prints nothing when its output is closed",
  permissions: "none",
  fn: () =>
    withScene(async (scene) => {
      const out = (): void => {
        throw new Deno.errors.BrokenPipe("Broken pipe (os error 32)");
      };
      for (const args of [["--help"], ["top"], ["top", "-w"], ["completion", "bash"]]) {
        assert.equal(await runCoalloc(args, { ...scene.world, out }), 141, args.join(" "));
      }
      assert.equal(await runCoalloc(["tap"], { ...scene.world, err: out }), 141);
      assert.equal(await runCoalloc(["explain", "wed"], { ...scene.world, err: out }), 141);
      assert.equal(scene.err, "");
    }),
});

Deno.test({
  name: "runCoalloc() ends with 1 and the remedy when the cluster refuses",
  permissions: "none",
  fn: () =>
    withScene(async (scene) => {
      const refusing = (error: Error): Promise<number> => {
        const cluster: Cluster = {
          ...scene.cluster,
          reader: { ...scene.cluster.reader, allocations: () => Promise.reject(error) },
        };
        return runCoalloc(["top"], { ...scene.world, connect: () => Promise.resolve(cluster) });
      };
      assert.equal(await refusing(new ApiError(0, "Unreachable", "connection refused.")), 1);
      assert.match(scene.err, /^Cannot .* top: connection refused; .*cluster-info\n$/);
      await assert.rejects(refusing(new Error("a fault")), /a fault/);
      const connect = () =>
        Promise.reject(new RangeError('Cannot find context "x": it is not there'));
      assert.equal(await runCoalloc(["version"], { ...scene.world, connect }), 1);
      assert.match(scene.err, /Cannot find context "x"/);
    }),
});

Deno.test({
  name: "runCoalloc() shows versions",
  permissions: "none",
  fn: () =>
    withScene(async (scene) => {
      assert.equal(await scene.run("version"), 0);
      assert.match(scene.out, /^Client: \d.*\nServer: v1\.36\.3\nController: not installed\n$/);
      const hidden = { server: "v1", controllerImage: undefined, controllerIsVisible: false };
      const reader = { ...scene.cluster.reader, versions: () => Promise.resolve(hidden) };
      const connect = () => Promise.resolve({ ...scene.cluster, reader });
      assert.equal(await runCoalloc(["version"], { ...scene.world, connect }), 0);
      assert.match(scene.out, /\nController: not known, .*\n$/);
    }),
});

Deno.test({
  name: "runCoalloc() colours a terminal unless it is reported not to",
  permissions: "none",
  fn: () =>
    withScene(async (scene) => {
      const world = { ...scene.world, outIsTerminal: true };
      const colours = async (args: string[], noColor?: string): Promise<boolean> => {
        scene.out = "";
        await runCoalloc(args, { ...world, noColor });
        return scene.out.includes("\x1b[");
      };
      assert.equal(await colours(["top"]), true);
      assert.equal(await colours(["top"], "1"), false);
      assert.equal(await colours(["top", "--no-color"]), false);
    }),
});

Deno.test({
  name: "explainApiError() knows what can be done",
  permissions: "none",
  fn() {
    const text = (status: number, message = ""): string =>
      explainApiError("look", new ApiError(status, "", message));
    const noRight = 'pods is forbidden: User "a" cannot list resource "pods"';
    const unknown = "the server could not find the requested resource";
    assert.match(text(401), /--context/);
    assert.match(text(403, noRight), /: pods .*can-i/);
    assert.equal(text(403, "quota"), "Cannot look: quota");
    assert.match(text(404, unknown), /installed/);
    assert.match(text(503), /busy/);
  },
});

Deno.test({
  name: "podArgument() reads names as users write them",
  permissions: "none",
  fn() {
    assert.deepEqual(podArgument("web-0"), { name: "web-0" });
    assert.deepEqual(podArgument("pod/web-0"), { name: "web-0" });
    assert.deepEqual(podArgument("shop/web-0"), { namespace: "shop", name: "web-0" });
    for (const text of ["", "a/b/c", "a/", "/a"]) assert.equal(podArgument(text), undefined, text);
  },
});
