import assert from "node:assert/strict";
import type { Pod, PodContainer } from "../../../shared/api/pod.ts";
import { sampleContainer, samplePod } from "../../../tests/contract/support/sample_objects.ts";
import { bidFacts, FACTS_NOW_MS } from "../../../tests/fixtures/market/bid_facts.ts";
import { readiness } from "./readiness.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function said(containers: readonly PodContainer[], change: Partial<Pod> = {}) {
  const facts = bidFacts(samplePod("web", { containers }));
  return readiness({ ...facts, pod: { ...facts.pod, ...change } });
}

function restarted(agoMs: number, name = "app"): PodContainer {
  return sampleContainer({ name, restartedAtMs: FACTS_NOW_MS - agoMs });
}

test("readiness() says nothing of a Ready pod that never restarted", () => {
  assert.deepEqual(said([sampleContainer()]), []);
});

test("readiness() lowers nothing of a pod that is not Ready", () => {
  const [{ reason, held } = {}, ...more] = said([sampleContainer()], { ready: false });
  assert.deepEqual([reason, held, more], ["PodNotReady", "lower", []]);
});

test("readiness() lowers nothing for five minutes after a restart, and says when they end", () => {
  const [{ message = "", ...effect } = {}, ...more] = said([restarted(1000)]);
  assert.deepEqual([effect, more], [
    { reason: "RecentRestart", held: "lower", untilMs: FACTS_NOW_MS + 299_000 },
    [],
  ]);
  assert.match(message, /app.*5 min/);
  assert.equal(said([restarted(299_999)])[0]?.untilMs, FACTS_NOW_MS + 1);
  assert.deepEqual(said([restarted(300_000)]), []);
});

test("readiness() reckons from the last of several restarts, and names all that count", () => {
  const [effect] = said([
    restarted(400_000, "old"),
    restarted(200_000, "a"),
    restarted(90_000, "b"),
  ]);
  assert.match(effect?.message ?? "", /^a, b /);
  assert.equal(effect?.untilMs, FACTS_NOW_MS + 210_000);
});

test("readiness() takes a restart that this clock has not reached yet for a fresh one", () => {
  assert.equal(said([restarted(-2000)])[0]?.untilMs, FACTS_NOW_MS + 302_000);
});

test("readiness() lowers nothing of a pod that crashes again and again, and says all that is wrong", () => {
  const looping = { ...restarted(60_000, "b"), crashLooping: true } as const;
  const effects = said([sampleContainer(), looping], { ready: false });
  assert.deepEqual(effects.map(({ reason, held }) => [reason, held]), [
    ["CrashLoopBackOff", "lower"],
    ["RecentRestart", "lower"],
    ["PodNotReady", "lower"],
  ]);
  assert.match(effects[0]?.message ?? "", /^b /);
});

test("readiness() heeds sidecars as it does other containers", () => {
  const proxy = sampleContainer({ name: "proxy", sidecar: true, crashLooping: true });
  const effects = said([sampleContainer(), proxy]);
  assert.deepEqual(effects.map(({ reason }) => reason), ["CrashLoopBackOff"]);
  assert.match(effects[0]?.message ?? "", /proxy/);
});
