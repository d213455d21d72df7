import assert from "node:assert/strict";
import fc from "fast-check";
import type { Pod } from "../../../shared/api/pod.ts";
import { sampleContainer, samplePod } from "../../../tests/contract/support/sample_objects.ts";
import { bidFacts, FACTS_NOW_MS } from "../../../tests/fixtures/market/bid_facts.ts";
import { parseStartupBoost, startupBoost } from "./startup_boost.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("parseStartupBoost() reads a factor and the time after Ready", () => {
  assert.deepEqual(parseStartupBoost("2x,30s"), { factor: 2, holdMs: 30_000 });
  assert.deepEqual(parseStartupBoost(" 1.5x , 2m "), { factor: 1.5, holdMs: 120_000 });
  assert.deepEqual(parseStartupBoost("10x,10m"), { factor: 10, holdMs: 600_000 });
  assert.deepEqual(parseStartupBoost("3x"), { factor: 3, holdMs: 0 });
  assert.deepEqual(parseStartupBoost("3x,500ms"), { factor: 3, holdMs: 500 });
});

test("parseStartupBoost() takes nothing that would not boost, not end, or can't be read", () => {
  const bad = [
    ...["", "x", "2", "2x,", ",30s", "2x 30s", "2x,30", "2x,30s,1x", "-2x,30s", "2x,-30s"],
    ...["1x,30s", "0.5x", "10.1x", "11x,1s", "2x,601s", "2x,11m", "2x,1h", "2X,30s", "2,5x,30s"],
    ...["Infinityx,1s", "NaNx", "2e3x", "0x2x", "٢x", "2x\n,30s;rm"],
  ];
  for (const text of bad) assert.equal(parseStartupBoost(text), undefined, text);
});

test("parseStartupBoost() never throws, and never gives more than it may", () => {
  const likely = fc.tuple(fc.float({ min: 0, max: 20, noNaN: true }), fc.nat(1200), fc.string())
    .map(([factor, hold, more]) => `${factor}x,${hold}s${more}`);
  fc.assert(fc.property(fc.oneof(fc.string(), likely), (text) => {
    const { factor, holdMs } = parseStartupBoost(text) ?? { factor: 2, holdMs: 0 };
    assert.ok(factor > 1 && factor <= 10);
    assert.ok(holdMs >= 0 && holdMs <= 600_000);
  }));
});

const boost = startupBoost({ factor: 2, holdMs: 30_000 });

function said(change: Partial<Pod>) {
  const facts = bidFacts(samplePod("web"));
  return boost({ ...facts, pod: { ...facts.pod, ...change } });
}

function readyFor(ms: number): Partial<Pod> {
  return { ready: true, readySinceMs: FACTS_NOW_MS - ms };
}

test("startupBoost() boosts ceilings until the hold after Ready is over, and says when", () => {
  const [{ message = "", ...effect } = {}, ...more] = said(readyFor(10_000));
  assert.deepEqual([effect, more], [
    { reason: "StartupBoost", boost: 2, untilMs: FACTS_NOW_MS + 20_000 },
    [],
  ]);
  assert.match(message, /× 2 .* 30 s /);
  assert.equal(said(readyFor(29_999)).length, 1);
  assert.deepEqual(said(readyFor(30_000)), []);
});

/** Containers that were started so long ago, ms; undefined: they don't run. */
function startedFor(...times: readonly (number | undefined)[]): Pick<Pod, "containers"> {
  return {
    containers: times.map((ms, index) =>
      sampleContainer({
        name: `c${index}`,
        ...(ms === undefined ? {} : { startedAtMs: FACTS_NOW_MS - ms }),
      })
    ),
  };
}

test("startupBoost() boosts a pod that is not Ready, for ten minutes from its start at most", () => {
  const unready = (ms: number) => said({ ready: false, ...startedFor(ms) });
  assert.equal(unready(0)[0]?.untilMs, FACTS_NOW_MS + 600_000);
  assert.equal(unready(599_999)[0]?.boost, 2);
  assert.deepEqual(unready(600_000), []);
});

test("startupBoost() boosts a pod of which no container runs yet", () => {
  assert.equal(said({ ready: false, ...startedFor(undefined) })[0]?.boost, 2);
});

test("startupBoost() begins no second time for a pod that loses its readiness, or has it back", () => {
  const old = startedFor(3_600_000);
  assert.deepEqual(said({ ready: false, ...old }), []);
  assert.deepEqual(said({ ...readyFor(1000), ...old }), []);
});

test("startupBoost() takes a pod that loses its readiness in its first ten minutes for one that starts", () => {
  const young = startedFor(300_000);
  assert.equal(said({ ready: false, ...young })[0]?.untilMs, FACTS_NOW_MS + 300_000);
  assert.equal(said({ ...readyFor(1000), ...young })[0]?.untilMs, FACTS_NOW_MS + 29_000);
});

test("startupBoost() ends for a pod that crashes again and again, running or waiting", () => {
  const crashed = (takenOnMs: number, ...running: readonly { startedAtMs: number }[]) => {
    const [state = {}] = running;
    const app = sampleContainer({ ...state, restartedAtMs: FACTS_NOW_MS - 1000 });
    return said({ ready: false, startedAtMs: FACTS_NOW_MS - takenOnMs, containers: [app] });
  };
  const running = { startedAtMs: FACTS_NOW_MS - 1000 };
  assert.equal(crashed(599_999)[0]?.untilMs, FACTS_NOW_MS + 1);
  assert.equal(crashed(599_999, running)[0]?.untilMs, FACTS_NOW_MS + 1);
  assert.deepEqual(crashed(600_000), []);
  assert.deepEqual(crashed(600_000, running), []);
});

test("startupBoost() waits for images: a pod that was taken on long ago may start now", () => {
  const old = { startedAtMs: FACTS_NOW_MS - 3_600_000, ready: false };
  assert.equal(said({ ...old, ...startedFor(1000) })[0]?.untilMs, FACTS_NOW_MS + 599_000);
});

test("startupBoost() goes by the container that has run for longest", () => {
  assert.deepEqual(said({ ready: false, ...startedFor(3_600_000, 1000, undefined) }), []);
  assert.equal(said({ ready: false, ...startedFor(5000, 1000, undefined) })[0]?.boost, 2);
});

test("startupBoost() ends where the time of readiness is unknown", () => {
  const { readySinceMs: _since, ...pod } = bidFacts(samplePod("web")).pod;
  assert.deepEqual(boost({ ...bidFacts(pod), pod }), []);
});

test("startupBoost() without a hold ends when the pod is Ready", () => {
  const bare = startupBoost({ factor: 2, holdMs: 0 });
  const facts = bidFacts(samplePod("web"));
  assert.equal(bare({ ...facts, pod: { ...facts.pod, ready: false } }).length, 1);
  assert.deepEqual(bare({ ...facts, pod: { ...facts.pod, ...readyFor(0) } }), []);
});
