/** The alerts as a real Prometheus evaluates them: each fires for its case, and not for one close to it. */
import assert from "node:assert/strict";
import { alertRules } from "../fixtures/metrics/alerts_and_dashboards.ts";
import { ALERT_CASES, type AlertSeries, SAMPLES } from "./alert_cases.ts";
import { promtool, withoutPrometheus } from "./own_prometheus.ts";

/** One test of `promtool test rules`: how often the alert fires at the end. */
function ruleTest(alert: string, series: AlertSeries, firing: 0 | 1) {
  const expr = `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`;
  return {
    name: `${alert}, ${firing === 1 ? "fires" : "silent"}: ${JSON.stringify(series)}`,
    interval: "15s",
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [{
      ...{ expr, eval_time: `${SAMPLES / 4}m` },
      exp_samples: [{ labels: "{}", value: firing }],
    }],
  };
}

Deno.test({
  name: "component alerts: each alert fires for its case, and not for one close to it",
  ignore: withoutPrometheus(),
  async fn() {
    const rules = await alertRules();
    const cases = [...new Set(ALERT_CASES.map(([alert]) => alert))];
    assert.deepEqual(cases, rules.map(({ alert }) => alert));
    const folder = await Deno.makeTempDir();
    try {
      await Deno.writeTextFile(
        `${folder}/rules.yml`,
        JSON.stringify({ groups: [{ name: "mbcas", rules }] }),
      );
      const tests = {
        rule_files: ["rules.yml"],
        evaluation_interval: "1m",
        tests: ALERT_CASES.flatMap(([alert, fires, silent]) => [
          ruleTest(alert, fires, 1),
          ruleTest(alert, silent, 0),
        ]),
      };
      await Deno.writeTextFile(`${folder}/tests.yml`, JSON.stringify(tests));
      await promtool("check", "rules", `${folder}/rules.yml`);
      await promtool("test", "rules", `${folder}/tests.yml`);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
