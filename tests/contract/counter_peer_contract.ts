/**
 * The contract of `CounterPeer`: how one replica of the webhook asks another one.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { CounterPeer, PlacementAnswers } from "../../controller/placement/webhook_ports.ts";
import type { PlacementQuestion } from "../../shared/placement/placement_question.ts";
import { type ContractHarness, contractTest, type OpenHarness } from "./contract_harness.ts";

/** A replica that asks, and one that is asked. */
export interface CounterPeerHarness extends ContractHarness {
  readonly peer: CounterPeer;
  /** Where that one answers. */
  readonly address: string;
  /** Where nobody does. */
  readonly nowhere: string;
}

/** Opens a pair of which the asked one answers so. */
export type OpenCounterPeer = (answers: PlacementAnswers) => Promise<CounterPeerHarness>;

const QUESTION: PlacementQuestion = {
  id: "request-1",
  namespace: "shop",
  owner: { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-5f", uid: "rs" },
  revision: "5f",
  pod: { generateName: "web-5f-" },
  told: { class: "spot", deletionCost: -2 },
  dryRun: true,
};

/** Registers the suite for what goes by this name. */
export function counterPeerContract(name: string, open: OpenCounterPeer): void {
  const test = (
    what: string,
    answers: () => PlacementAnswers,
    check: (harness: CounterPeerHarness) => Promise<void>,
  ): void => {
    const harness: OpenHarness<CounterPeerHarness> = () => open(answers());
    contractTest(`${name}: ${what}`, harness, check);
  };
  const asked: PlacementQuestion[] = [];
  const forgotten: string[] = [];
  const heard = Promise.withResolvers<void>();
  const waits = (): AbortSignal => new AbortController().signal;

  test("ask() brings the question and its verdict", () => ({
    answer(question) {
      asked.push(question);
      return Promise.resolve(
        asked.length === 1
          ? { class: "spot", deletionCost: -3 }
          : { unplaced: "ConfigurationError", warning: "„half“ is no number" },
      );
    },
    forget: () => {},
  }), async ({ peer, address, settle }) => {
    const ask = () => settle(peer.ask(QUESTION, { address, signal: waits() }));
    assert.deepEqual(await ask(), { class: "spot", deletionCost: -3 });
    const warning = "„half“ is no number";
    assert.deepEqual(await ask(), { unplaced: "ConfigurationError", warning });
    assert.deepEqual(asked, [QUESTION, QUESTION]);
  });

  test("ask() brings many questions at once, each with its own verdict", () => ({
    answer: ({ id }) => Promise.resolve({ class: "spot", deletionCost: -Number(id) }),
    forget: () => {},
  }), async ({ peer, address, settle }) => {
    const ids = Array.from({ length: 60 }, (_, index) => index + 1);
    const verdicts = await settle(Promise.all(
      ids.map((id) => peer.ask({ ...QUESTION, id: `${id}` }, { address, signal: waits() })),
    ));
    assert.deepEqual(verdicts, ids.map((id) => ({ class: "spot", deletionCost: -id })));
  });

  test("ask() ends with the signal", () => ({
    answer: () => new Promise(() => {}),
    forget: () => {},
  }), async ({ peer, address, settle }) => {
    const late = new AbortController();
    const asking = settle(assert.rejects(peer.ask(QUESTION, { address, signal: late.signal })));
    late.abort();
    await asking;
    const { signal } = late;
    await settle(assert.rejects(peer.ask(QUESTION, { address, signal })));
  });

  test("ask() fails where nobody answers, or the one who does breaks", () => ({
    answer: () => Promise.reject(new RangeError("a fault")),
    forget: () => {},
  }), async ({ peer, address, nowhere, settle }) => {
    const signal = waits();
    for (const where of [address, nowhere]) {
      await settle(assert.rejects(peer.ask(QUESTION, { address: where, signal })));
    }
  });

  test("forget() brings the id, and is quiet where nobody hears it", () => ({
    answer: () => Promise.resolve({ unplaced: "NoLeader" }),
    forget(id) {
      forgotten.push(id);
      heard.resolve();
    },
  }), async ({ peer, address, nowhere, settle }) => {
    peer.forget("lost", nowhere);
    peer.forget("request-1", address);
    await settle(heard.promise);
    assert.deepEqual(forgotten, ["request-1"]);
  });
}
