import assert from "node:assert/strict";
import { newPaceMemory, type PaceMemory } from "./paced_container.ts";
import { whyWaiting } from "./why_waiting.ts";
import { PLAIN_PACE } from "../../tests/fixtures/paced_sample.ts";

const NOW = 100_000;

/** Of a container with readings for a minute and a limit of 200 m. */
function why(
  { share = 200, need = share, target = share, heldBack = 0 }: {
    share?: number;
    need?: number;
    target?: number;
    heldBack?: number;
  },
  memory: Partial<PaceMemory> = {},
  options = PLAIN_PACE,
): string | undefined {
  const container = {
    share,
    need,
    target,
    ceiling: 800,
    heldBack,
    memory: { ...newPaceMemory(200, NOW - 60_000), ...memory },
  };
  return whyWaiting(container, { now: NOW, options });
}

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("whyWaiting() has nothing to say of a limit at its target", () => {
  assert.equal(why({}), undefined);
});

test("whyWaiting() tells why a raise waits", () => {
  assert.equal(why({ share: 230 }), "raise to 230m is within the hysteresis of 20 %");
  // Rationed for 30 s: 20 % × e^(−30 / 60).
  const rested = { changedAt: NOW - 30_000 };
  assert.equal(
    why({ share: 220, need: 230 }, rested),
    "raise to 220m is within the hysteresis of 12 %",
  );
  const raised = { raisedAt: NOW - 300 };
  assert.equal(why({ share: 800 }, raised), "raise to 800m waits 1 s after the last");
  assert.equal(why({ share: 800 }), "raise to 800m waits for funds");
  const nearly = { limit: 750 };
  assert.equal(why({ share: 800 }, nearly), "raise to 800m is within the hysteresis of 20 %");
  const throttled = { share: 800, heldBack: 100 };
  assert.equal(why(throttled, nearly), "raise to 800m waits until free CPU suffices");
});

test("whyWaiting() tells why a decrease waits", () => {
  assert.equal(why({ share: 190 }), "decrease to 190m is within the hysteresis of 10 %");
  assert.equal(why({ share: 50 }), "decrease to 50m waits 30 s");
  const lower = { since: NOW - 12_500, highest: 100 };
  assert.equal(why({ share: 50 }, { lower }), "decrease to 100m waits 18 s");
  const young = { since: NOW - 1000, lower: { since: NOW - 29_000, highest: 100 } };
  assert.equal(why({ share: 50 }, young), "decrease to 100m waits 9 s: the readings are young");
});

test("whyWaiting() tells the hysteresis that changes of late widen, and a trial's short wait", () => {
  const changed = { changedAt: NOW, restless: 1 };
  const restless = { ...PLAIN_PACE, restlessFactor: 2 };
  const held = why({ share: 170 }, changed, restless);
  assert.equal(held, "decrease to 170m is within the hysteresis of 20 %");
  const lower = { since: NOW - 500, highest: 100 };
  assert.equal(why({ share: 50 }, { lower, trialFrom: 100 }), "decrease to 100m waits 2 s");
});

test("whyWaiting() tells why a loan waits", () => {
  const target = 400;
  assert.equal(why({ target: 210 }), "loan up to 210m is within the hysteresis of 10 %");
  assert.equal(why({ target }), "loan up to 400m waits 30 s");
  const loan = { since: NOW - 29_000, lowest: 350 };
  assert.equal(why({ target }, { loan }), "loan up to 350m waits 1 s");
  const due = { since: NOW - 31_000, lowest: 350 };
  assert.equal(why({ target }, { loan: due }), "loan up to 400m waits until free CPU suffices");
});
