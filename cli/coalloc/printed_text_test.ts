/** What of others' text reaches the terminal: no escape sequence, and no line of their own. */
import assert from "node:assert/strict";
import { pureYAML } from "../../tests/fixtures/pure.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import { SGR } from "../terminal/terminal_text.ts";
import type { ResizeCondition } from "../../shared/api/pod.ts";
import {
  addMarketPod,
  type CoallocScene,
  coallocScene,
} from "../../tests/fixtures/cli/coalloc_scene.ts";
import { reportsOf, shopRecords } from "../../tests/fixtures/cli/advised_shop.ts";
import {
  sampleContainerView,
  sampleNodeView,
  samplePodView,
} from "../../tests/fixtures/cli/node_views.ts";

/** Clears the screen, sets the title, hides and turns text around, and begins a line. */
const EVIL = "\x1b[2J\x1b[H\x1b]0;t\x07\x9b8m\u202e\u2028\r\nFORGED";
/** What a terminal obeys, but for ends of lines. */
const OBEYED = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
/** As `paint()` sets text apart. */
const PAINTED = new RegExp(SGR, "g");

/** A pod of which everybody says something evil. */
function evilScene({ isTerminal }: { readonly isTerminal: boolean }): CoallocScene {
  const scene = coallocScene();
  if (isTerminal) scene.terminal = { columns: 100, rows: 20, color: true };
  const { metadata: { uid } } = addMarketPod(scene, "web", {
    limit: 450,
    own: 200,
    status: { phase: "Failed", reason: "Refused", message: EVIL },
  });
  scene.api.store.tables.Pod.modify("shop/web", (pod) => ({
    ...pod,
    resizeConditions: [
      { type: "PodResizePending", reason: "Deferred", message: EVIL } as ResizeCondition,
    ],
  }));
  const [record] = shopRecords();
  assert.ok(record !== undefined);
  scene.rightsizing.reports = reportsOf([{
    ...record,
    message: EVIL,
    recommendations: [{ container: "app", cpu: 1, memory: 1, explanation: EVIL }],
  }]);
  const status = { phase: "NotWhole", message: EVIL, revisions: [], pods: [] };
  scene.placement.published.set("Deployment.web", JSON.stringify(status));
  scene.agents.push("node-1", `node${EVIL}`);
  const container = sampleContainerView({ waiting: EVIL, id: "web" });
  const pod = samplePodView(`web${EVIL}`, { uid, container });
  scene.views.set("node-1", sampleNodeView([{ ...pod, bounds: { revision: 7, reason: EVIL } }]));
  return scene;
}

const LINES = [
  "top",
  "top -o wide",
  "explain web",
  "explain web -o yaml",
  "explain web -o json",
  `explain ${EVIL}`,
  "resize web --cpu-limit 300m --timeout 1s",
  "restore web --timeout 1s",
  "restore --all --yes --timeout 1s",
  "placement",
  "recommend",
  "recommend web",
  "recommend -o patch",
];

for (const isTerminal of [false, true]) {
  pureYAML(`runCoalloc() prints nothing that a terminal obeys: ${isTerminal}`, async () => {
    let seen = 0;
    for (const line of LINES) {
      const scene = evilScene({ isTerminal });
      const [name = "", ...rest] = line.split(" ");
      scene.api.failNext({ verb: "resize", kind: "Pod", status: 422, message: EVIL });
      await scene.run(name, ...rest);
      for (const printed of [scene.out, scene.err]) {
        if (/FORGED/.test(printed)) seen++;
        const text = isTerminal ? printed.replaceAll(PAINTED, "") : printed;
        assert.doesNotMatch(text, OBEYED, `${line}: ${JSON.stringify(printed)}`);
        assert.doesNotMatch(text, /^FORGED/m, `${line}: ${JSON.stringify(printed)}`);
      }
      await scene.close();
    }
    assert.ok(seen >= 5, `${seen} had the text`);
  });
}

pureYAML("runCoalloc() prints an error of the server on one line", async () => {
  const scene = coallocScene();
  const world = {
    ...scene.world,
    connect: () => Promise.reject(new ApiError(500, "Evil", EVIL)),
  };
  Object.assign(scene, { world });
  assert.equal(await scene.run("top"), 1);
  assert.doesNotMatch(scene.err, OBEYED);
  assert.deepEqual(scene.err.match(/\n/g)?.length, 1);
  await scene.close();
});
