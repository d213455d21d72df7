import { pure } from "../../../tests/fixtures/pure.ts";
import { assertTexts, messageOf } from "../../../tests/fixtures/assert_sentences.ts";
import { autoPolicy } from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { judgeReplay } from "./judge_replay.ts";
import { readUsage, scaledTo, usageHistory } from "./usage_history.ts";
import { replayPolicy } from "./replay_policy.ts";

const NAMED = { name: "f", resource: "cpu" } as const;

/** Usage of nothing at these seconds. */
const idle = (...seconds: readonly number[]) =>
  usageHistory(seconds.map((atS) => ({ atS, value: 0 })), NAMED);

pure("sentences of errors about replays", () =>
  assertTexts(
    {
      "format": () => messageOf(() => readUsage("1\n2\n", NAMED)),
      "samples": () => messageOf(() => idle(1)),
      "times": () => messageOf(() => idle(60, 59)),
      "steps": () => messageOf(() => idle(0, 60, 120, 1_633_478_400)),
      "scale": () => messageOf(() => scaledTo(idle(0, 60), 1000)),
      "judgement": () => messageOf(() => judgeReplay({ history: idle(0, 60), steps: [] })),
      "policy": () => messageOf(() => replayPolicy(idle(0, 60), autoPolicy())),
    },
    `\
format
  Cannot read history "f": it is taken for rps, expected usage over time: CSV of timestamp,value or a Prometheus export
samples
  Cannot replay history "f": it has 1 samples, expected at least 2
times
  Cannot replay history "f": sample 2 has the time 59 after 60, expected growing times
steps
  Cannot replay history "f": it spans 27224640 steps of 60 s, expected at most 1100000: cut it or check its times
scale
  Cannot scale history "f": its 95th percentile is 0, expected above 0
judgement
  Cannot judge a rule on history "f": it has no sample after the warm-up
policy
  Cannot replay history "f": no recommendation came of its 2 samples, expected more than 10 in 24 h
`,
  ));
