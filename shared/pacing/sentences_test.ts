import { assertSentences } from "../../tests/fixtures/assert_sentences.ts";
import { PLAIN_PACE } from "../../tests/fixtures/market/paced_sample.ts";
import { newPaceMemory, type PaceMemory } from "./paced_container.ts";
import { type WaitingContainer, whyWaiting } from "./why_waiting.ts";

const NOW = 100_000;

/** A container with readings for a minute and a limit of 200m. */
function why(
  change: Partial<Omit<WaitingContainer, "memory">> = {},
  memory: Partial<PaceMemory> = {},
): string {
  const { share = 200, need = share, throttledMsPerS = 0 } = change;
  const past = { ...newPaceMemory(200, NOW - 60_000), ...memory };
  const container = { share, need, ceiling: 800, throttledMsPerS, memory: past };
  return whyWaiting(container, { now: NOW, options: PLAIN_PACE }) ?? "";
}

const HIGHEST = { since: NOW - 12_500, highest: 100 };

Deno.test({
  name: "sentences on limits that wait",
  permissions: "none",
  fn: () =>
    assertSentences([
      ["at the share", () => why(), ""],
      [
        "raise, hysteresis",
        () => why({ share: 230 }),
        "raise to 230m is within the hysteresis of 20 %",
      ],
      [
        "raise of a rationed container, 20 % × e^(−30 / 60)",
        () => why({ share: 220, need: 230 }, { changedAt: NOW - 30_000 }),
        "raise to 220m is within the hysteresis of 12 %",
      ],
      [
        "raise to the ceiling without throttling",
        () => why({ share: 800 }, { limit: 750 }),
        "raise to 800m is within the hysteresis of 20 %",
      ],
      [
        "raise, gap",
        () => why({ share: 800 }, { raisedAt: NOW - 300 }),
        "raise to 800m waits 1 s after the last",
      ],
      ["raise, funds", () => why({ share: 800 }), "raise to 800m waits for funds"],
      [
        "raise, free CPU",
        () => why({ share: 800, throttledMsPerS: 100 }, { limit: 750 }),
        "raise to 800m waits until free CPU suffices",
      ],
      [
        "decrease, hysteresis",
        () => why({ share: 190 }),
        "decrease to 190m is within the hysteresis of 10 %",
      ],
      ["decrease, time", () => why({ share: 50 }), "decrease to 50m waits 30 s"],
      [
        "decrease, time left",
        () => why({ share: 50 }, { lower: HIGHEST }),
        "decrease to 100m waits 18 s",
      ],
      [
        "decrease after a trial",
        () => why({ share: 50 }, { lower: { ...HIGHEST, since: NOW - 500 }, trialFrom: 100 }),
        "decrease to 100m waits 2 s",
      ],
      [
        "decrease, young readings",
        () =>
          why({ share: 50 }, { since: NOW - 1000, lower: { since: NOW - 29_000, highest: 100 } }),
        "decrease to 100m waits 9 s: the readings are young",
      ],
    ]),
});
