import assert from "node:assert/strict";
import { createVirtualClock } from "../../../simulation/virtual_clock.ts";
import type { UsageAnswer, UsageQuestion } from "../ports.ts";
import { createBoundedUsage } from "./bounded_usage.ts";

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

const NEVER = new AbortController().signal;
const MOST_MS = 300_000;
const GOOD: UsageAnswer = { usage: new Map() };
const DOWN: UsageAnswer = { problem: "unreachable", message: "nothing came for 30000 ms" };

function question(name: string): UsageQuestion {
  return {
    namespace: "shop",
    workload: { kind: "Deployment", name, uid: name },
    pods: [],
    otherPods: [],
    containers: [],
    window: { fromMs: 0, toMs: 1 },
  };
}

/** A source that takes as long as it is told, by workload, and others forever. */
function stage(takes: Readonly<Record<string, readonly [ms: number, answer: UsageAnswer]>>) {
  const clock = createVirtualClock({ wallStart: 0 });
  const times = new Map(Object.entries(takes));
  const asked: string[] = [];
  const calledOff: string[] = [];
  const took: number[] = [];
  const source = createBoundedUsage({
    async usage({ workload: { name } }, signal) {
      asked.push(name);
      signal.addEventListener("abort", () => calledOff.push(name), { once: true });
      const [ms, answer] = times.get(name) ?? [Infinity, GOOD];
      if (ms === Infinity) return await new Promise<UsageAnswer>(() => {});
      await clock.sleep(ms);
      return answer;
    },
  }, { clock, answered: (ms) => void took.push(ms) });
  const answers = new Map<string, UsageAnswer>();
  const ask = (name: string, signal = NEVER): void =>
    void source.usage(question(name), signal).then((answer) => answers.set(name, answer));
  const pass = (ms: number): Promise<void> => clock.runUntil(clock.monotonic() + ms);
  return { times, asked, calledOff, took, answers, ask, pass };
}

/** Given up after so many seconds. */
function assertLate(answer: UsageAnswer | undefined, seconds: number): void {
  assert.ok(answer !== undefined && "problem" in answer && answer.problem === "unreachable");
  assert.match(answer.message, new RegExp(` ${seconds} s$`));
}

test("createBoundedUsage() gives up a source that never answers, and calls its question off", async () => {
  const { calledOff, took, answers, ask, pass } = stage({});
  ask("web");
  await pass(MOST_MS - 1);
  assert.equal(answers.size, 0);
  assert.deepEqual(calledOff, []);
  await pass(1);
  assertLate(answers.get("web"), 300);
  assert.deepEqual([calledOff, took], [["web"], [MOST_MS]]);
});

test("createBoundedUsage() gives all its time to one question while the source hangs, and little to others", async () => {
  const { times, answers, ask, pass } = stage({ web: [30_000, DOWN] });
  ask("web");
  await pass(30_000);
  ask("web");
  ask("db");
  ask("job");
  await pass(2000);
  for (const name of ["db", "job"]) assertLate(answers.get(name), 2);
  await pass(28_000);
  // A slow one is waited for, and once there is a good answer all have their time.
  times.set("web", [20_000, GOOD]);
  times.set("db", [20_000, GOOD]);
  ask("web");
  await pass(20_000);
  assert.deepEqual(answers.get("web"), GOOD);
  ask("web");
  ask("db");
  await pass(20_000);
  assert.deepEqual(answers.get("db"), GOOD);
});

test("createBoundedUsage() lets others have their answers beside one that always hangs", async () => {
  const { answers, ask, pass } = stage({ db: [1000, GOOD] });
  for (let cycle = 0; cycle < 3; cycle++) {
    answers.clear();
    ask("web");
    ask("db");
    await pass(1000);
    assert.deepEqual([...answers], [["db", GOOD]]);
    await pass(MOST_MS);
    assertLate(answers.get("web"), 300);
  }
});

test("createBoundedUsage() does not take a source for hanging that answers others, or says at once that it is down", async () => {
  const { answers, ask, pass } = stage({
    down: [1999, DOWN],
    db: [1000, GOOD],
    job: [3000, GOOD],
  });
  ask("down");
  await pass(10_000);
  ask("web");
  await pass(MOST_MS - 500);
  ask("db");
  await pass(1000);
  assertLate(answers.get("web"), 300);
  assert.deepEqual(answers.get("db"), GOOD);
  ask("web");
  ask("job");
  await pass(3000);
  assert.deepEqual(answers.get("job"), GOOD);
});

test("createBoundedUsage() learns nothing of a source from a question that was called off", async () => {
  const { asked, took, ask, pass } = stage({ db: [10, GOOD] });
  const over = new AbortController();
  ask("web", over.signal);
  await pass(10_000);
  over.abort();
  await pass(MOST_MS);
  ask("db");
  await pass(10);
  assert.deepEqual([asked, took], [["web", "db"], [10]]);
});
