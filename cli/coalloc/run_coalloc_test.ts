import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import { type CoallocScene, coallocScene } from "../../tests/fixtures/coalloc_scene.ts";
import { explainApiError } from "./api_problem.ts";
import { podWord } from "./pod_word.ts";
import type { Cluster } from "./ports.ts";
import { runCoalloc } from "./run_coalloc.ts";

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
      const commands = ["top", "explain", "restore", "resize", "version", "completion"];
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
      const wrong = ["top --sot x", "top --sort up", "tap", "top -o xml", "top --watch=soon"];
      for (const line of [...wrong, "top -n -A", "explain", "completion tcsh", "version now"]) {
        scene.err = "";
        assert.equal(await scene.run(...line.split(" ")), 2, line);
        assert.match(scene.err, /^Cannot run kubectl coalloc: .*; see kubectl coalloc --help\n$/);
      }
      assert.equal(scene.out, "");
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
      assert.equal(
        scene.err,
        "Cannot run top: connection refused; is the API server up? try kubectl cluster-info\n",
      );
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
    }),
});

Deno.test({
  name: "runCoalloc() colours a terminal unless it is told not to",
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
    const text = (status: number, message: string): string =>
      explainApiError("look", new ApiError(status, "", message));
    assert.match(text(401, "Unauthorized"), /log in again/);
    assert.match(text(403, 'pods is forbidden: User "a" cannot list resource "pods"'), /can-i/);
    assert.equal(text(403, "exceeded quota"), "Cannot look: exceeded quota");
    assert.match(text(404, "the server could not find the requested resource"), /installed/);
    assert.match(text(503, "busy"), /try again/);
  },
});

Deno.test({
  name: "podWord() reads names as users write them",
  permissions: "none",
  fn() {
    assert.deepEqual(podWord("web-0"), { name: "web-0" });
    assert.deepEqual(podWord("pod/web-0"), { name: "web-0" });
    assert.deepEqual(podWord("shop/web-0"), { namespace: "shop", name: "web-0" });
    for (const text of ["", "a/b/c", "a/", "/a"]) assert.equal(podWord(text), undefined, text);
  },
});
