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
): string {
  const container = {
    share,
    need,
    target,
    ceiling: 800,
    heldBack,
    memory: { ...newPaceMemory(200, NOW - 60_000), ...memory },
  };
  return whyWaiting(container, { now: NOW, options }) ?? "";
}

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("whyWaiting() has nothing to say of a limit at its target", () => {
  assert.equal(why({}), "");
});

test("whyWaiting() tells why a raise waits", () => {
  assert.match(why({ share: 230 }), /^raise.* 230m.*hysteresis.* 20 %$/);
  // Rationed for 30 s: 20 % × e^(−30 / 60).
  const rested = { changedAt: NOW - 30_000 };
  assert.match(why({ share: 220, need: 230 }, rested), /^raise.* 220m.*hysteresis.* 12 %$/);
  const raised = { raisedAt: NOW - 300 };
  assert.match(why({ share: 800 }, raised), /^raise.* 800m.* 1 s /);
  assert.match(why({ share: 800 }), /^raise.* 800m.*funds/);
  const nearly = { limit: 750 };
  assert.match(why({ share: 800 }, nearly), /^raise.* 800m.*hysteresis.* 20 %$/);
  const throttled = { share: 800, heldBack: 100 };
  assert.match(why(throttled, nearly), /^raise.* 800m.*free CPU/);
});

test("whyWaiting() tells why a decrease waits", () => {
  assert.match(why({ share: 190 }), /^decrease.* 190m.*hysteresis.* 10 %$/);
  assert.match(why({ share: 50 }), /^decrease.* 50m.* 30 s$/);
  const lower = { since: NOW - 12_500, highest: 100 };
  assert.match(why({ share: 50 }, { lower }), /^decrease.* 100m.* 18 s$/);
  const young = { since: NOW - 1000, lower: { since: NOW - 29_000, highest: 100 } };
  assert.match(why({ share: 50 }, young), /^decrease.* 100m.* 9 s.*readings/);
});

test("whyWaiting() says that a trial's wait is short", () => {
  const lower = { since: NOW - 500, highest: 100 };
  assert.match(why({ share: 50 }, { lower, trialFrom: 100 }), /^decrease.* 100m.* 2 s$/);
});
