import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import type { LimitChange } from "../../shared/resize/patch.ts";
import { sampleContainer, samplePod } from "../../tests/contract/support/sample_objects.ts";
import type { PodResizer } from "./ports.ts";
import { sendChanges, type SentChanges } from "./send_changes.ts";

const FULL = new ApiError(403, "Forbidden", "exceeded quota");

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

function change(name: string, limitCPU: number): LimitChange {
  return { name, sidecar: false, requests: {}, limits: { cpu: limitCPU } };
}

/** Two containers at 300 m with original limits of 200 m; requests are noted as `manager version names`. */
async function send(
  changes: readonly LimitChange[],
  answers: readonly (string | Error)[],
): Promise<{ readonly sent: SentChanges<LimitChange>; readonly requests: readonly string[] }> {
  const containers = ["app", "jvm"].map((name) => sampleContainer({ name, limits: { cpu: 300 } }));
  const requests: string[] = [];
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
    { pod, source: "market", changes, originals: new Map([["app", 200], ["jvm", 200]]) },
    { resizer },
  );
  return { sent, requests };
}

test("sendChanges() sends one patch where all values are the market's, or the user's own", async () => {
  const market = [change("app", 400), change("jvm", 250)];
  assert.deepEqual(await send(market, ["8"]), {
    sent: { changes: market, version: "8" },
    requests: ["mbcas/200m,200m 1 app+jvm"],
  });
  const own = [change("app", 200), change("jvm", 200)];
  assert.deepEqual((await send(own, ["8"])).requests, ["mbcas-restore 1 app+jvm"]);
});

test("sendChanges() keeps own values apart, and sends first what sets CPU free", async () => {
  const mixed = [change("app", 200), change("jvm", 400)];
  const { sent, requests } = await send(mixed, ["8", "9"]);
  assert.deepEqual(requests, ["mbcas-restore 1 app", "mbcas/200m,200m 8 jvm"]);
  assert.deepEqual(sent, { changes: mixed, version: "9" });
  const lower = [change("app", 200), change("jvm", 100)];
  assert.deepEqual((await send(lower, ["8", "9"])).requests, [
    "mbcas/200m,200m 1 jvm",
    "mbcas-restore 8 app",
  ]);
});

test("sendChanges() ends with a refusal, and says what was taken before", async () => {
  const mixed = [change("app", 200), change("jvm", 400)];
  assert.deepEqual((await send(mixed, [FULL])).sent, { changes: [], refusal: FULL });
  const half = await send(mixed, ["8", FULL]);
  assert.deepEqual(half.sent, { changes: [change("app", 200)], version: "8", refusal: FULL });
  await assert.rejects(send(mixed, [new TypeError("a bug")]), /a bug/);
});
