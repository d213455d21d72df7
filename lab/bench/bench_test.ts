import { InvalidArgumentError } from "commander";
import assert from "node:assert/strict";
import { seededRandom, standardNormal } from "../../shared/random.ts";
import {
  type Baseline,
  type DoneKill,
  endFaults,
  endsWithoutKill,
  limitFaults,
  notCarried,
  otherWriters,
  type PodChange,
} from "./chaos/promises.ts";
import { drawPlan, TARGETS } from "./chaos/plan.ts";
import { parseAudit, type ResizeAnswer } from "./audit_log.ts";
import { newPod } from "../../tests/faults/cluster/cluster_load.ts";
import { type ContainerFields, withFields } from "../../tests/fixtures/container_fields.ts";
import type { Pod } from "../../shared/api/pod.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { PROGRAM_ENVIRONMENT, V8_FLAGS } from "../../tools/build/programs.ts";
import { wholeNumber, wholeNumberFrom } from "./bench.ts";
import { blockMeans, quantile, slopeOf } from "../simulation/statistics.ts";
import { ownScenes, playOptions, shippedScenes } from "./backtest/scenes.ts";
import { neighbourFigures, type NeighbourLook } from "./neighbour/report.ts";
import { reactionGoals, reactionOf } from "./reaction/report.ts";
import {
  type AppResult,
  APPS,
  BURST_S,
  burstTurns,
  mediansOf,
  TURN_S,
} from "./real_apps/app_result.ts";
import { parseAttack, requestFigures } from "./real_apps/load.ts";

pure("wholeNumber() refuses all but whole numbers from 1 on", () => {
  assert.equal(wholeNumber("12"), 12);
  for (const text of ["0", "-1", "1.5", "", "x", "1".repeat(20)]) {
    assert.throws(() => wholeNumber(text), InvalidArgumentError, text);
  }
  assert.equal(wholeNumberFrom(3)("3"), 3);
  assert.throws(() => wholeNumberFrom(3)("2"), /from 3/);
});

pure("slopeOf() has slope and error of a textbook's example, and refuses two samples", () => {
  // x = 1..5, y = 2, 4, 5, 4, 5: b = 6 / 10, residuals' squares 2.4, error sqrt(2.4 / 3 / 10).
  const { perUnit, error } = slopeOf([[1, 2], [2, 4], [3, 5], [4, 4], [5, 5]]);
  assert.ok(Math.abs(perUnit - 0.6) < 1e-12, `${perUnit}`);
  assert.ok(Math.abs(error - Math.sqrt(0.08)) < 1e-12, `${error}`);
  assert.throws(() => slopeOf([[0, 1], [1, 1]]), RangeError);
  assert.deepEqual(slopeOf([[0, 7], [1, 7], [2, 7]]), { perUnit: 0, error: 0 });
});

pure("blockMeans() keeps the slope's error true where neighbouring samples are alike", () => {
  assert.deepEqual(blockMeans([[0, 1], [1, 3], [2, 5], [3, 7]], 2), [[0.5, 2], [2.5, 6]]);
  assert.deepEqual(blockMeans([[0, 1], [1, 3]], 10), [[0, 1], [1, 3]]);
  const random = seededRandom(2);
  let [alone, inBlocks] = [0, 0];
  for (let run = 0; run < 400; run++) {
    let noise = 0;
    const samples = Array.from({ length: 240 }, (_, i) => {
      noise = 0.8 * noise + standardNormal(random);
      return [i, noise] as const;
    });
    const isHeld = ({ perUnit, error }: ReturnType<typeof slopeOf>): boolean =>
      Math.abs(perUnit) <= 2 * error;
    if (isHeld(slopeOf(samples))) alone++;
    if (isHeld(slopeOf(blockMeans(samples, 10)))) inBlocks++;
  }
  assert.ok(alone < 240 && inBlocks > 330, `${alone}, ${inBlocks} of 400`);
});

const CONFIG = new URL("../../deno.json", import.meta.url);

Deno.test({
  name: "bench:rightsizing runs with the memory settings that the controller is shipped with",
  permissions: { read: [CONFIG] },
  async fn() {
    const { tasks } = JSON.parse(await Deno.readTextFile(CONFIG));
    const { command }: { readonly command: string } = tasks["bench:rightsizing"];
    assert.ok(command.includes(`${V8_FLAGS},--expose-gc `), command);
    const environment = Object.entries(PROGRAM_ENVIRONMENT).map(([name, value]) =>
      `${name}=${value}`
    );
    assert.ok(command.startsWith(`${environment.join(" ")} deno run `), command);
  },
});

const FIGURES = { requests: 200, failed: 1, late: 20, p50Ms: 2, quietP99Ms: 10 };

pure("mediansOf() takes them over an algorithm's runs", () => {
  const results = [100, 400, 200, 50].map((p99Ms, run): AppResult => {
    const phases = { alone: { ...FIGURES, p99Ms }, neighbour: { ...FIGURES, p99Ms: 2 * p99Ms } };
    return {
      ...{ algorithm: run === 3 ? "none" : "fixed", seed: run, minutes: 3, neighbourUsed: 900 },
      ...{ kernel: "6.18", versions: {} },
      apps: APPS.map(({ name }) => ({ name, phases })),
    };
  });
  const fixed = mediansOf(results).filter((one) =>
    one.algorithm === "fixed" && one.app === "redis"
  );
  assert.deepEqual(
    fixed.map(({ phase, runs, figures }) => [phase, runs, figures.p99Ms]),
    [["alone", 3, 200], ["neighbour", 3, 400]],
  );
});

Deno.test("requestFigures() counts a refused request as one that never got its answer", () => {
  const sent = Array.from({ length: 100 }, (_, atMs) => ({ atMs, latencyMs: 5, failed: false }));
  const figures = requestFigures([
    ...sent,
    { atMs: 100, latencyMs: 1500, failed: false },
    { atMs: 101, latencyMs: 0.1, failed: true },
  ], (atMs) => atMs >= 100);
  assert.deepEqual(
    [figures.requests, figures.failed, figures.late, figures.p50Ms, figures.quietP99Ms],
    [102, 1, 1, 5, 5],
  );
  assert.ok(figures.p99Ms > 1000);
});

Deno.test("burstTurns() gives each app its turn in each round of each half, the same for one seed", () => {
  const bursts = burstTurns({ seed: 7, minutes: 3 });
  assert.equal(bursts.length, 12);
  for (const first of [0, 3, 6, 9]) {
    const round = bursts.slice(first, first + 3).map(({ app }) => app);
    assert.deepEqual(round.sort(), ["deno", "nginx", "redis"]);
  }
  for (const [turn, { atS }] of bursts.entries()) {
    const inTurnS = atS - turn * TURN_S;
    assert.ok(inTurnS >= 0 && inTurnS + BURST_S < TURN_S, `${inTurnS} s`);
  }
  const [one, other] = [3, 4].map((seed) => burstTurns({ seed, minutes: 2 }));
  assert.deepEqual(burstTurns({ seed: 3, minutes: 2 }), one);
  assert.notDeepEqual(other, one);
  assert.deepEqual(one?.map(({ atS }) => atS >= 60), [false, false, false, true, true, true]);
});

/** As vegeta writes it: sent, code, latency, bytes out and in, error, body, attack, number, … */
function row(sentNs: number, { code = 200, latencyNs = 2e6, number = 0, error = "" }): string {
  return [sentNs, code, latencyNs, 0, 0, error, "", "", number, "GET", "http://h/", "aGVhZA=="]
    .join(",");
}

Deno.test("parseAttack() counts latency from when a request was to be sent", () => {
  const csv = [
    row(1_000_000_000, {}),
    // 10 ms a request: this one went out 25 ms late, and the last 5 ms.
    row(1_035_000_000, { number: 1 }),
    row(1_025_000_000, {
      number: 2,
      code: 0,
      latencyNs: 1e6,
      error: '"Get ""http://h/"": refused"',
    }),
  ].join("\n");
  assert.deepEqual(parseAttack(`${csv}\n`, { rate: 100 }), [
    { atMs: 1000, latencyMs: 2, failed: false },
    { atMs: 1010, latencyMs: 27, failed: false },
    { atMs: 1020, latencyMs: 6, failed: true },
  ]);
});

Deno.test("parseAttack() refuses another line, and takes a first request that is late", () => {
  assert.throws(() => parseAttack("Requests [total]\n", { rate: 1 }), { name: "SyntaxError" });
  const csv = [row(1_030_000_000, {}), row(1_010_000_000, { number: 1 })].join("\n");
  const latencies = parseAttack(csv, { rate: 100 }).map(({ latencyMs }) => latencyMs);
  assert.deepEqual(latencies, [32, 2]);
});

const TIMES = { intervalMinutes: 60, warmUpHours: 24 };

Deno.test({
  name: "shippedScenes() plays production histories as CPU and as memory, scaled to one size",
  permissions: { read: [new URL("../simulation/traces/", import.meta.url)] },
  async fn() {
    const scenes = await shippedScenes();
    assert.deepEqual(
      scenes.map((scene) => [scene.resource, playOptions(scene, TIMES).limitFactor]),
      [["cpu", undefined], ["cpu", 1], ["memory", 1.1]],
    );
    for (const { histories, resource } of scenes) {
      assert.equal(histories.length, 6);
      for (const { values } of histories) {
        const p95 = quantile(values, 0.95) / (resource === "cpu" ? 1000 : 2 ** 30);
        assert.ok(Math.abs(p95 - 1) < 1e-9, `${p95}`);
      }
    }
  },
});

Deno.test({
  name: "ownScenes() plays a user's file as it is, as what it is said to be",
  async fn() {
    const path = await Deno.makeTempFile();
    try {
      await Deno.writeTextFile(path, "0,0.5\n60,0.25\n");
      const cpu = await ownScenes(path, "cpu");
      assert.deepEqual(cpu.map(({ limitFactor }) => limitFactor), [undefined, 1]);
      assert.deepEqual([...(cpu[0]?.histories[0]?.values ?? [])], [500, 250]);
      await Deno.writeTextFile(path, `0,${2 ** 31}\n60,${2 ** 32}\n`);
      const memory = await ownScenes(path, "memory");
      assert.deepEqual(memory.map(({ limitFactor }) => limitFactor), [1.1]);
      assert.deepEqual([...(memory[0]?.histories[0]?.values ?? [])], [2 ** 31, 2 ** 32]);
      await assert.rejects(ownScenes(path, "cpu"), /timestamp.*from 0 to 1e9/);
    } finally {
      await Deno.remove(path);
    }
  },
});

pure("reactionOf() and its goals count a missed burst as long as it lasted", () => {
  const rows: readonly [answeredMs: number[], missed: number, at: number[], held: boolean[]][] = [
    [[280, 300, 500], 0, [300, 480], [true, true, true]],
    [[280], 2, [10_000, 10_000], [false, false, false]],
    [[450], 0, [450, 450], [true, true, true]],
    // However good the others are.
    [Array(49).fill(200), 1, [200, 200], [true, true, false]],
    [[], 0, [NaN, NaN], [false, false, true]],
  ];
  for (const [answeredMs, missed, at, held] of rows) {
    const reaction = reactionOf(answeredMs, { missed, timeoutMs: 10_000 });
    assert.deepEqual([reaction.medianMs, reaction.p95Ms], at);
    assert.deepEqual(reactionGoals(reaction, missed).map((goal) => goal.held), held);
  }
});

/** A look each second from -10 s: three services, of which the first gets more until 7 s. */
function looksOf(quotaAt: (s: number) => number): NeighbourLook[] {
  const services = [0, 0, 0];
  let neighbour = 0;
  return Array.from({ length: 41 }, (_, i) => {
    const s = i - 10;
    const look = { at: 1000 * s, services: [...services], neighbour, quota: quotaAt(s) };
    const rates = s < 0 ? [500, 500, 500] : s < 7 ? [300, 200, 200] : [300, 300, 300];
    rates.forEach((rate, k) => services[k] = (services[k] ?? 0) + rate);
    neighbour += s < 0 ? 0 : s < 7 ? 1000 : 800;
    return look;
  });
}

pure(
  "neighbourFigures() has Jain's index by window and in all, and when the neighbour rests",
  () => {
    const { windows, jain, ...rest } = neighbourFigures(looksOf((s) => s < 6 ? 2000 : 800));
    assert.deepEqual(rest, { restsAfterS: 6, quota: 800 });
    assert.equal(windows.length, 6);
    assert.equal(windows[0]?.jain.toFixed(4), "0.9608");
    assert.equal(jain.toFixed(5), "0.99984");
    assert.equal(windows[5]?.neighbour, 800);
  },
);

const BASELINE: Baseline = {
  limits: new Map([["app", 300]]),
  qosClass: "Burstable",
  managed: true,
};

function podWith(container: ContainerFields): Pod {
  const load = { node: "n", request: 100, limit: 300, priority: 0, threads: 1, load: [] };
  const pod = newPod({ namespace: "shop", name: "web", ...load });
  return { ...pod, containers: pod.containers.map((one) => withFields(one, container)) };
}

function promises(container: ContainerFields, rest: Partial<PodChange> = {}): string[] {
  const change = { pod: podWith(container), baseline: BASELINE, optedOut: false, ...rest };
  return limitFaults(change).map(({ promise }) => promise);
}

const RAISED = { requests: {}, limits: { cpu: 900 }, limitManagers: ["mbcas/300m"] };

pure("limitFaults() reports each broken promise by its name, and passes limits within them", () => {
  for (const cpu of [100, 300, 2400]) {
    assert.deepEqual(promises({ ...RAISED, limits: { cpu } }), []);
  }
  assert.deepEqual(promises({ limits: { cpu: 99 } }), ["LimitBelowRequest"]);
  assert.deepEqual(promises({ limits: { cpu: 2401 } }), ["Ceiling"]);
  const unmanaged = { ...BASELINE, managed: false };
  assert.deepEqual(promises(RAISED, { baseline: unmanaged }), ["Unmanaged"]);
  assert.deepEqual(promises({}, { pod: { ...podWith({}), qosClass: "BestEffort" } }), ["QoS"]);
  const guaranteed = { requests: { memory: 1 }, limits: { cpu: 100, memory: 1 } };
  assert.deepEqual(promises(guaranteed), ["QoS"]);
});

pure("limitFaults() refuses another limit of the market's after the opt-out alone", () => {
  const optedOut = { optedOut: true, previous: podWith({ limits: { cpu: 300 } }) };
  assert.deepEqual(promises(RAISED, optedOut), ["OptedOut"]);
  assert.deepEqual(promises(RAISED, { ...optedOut, previous: podWith(RAISED) }), []);
  const original = { limits: { cpu: 300 } };
  assert.deepEqual(promises(original, { ...optedOut, previous: podWith(RAISED) }), []);
});

pure("notCarried() names the containers without an original limit in the pod", () => {
  for (const limitManagers of [["mbcas"], ["mbcas/200m"]]) {
    assert.deepEqual(notCarried(podWith({ ...RAISED, limitManagers }), BASELINE), ["app"]);
  }
  for (const one of [{}, RAISED]) assert.deepEqual(notCarried(podWith(one), BASELINE), []);
});

const TERMS = [{ pod: "c-1", sinceMs: 1000 }, { pod: "c-2", sinceMs: 20_000 }];

function answer(writer: string, atMs: number, code = 200): ResizeAnswer {
  const event = {
    requestReceivedTimestamp: new Date(atMs).toISOString(),
    user: { username: "sa", extra: { "authentication.kubernetes.io/pod-name": [writer] } },
    objectRef: { namespace: "shop", name: "web" },
    responseStatus: { code },
  };
  const [parsed] = parseAudit(`${JSON.stringify(event)}\n`);
  assert.ok(parsed !== undefined);
  return parsed;
}

pure("otherWriters() finds resizes of pods that did not hold the Lease", () => {
  const late = answer("c-1", 21_000);
  const found = otherWriters([answer("c-1", 15_000), late, answer("c-2", 21_000)], TERMS);
  assert.deepEqual(found.map(({ promise }) => promise), ["OneLeader"]);
  assert.match(found[0]?.message ?? "", /c-1 resized shop\/web .* while c-2 leads/);
  assert.equal(otherWriters([answer("c-2", 15_000)], TERMS).length, 1, "too early");
});

pure("otherWriters() passes refusals, a request under way at the change, and other users", () => {
  const answers = [answer("c-1", 21_000, 409), answer("c-1", 20_400), answer("", 21_000)];
  assert.deepEqual(otherWriters(answers, TERMS), []);
});

pure("endFaults() finds ends without a cause, and passes kills and a lost Lease", () => {
  const kills: DoneKill[] = [
    { target: "agent", pod: "mbcas-agent-1", killedMs: 10_400 },
    { target: "etcd", killedMs: 20_000 },
  ];
  const end = { pod: "mbcas-agent-1", atMs: 10_000, reason: "Error", exitCode: 137 };
  const lostLease = { ...end, pod: "mbcas-controller-1", atMs: 35_000, exitCode: 1 };
  assert.deepEqual(endFaults([end, lostLease], kills), []);
  assert.deepEqual(endsWithoutKill([end, lostLease], kills), [lostLease]);
  const faulty = [
    { ...lostLease, pod: "mbcas-agent-1" },
    { ...lostLease, atMs: 90_000 },
    { ...lostLease, exitCode: 137, reason: "OOMKilled" },
    { ...end, pod: "mbcas-agent-2" },
  ];
  assert.equal(endFaults(faulty, kills).length, 4);
});

pure("drawPlan() kills each target once in each round, 8 to 24 s apart, for 1 to 10 s", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const kills = drawPlan(seed, 600_000).filter((step) => step.kind === "kill");
    assert.ok(kills.length >= 24, `${kills.length} kills`);
    for (let i = 0; i + 6 <= kills.length; i += 6) {
      const round = kills.slice(i, i + 6).map(({ target }) => target);
      assert.deepEqual(round.toSorted(), TARGETS.toSorted());
    }
    kills.forEach(({ atMs, downMs }, i) => {
      const gap = atMs - (kills[i - 1]?.atMs ?? 0);
      assert.ok(gap >= 7999 && gap <= 24_001, `${gap} ms`);
      assert.ok(downMs >= 1000 && downMs <= 10_000, `${downMs} ms`);
    });
  }
});

pure("drawPlan() is in the order of time, ends in time, and opts out and in by turns", () => {
  const steps = drawPlan(3, 600_000);
  assert.deepEqual(drawPlan(3, 600_000), steps);
  assert.notDeepEqual(drawPlan(4, 600_000), steps);
  const times = steps.map(({ atMs }) => atMs);
  assert.deepEqual(times, times.toSorted((a, b) => a - b));
  assert.ok((times.at(-1) ?? 0) < 600_000);
  const switches = steps.map(({ kind }) => kind).filter((kind) => kind.startsWith("opt"));
  assert.deepEqual(switches, switches.map((_, index) => index % 2 === 0 ? "optOut" : "optIn"));
  assert.ok(switches.length >= 5);
});
