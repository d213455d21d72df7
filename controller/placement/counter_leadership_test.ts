import assert from "node:assert/strict";
import type { Lease } from "../../shared/api/lease.ts";
import type { PlacementQuestion } from "../../shared/placement/placement_question.ts";
import { createVirtualClock } from "../../simulation/virtual_clock.ts";
import { createCounterLeadership } from "./counter_leadership.ts";
import type { PlacementAnswers } from "./webhook_ports.ts";

const QUESTION: PlacementQuestion = {
  id: "1",
  namespace: "shop",
  owner: { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-5f", uid: "rs" },
  revision: "5f",
  pod: {},
  dryRun: false,
};

function lease(holder: string, resourceVersion = "1"): Lease {
  return {
    metadata: { name: "l", namespace: "n", uid: "u", resourceVersion },
    holder,
    durationSeconds: 15,
    acquireTimeMs: 0,
    renewTimeMs: 0,
    transitions: 0,
  };
}

function stage() {
  const clock = createVirtualClock({ wallStart: 0 });
  let found: Lease | undefined;
  const leadership = createCounterLeadership({
    lease: () => found,
    identity: "me@10.0.0.1:9444",
    clock,
  });
  const forgotten: string[] = [];
  const answers: PlacementAnswers = {
    answer: () => Promise.resolve({ class: "spot" }),
    forget: (id) => void forgotten.push(id),
  };
  const ask = () => leadership.answer(QUESTION, new AbortController().signal);
  return { clock, leadership, answers, ask, forgotten, see: (one?: Lease) => void (found = one) };
}

Deno.test("createCounterLeadership() names the Lease's holder, for as long as it renews", async () => {
  const { clock, leadership, see } = stage();
  assert.deepEqual(leadership.leader(), { is: "nobody" });
  see(lease("other@10.0.0.2:9444"));
  const other = { is: "other", address: "10.0.0.2:9444" };
  assert.deepEqual(leadership.leader(), other);
  await clock.runUntil(14_999);
  assert.deepEqual(leadership.leader(), other);
  await clock.runUntil(15_000);
  assert.deepEqual(leadership.leader(), { is: "nobody" });
  see(lease("other@10.0.0.2:9444", "2"));
  assert.deepEqual(leadership.leader(), other);
});

Deno.test("createCounterLeadership() names nobody who gave it back, has no address, or does not work yet", () => {
  const { leadership, see } = stage();
  for (const holder of ["", "other", "me@10.0.0.1:9444"]) {
    see(lease(holder));
    assert.deepEqual(leadership.leader(), { is: "nobody" });
  }
});

Deno.test("createCounterLeadership() answers others only while it leads itself", async () => {
  const { leadership, answers, ask, forgotten, see } = stage();
  see(lease("other@10.0.0.2:9444"));
  assert.deepEqual(await ask(), { unplaced: "NoLeader" });
  leadership.forget("0");
  const end = leadership.lead(answers);
  assert.deepEqual(leadership.leader(), { is: "self", answers });
  assert.deepEqual(await ask(), { class: "spot" });
  leadership.forget("1");
  end();
  assert.deepEqual(await ask(), { unplaced: "NoLeader" });
  assert.deepEqual(forgotten, ["1"]);
});
