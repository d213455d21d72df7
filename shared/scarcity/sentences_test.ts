/** The sentences on limits where idle CPU is free. */
import { assertSentences } from "../../tests/fixtures/assert_sentences.ts";
import type { NodeState } from "./node_state.ts";
import { type StayingLimit, whyLimitStays } from "./why_limit_stays.ts";

const NOW = 60_000;
const MEMORY = { limit: 800, fundedAt: -Infinity };
const BUSY = { usageNow: 700, usage1s: 700, usage: 700 };
const CONTAINER: StayingLimit = { ceiling: 800, share: 450, memory: MEMORY, load: BUSY };

function sentence(
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
      ["ample, at the ceiling", () => sentence({}, { state: "ample" }), ""],
      [
        "ample, below the ceiling",
        () => sentence({ limit: 450 }, { state: "ample" }),
        "ceiling waits: 10 limits a second",
      ],
      ["no readings", () => sentence({}, { load: undefined }), ""],
      ["not rationed", () => sentence({}), "stays at the ceiling: the share covers the bid"],
      ["not rationed, share at the ceiling", () => sentence({}, { share: 800 }), ""],
      [
        "rationed a moment ago",
        () => sentence({ limit: 450, rationedAt: NOW - 6500 }),
        "back to the ceiling in 4 s",
      ],
      [
        "rationed long ago",
        () => sentence({ limit: 450, rationedAt: NOW - 10_000 }),
        "ceiling waits: 10 limits a second",
      ],
      ["at the share", () => sentence({ ...rationed, limit: 450 }), ""],
      [
        "close to the share",
        () => sentence({ ...rationed, limit: 440 }),
        "raise to 450m is within the hysteresis of 5 %",
      ],
      [
        "close above the share",
        () => sentence({ ...rationed, limit: 460 }),
        "decrease to 450m is within the hysteresis of 5 %",
      ],
      [
        "uses less than its share",
        () => sentence(rationed, { load: { ...BUSY, usage: 400 } }),
        "stays: the container uses its share at most",
      ],
      [
        "lowered a moment ago",
        () => sentence({ ...rationed, fundedAt: NOW - 1500 }),
        "decrease to 450m waits 4 s after the last",
      ],
      [
        "short a moment ago",
        () => sentence({ ...rationed, shortAt: NOW - 1500 }),
        "decrease to 450m waits 4 s: the container catches up on CPU that it lacked",
      ],
      [
        "without a victim",
        () => sentence(rationed),
        "decrease to 450m waits until another container waits for CPU",
      ],
    ]),
});
