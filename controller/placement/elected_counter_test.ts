import assert from "node:assert/strict";
import { silentLog } from "../../shared/log.ts";
import { placementQuestion } from "../../shared/placement/placement_question.ts";
import { createVirtualClock } from "../../simulation/virtual_clock.ts";
import {
  handCopies,
  PLACEMENT_RULES,
  podRequest,
  WEB_SET,
  webDeployment,
} from "../../tests/fixtures/placement_copies.ts";
import { createCopiedFacts } from "./copied_facts.ts";
import { createElectedCounter } from "./elected_counter.ts";
import type { CounterPeer, Leader } from "./webhook_ports.ts";

const SPOT = { class: "spot", deletionCost: -2 } as const;
const ON_DEMAND = { class: "on-demand", deletionCost: -1 } as const;

function stage(leader: Leader, peerAsk: CounterPeer["ask"] = () => Promise.resolve(SPOT)) {
  const clock = createVirtualClock({ wallStart: 0 });
  const copies = handCopies();
  const calls: string[] = [];
  const elected = createElectedCounter({
    leader: () => leader,
    peer: {
      ask(question, asked) {
        calls.push(`ask ${asked.address} ${question.id}`);
        return peerAsk(question, asked);
      },
      forget: (id, address) => void calls.push(`forget ${address} ${id}`),
    },
    facts: createCopiedFacts(copies, { rules: () => PLACEMENT_RULES }),
    scope: () => PLACEMENT_RULES.scope,
    clock,
    log: silentLog,
  }, { peerWithinMs: 100 });
  const question = placementQuestion(podRequest("1"));
  assert.ok(question !== undefined);
  return {
    clock,
    copies,
    calls,
    answer: (signal = new AbortController().signal) => elected.answer(question, signal),
  };
}

const OTHER: Leader = { is: "other", address: "10.0.0.2:9444" };

Deno.test("createElectedCounter() decides itself where it leads", async () => {
  const answers = { answer: () => Promise.resolve(ON_DEMAND), forget: () => {} };
  const { answer, calls } = stage({ is: "self", answers });
  assert.deepEqual([await answer(), calls], [ON_DEMAND, []]);
});

Deno.test("createElectedCounter() asks the replica that leads", async () => {
  const { answer, calls } = stage(OTHER);
  assert.deepEqual([await answer(), calls], [SPOT, ["ask 10.0.0.2:9444 1"]]);
});

Deno.test("createElectedCounter() places nothing without a leader", async () => {
  const { answer, calls } = stage({ is: "nobody" });
  assert.deepEqual([await answer(), calls], [{ unplaced: "NoLeader" }, []]);
});

Deno.test("createElectedCounter() gives a leader up that is silent, and tells it to forget", async () => {
  const aborted = (signal: AbortSignal) =>
    new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
    });
  const { answer, calls, clock } = stage(OTHER, (_question, { signal }) => aborted(signal));
  let verdict: unknown;
  const asking = answer().then((found) => verdict = found);
  await clock.runUntil(99);
  assert.equal(verdict, undefined);
  await clock.runUntil(100);
  assert.deepEqual(verdict, { unplaced: "LeaderSilent" });
  await asking;
  assert.deepEqual(calls, ["ask 10.0.0.2:9444 1", "forget 10.0.0.2:9444 1"]);

  const gone = new AbortController();
  const left = answer(gone.signal);
  gone.abort();
  assert.deepEqual(await left, { unplaced: "LeaderSilent" });
});

Deno.test("createElectedCounter() takes a leader that can't be reached for a silent one", async () => {
  const { answer, calls } = stage(OTHER, () => Promise.reject(new Error("refused")));
  assert.deepEqual(await answer(), { unplaced: "LeaderSilent" });
  assert.equal(calls.length, 2);
});

Deno.test("createElectedCounter() asks nobody about pods that take no part, and the leader in doubt", async () => {
  const { answer, copies, calls } = stage(OTHER);
  const enabled = webDeployment(10);
  copies.deployments.put({ ...enabled, metadata: { ...enabled.metadata, labels: {} } });
  assert.deepEqual([await answer(), calls.length], [{ unplaced: "NotPlaced" }, 0]);
  copies.replicaSets.remove(WEB_SET);
  assert.deepEqual([await answer(), calls.length], [SPOT, 1]);
});
