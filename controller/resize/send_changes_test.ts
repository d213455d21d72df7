import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import { silentLog } from "../../shared/log.ts";
import type { ClaimSource, LimitChange } from "../../shared/resize/patch.ts";
import { sampleContainer, samplePod } from "../../tests/contract/support/sample_objects.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import type { PodResizer } from "./ports.ts";
import {
  describeLimits,
  type ResizeAnswer,
  sendChanges,
  type SentChanges,
} from "./send_changes.ts";

const FULL = new ApiError(403, "Forbidden", "exceeded quota");

function change(name: string, limitCPU: number): LimitChange {
  return { name, sidecar: false, requests: {}, limits: { cpu: limitCPU } };
}

/** Two containers at 300 m with original limits of 200 m; requests are noted as `manager version names`. */
async function send(
  changes: readonly LimitChange[],
  answers: readonly (string | Error)[],
  source: ClaimSource = "market",
): Promise<{
  readonly sent: SentChanges<LimitChange>;
  readonly requests: readonly string[];
  /** Answers as they are counted, and changes as they are logged. */
  readonly reported: readonly unknown[];
}> {
  const containers = ["app", "jvm"].map((name) => sampleContainer({ name, limits: { cpu: 300 } }));
  const requests: string[] = [];
  const reported: unknown[] = [];
  const reason = source === "rightsizing" ? "OptimizationApplied" : "Throttled";
  const resizer: PodResizer = {
    resize(_namespace, _name, { metadata, spec }, { manager = "" } = {}) {
      const answer = answers[requests.length] ?? "";
      const names = spec.containers?.map(({ name }) => name).join("+");
      requests.push(`${manager} ${metadata.resourceVersion} ${names}`);
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
  };
  const sample = samplePod("web", { containers });
  const pod = { ...sample, metadata: { ...sample.metadata, resourceVersion: "1" } };
  const sent = await sendChanges(
    { pod, source, reason, changes, originals: new Map([["app", 200], ["jvm", 200]]) },
    {
      resizer,
      log: { ...silentLog, info: (message, fields) => void reported.push([message, fields]) },
      observer: { resized: (answer) => void reported.push(answer) },
    },
  );
  return { sent, requests, reported };
}

pure(
  "sendChanges() sends one patch where all values are the market's, or the user's own",
  async () => {
    const market = [change("app", 400), change("jvm", 250)];
    const { sent, requests } = await send(market, ["8"]);
    assert.partialDeepStrictEqual(sent, { changes: market, version: "8" });
    assert.deepEqual(requests, ["mbcas/200m,200m 1 app+jvm"]);
    const own = [change("app", 200), change("jvm", 200)];
    assert.deepEqual((await send(own, ["8"])).requests, ["mbcas-restore 1 app+jvm"]);
  },
);

pure("sendChanges() keeps own values apart, and sends first what sets CPU free", async () => {
  const mixed = [change("app", 200), change("jvm", 400)];
  const { sent, requests } = await send(mixed, ["8", "9"]);
  assert.deepEqual(requests, ["mbcas-restore 1 app", "mbcas/200m,200m 8 jvm"]);
  assert.deepEqual(sent, { changes: mixed, version: "9", refusal: undefined });
  const lower = [change("app", 200), change("jvm", 100)];
  assert.deepEqual((await send(lower, ["8", "9"])).requests, [
    "mbcas/200m,200m 1 jvm",
    "mbcas-restore 8 app",
  ]);
});

pure("sendChanges() ends with a refusal, and says what was taken before", async () => {
  const mixed = [change("app", 200), change("jvm", 400)];
  assert.deepEqual((await send(mixed, [FULL])).sent, {
    changes: [],
    version: undefined,
    refusal: FULL,
  });
  const half = await send(mixed, ["8", FULL]);
  assert.deepEqual(half.sent, { changes: [change("app", 200)], version: "8", refusal: FULL });
  await assert.rejects(send(mixed, [new TypeError("a bug")]), /a bug/);
});

pure(
  "sendChanges() logs each accepted change, whatever its source, and counts each answer",
  async () => {
    const logged = (message: string, change: string, reason: string) => [
      ...[message, { pod: "shop/web", change, reason }],
    ];
    const answered = (outcome: ResizeAnswer["outcome"], reason: string, restoring = false) => ({
      ...{ outcome, reason, restoring },
    });
    const changed = logged("CPU limit changed", "app 300m → 400m", "Throttled");
    const resized = logged("Pod resources changed", "app cpu limit 400m", "OptimizationApplied");
    const failed = (status: number) => new ApiError(status, "", "no");
    const table: readonly (readonly [ClaimSource, string | Error, readonly unknown[]])[] = [
      ["market", "8", [changed, answered("accepted", "Throttled")]],
      ["restore", "8", [changed, answered("accepted", "Throttled", true)]],
      ["rightsizing", "8", [resized, answered("accepted", "OptimizationApplied")]],
      ["market", FULL, [answered("refused", "QuotaExceeded")]],
      ["restore", FULL, [answered("refused", "RestoreBlocked", true)]],
      ["rightsizing", FULL, [answered("refused", "QuotaExceeded")]],
      ["market", failed(503), [answered("busy", "Throttled")]],
      ["market", failed(409), [answered("conflict", "Throttled")]],
      ["market", failed(404), [answered("gone", "Throttled")]],
    ];
    for (const [source, answer, expected] of table) {
      assert.deepEqual((await send([change("app", 400)], [answer], source)).reported, expected);
    }
  },
);

pure("describeLimits() names each container with its limit before and after", () => {
  const pod = samplePod("web", {
    containers: [sampleContainer(), sampleContainer({ name: "proxy", limits: { cpu: 50 } })],
  });
  const changes = [change("app", 450), change("proxy", 40)];
  assert.equal(describeLimits(pod, changes), "app 200m → 450m, proxy 50m → 40m");
  const moved = changes.map((one) => ({
    ...one,
    requests: { ...one.requests, cpu: one.limits.cpu },
  }));
  assert.equal(
    describeLimits(pod, moved),
    "app 200m → 450m, proxy 50m → 40m (request and limit)",
  );
});
