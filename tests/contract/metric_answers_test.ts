import { createMetricAnswers } from "../../lab/simulation/metric_answers.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { instantQueriesContract, metricResults } from "./instant_queries_contract.ts";
import { settleVirtually } from "./support/settle_virtually.ts";

instantQueriesContract("createMetricAnswers()", () => {
  const clock = createVirtualClock({ wallStart: Date.UTC(2026, 0, 1) });
  const subject = createMetricAnswers(clock);
  for (const [query, result] of metricResults()) subject.results.set(query, result);
  return {
    subject,
    server: "http://metrics",
    wall: clock.wall,
    stop: () => {
      subject.up = false;
      return Promise.resolve();
    },
    settle: (promise) => settleVirtually(clock, promise),
  };
});
