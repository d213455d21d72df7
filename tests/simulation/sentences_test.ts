/** Sentences that only a controller at work, or the command line beside it, brings about. */
import assert from "node:assert/strict";
import { type ClusterFindings, startCheck } from "../../controller/start_check.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import { silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { assertSentences } from "../fixtures/assert_sentences.ts";
import { coallocScene } from "../fixtures/cli/coalloc_scene.ts";
import { sceneTest } from "./controller_scene.ts";

const FINE: ClusterFindings = {
  serverVersion: "v1.36.3",
  servesPodResize: true,
  servesAllocations: true,
  unknownFields: [],
  missingRights: [],
};

/** What the start check waits for after the first answer. */
async function waitsFor(answer: () => Promise<ClusterFindings>): Promise<string> {
  const stop = new AbortController();
  const clock = createVirtualClock({ wallStart: 0 });
  let reason = "";
  const check = startCheck({
    ask: answer,
    clock,
    random: seededRandom(1),
    log: silentLog,
    rights: [],
    waitsFor: (reported = "") => void (reason = reported),
  }, stop.signal);
  await clock.runUntil(1);
  stop.abort();
  await check;
  return reason;
}

Deno.test({
  name: "sentences of the controller's start check",
  permissions: "none",
  fn: () =>
    assertSentences([
      [
        "no answer",
        () => waitsFor(() => Promise.reject(new ApiError(0, "Unreachable", "no route"))),
        "the API server does not answer the start check: no route",
      ],
      [
        "no definition",
        () => waitsFor(() => Promise.resolve({ ...FINE, servesAllocations: false })),
        "the CustomResourceDefinition podallocations.allocation.mbcas.io is missing: apply " +
        "manifests/crds",
      ],
      [
        "old definition",
        () => waitsFor(() => Promise.resolve({ ...FINE, unknownFields: ["status.phase"] })),
        "the CustomResourceDefinition podallocations.allocation.mbcas.io is older than this " +
        "controller and lacks status.phase: apply manifests/crds of its version",
      ],
    ]),
});

sceneTest("resizeCommand() sets a new original limit beside a controller", async (cluster) => {
  const { pass, createPod, want, limits, startController, allocation } = cluster;
  startController();
  createPod("web");
  await pass(5000);
  want("web", 450);
  await pass(5000);
  const scene = coallocScene(cluster);
  assert.equal(await scene.run("resize", "web", "--cpu-limit", "300m"), 0, scene.out + scene.err);
  await assertSentences([[
    "new original limit",
    () => scene.out,
    "shop/web  app 450m → 300m: the new original limit; the market goes on with app at 450m\n",
  ]]);
  await pass(10_000);
  assert.equal(allocation("web")?.status?.originalLimits?.[0]?.cpu, "300m");
  assert.deepEqual(limits("web"), { wanted: 450, applied: 450 });
});
