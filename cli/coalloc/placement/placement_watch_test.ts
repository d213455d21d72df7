import assert from "node:assert/strict";
import { settleVirtually } from "../../../tests/contract/support/settle_virtually.ts";
import type { CoallocScene } from "../../../tests/fixtures/cli/coalloc_scene.ts";
import { placedTest } from "../../../tests/fixtures/placement/placed_shop.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Cluster } from "../ports.ts";
import { runCoalloc } from "../run_coalloc.ts";

const WEB = { nodes: ["spot-1", "spot-1"], words: { "spot-percentage": "50" } };
const HOME = "\x1b[H";

/** What `placement -w` writes in 7.5 s, in which one replica moves after 3 s and back at the end. */
async function watched(
  scene: CoallocScene,
  { terminal = false, args = [], cluster = scene.cluster }: {
    readonly terminal?: boolean;
    readonly cluster?: Cluster;
    readonly args?: readonly string[];
  } = {},
): Promise<string> {
  scene.out = "";
  const ending = new AbortController();
  const move = (nodeName: string) => () =>
    void scene.api.store.tables.Pod.modify("shop/web-1", (one) => ({ ...one, nodeName }));
  const beganAt = scene.clock.monotonic();
  scene.clock.at(beganAt + 3000, move("od-1"));
  scene.clock.at(beganAt + 7500, () => ending.abort());
  const run = runCoalloc(["placement", ...args], {
    ...scene.world,
    outIsTerminal: terminal,
    noColor: "1",
    connect: () => Promise.resolve(cluster),
    signal: ending.signal,
    size: () => ({ columns: 100, rows: 6 }),
  });
  assert.equal(await settleVirtually(scene.clock, run), 0);
  assert.equal(scene.clock.monotonic() - beganAt, 7500);
  move("spot-1")();
  return scene.out;
}

placedTest("placementCommand() watches, and writes again only what has changed", {
  workloads: [WEB],
  async fn(scene) {
    const tables = (await watched(scene, { args: ["-w"] })).split("\n\n");
    assert.deepEqual(tables.map((table) => /web +(\S+)/.exec(table)?.[1]), ["2/1", "1/1"]);
    const json = await watched(scene, { args: ["--watch=1s", "-o", "json"] });
    const phases = json.trimEnd().split("\n").map((line) => JSON.parse(line).workloads[0].phase);
    assert.deepEqual(phases, ["Converging", "AsWished"]);
    const yaml = await watched(scene, { args: ["-w", "-o", "yaml"] });
    assert.equal(yaml.match(/^---$/gm)?.length, 2);
  },
});

placedTest("placementCommand() draws over the last screen, and no further than it goes", {
  workloads: [WEB],
  async fn(scene) {
    const screens = (await watched(scene, { terminal: true, args: ["-w"] })).split(HOME);
    assert.deepEqual([screens.length, screens[0]], [3, "\x1b[2J"]);
    const [, detail = ""] = (await watched(scene, { terminal: true, args: ["web", "-w"] }))
      .split(HOME);
    assert.ok(detail.endsWith(" more lines\x1b[K\n\x1b[J"), detail);
    assert.equal(detail.split("\n").length, 6);
  },
});

placedTest("placementCommand() outlasts a server that is away, but not one that refuses at once", {
  workloads: [WEB],
  async fn(scene) {
    const { placement } = scene.cluster;
    const away = () => Promise.reject(new ApiError(0, "Unreachable", "connection refused"));
    let looks = 0;
    const nodes = () => ++looks === 2 ? away() : placement.nodes();
    const cluster = { ...scene.cluster, placement: { ...placement, nodes } };
    const out = await watched(scene, { args: ["-w"], cluster });
    assert.match(out, /2\/1.*\n\nCannot .*: connection refused; .*\n\n.*1\/1/s);
    looks = 1;
    const world = { ...scene.world, connect: () => Promise.resolve(cluster) };
    assert.equal(await runCoalloc(["placement", "-w"], world), 1);
    assert.match(scene.err, /^Cannot .*: connection refused; /);
    scene.placement.hidden.add("workloads");
    assert.equal(await scene.run("placement", "-w"), 1);
  },
});
