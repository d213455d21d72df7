import { assertSentences } from "../../tests/fixtures/assert_sentences.ts";
import { PLAIN_PACE } from "../../tests/fixtures/paced_sample.ts";
import { newPaceMemory, type PaceMemory } from "./paced_container.ts";
import { whyWaiting } from "./why_waiting.ts";

const NOW = 100_000;

/** A container with readings for a minute and a limit of 200m. */
function why(
  change: { readonly share?: number; readonly target?: number; readonly heldBack?: number },
  memory: Partial<PaceMemory> = {},
): string {
  const { share = 200, target = share, heldBack = 0 } = change;
  const past = { ...newPaceMemory(200, NOW - 60_000), ...memory };
  const container = { share, need: share, target, ceiling: 800, heldBack, memory: past };
  return whyWaiting(container, { now: NOW, options: PLAIN_PACE }) ?? "";
}

Deno.test({
  name: "sentences on limits that wait",
  permissions: "none",
  fn: () =>
    assertSentences([
      [
        "raise, hysteresis",
        () => why({ share: 230 }),
        "raise to 230m is within the hysteresis of 20 %",
      ],
      [
        "raise, gap",
        () => why({ share: 800 }, { raisedAt: NOW - 300 }),
        "raise to 800m waits 1 s after the last",
      ],
      ["raise, funds", () => why({ share: 800 }), "raise to 800m waits for funds"],
      [
        "raise, free CPU",
        () => why({ share: 800, heldBack: 100 }, { limit: 750 }),
        "raise to 800m waits until free CPU suffices",
      ],
      [
        "decrease, hysteresis",
        () => why({ share: 190 }),
        "decrease to 190m is within the hysteresis of 10 %",
      ],
      ["decrease, time", () => why({ share: 50 }), "decrease to 50m waits 30 s"],
      [
        "decrease, young readings",
        () =>
          why({ share: 50 }, { since: NOW - 1000, lower: { since: NOW - 29_000, highest: 100 } }),
        "decrease to 100m waits 9 s: the readings are young",
      ],
    ]),
});
