/** The sentences on limits where idle CPU is free. */
import { assertSentences } from "../../tests/fixtures/assert_sentences.ts";
import type { NodeState } from "./node_state.ts";
import { type StayingLimit, whyLimitStays } from "./why_limit_stays.ts";

const NOW = 60_000;
const MEMORY = { limit: 800, fundedAt: -Infinity };
const BUSY = { usageNow: 700, usage1s: 700, usage: 700 };
const CONTAINER: StayingLimit = { ceiling: 800, share: 450, memory: MEMORY, load: BUSY };

function words(
  memory: Partial<StayingLimit["memory"]>,
  { state = "scarce", ...change }: Partial<StayingLimit> & { readonly state?: NodeState } = {},
): string {
  const container = { ...CONTAINER, ...change, memory: { ...MEMORY, ...memory } };
  return whyLimitStays(container, { now: NOW, state }) ?? "";
}

const rationed = { rationedAt: NOW };

Deno.test({
  name: "sentences of whyLimitStays()",
  permissions: "none",
  fn: () =>
    assertSentences([
      ["ample, at the ceiling", () => words({}, { state: "ample" }), ""],
      [
        "ample, below the ceiling",
        () => words({ limit: 450 }, { state: "ample" }),
        "ceiling waits: 10 limits a second",
      ],
      ["no readings", () => words({}, { load: undefined }), ""],
      ["not rationed", () => words({}), "stays at the ceiling: the share covers the bid"],
      ["not rationed, share at the ceiling", () => words({}, { share: 800 }), ""],
      [
        "rationed a moment ago",
        () => words({ limit: 450, rationedAt: NOW - 6500 }),
        "back to the ceiling in 4 s",
      ],
      [
        "rationed long ago",
        () => words({ limit: 450, rationedAt: NOW - 10_000 }),
        "ceiling waits: 10 limits a second",
      ],
      ["at the share", () => words({ ...rationed, limit: 450 }), ""],
      [
        "close to the share",
        () => words({ ...rationed, limit: 440 }),
        "raise to 450m is within the hysteresis of 5 %",
      ],
      [
        "close above the share",
        () => words({ ...rationed, limit: 460 }),
        "decrease to 450m is within the hysteresis of 5 %",
      ],
      [
        "uses less than its share",
        () => words(rationed, { load: { ...BUSY, usage: 400 } }),
        "stays: the container uses its share at most",
      ],
      [
        "lowered a moment ago",
        () => words({ ...rationed, fundedAt: NOW - 1500 }),
        "decrease to 450m waits 4 s after the last",
      ],
      [
        "short a moment ago",
        () => words({ ...rationed, shortAt: NOW - 1500 }),
        "decrease to 450m waits 4 s: the container catches up on CPU that it lacked",
      ],
      [
        "without a victim",
        () => words(rationed),
        "decrease to 450m waits until another container waits for CPU",
      ],
    ]),
});
