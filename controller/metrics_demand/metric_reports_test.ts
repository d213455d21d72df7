import assert from "node:assert/strict";
import type { Log } from "../../shared/log.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import type { DemandReading } from "./demand_reading.ts";
import { createMetricReports } from "./metric_reports.ts";

Deno.test({
  name: "createMetricReports() reports each matter once, and again when it has lasted",
  permissions: "none",
  async fn() {
    const clock = createVirtualClock({ wallStart: 0 });
    const lines: string[] = [];
    const put = (level: string) => (_message: string, fields: object = {}): void =>
      void lines.push([level, ...Object.values(fields)].join("|"));
    const log: Log = {
      debug: put("debug"),
      info: put("info"),
      warn: put("warn"),
      error: put("error"),
    };
    const { answered, late } = createMetricReports({ log, clock });
    const about = (name: string, reading: DemandReading): void =>
      answered({ server: "http://s", name, query: "up" }, reading);
    const gone = { kind: "unreachable", message: "refused" } as const;
    const several = { kind: "ambiguous", message: "several" } as const;
    const taken = (): string[] => lines.splice(0);

    about("web", { kind: "value", cores: 1, ageMs: 0 });
    assert.deepEqual(taken(), []);
    for (const name of ["web", "jobs", "web"]) about(name, gone);
    assert.deepEqual(taken(), ["warn|http://s|refused"]);
    for (const name of ["web", "web", "jobs"]) about(name, several);
    assert.deepEqual(taken(), [
      "info|http://s",
      "warn|web|ambiguous|several",
      "warn|jobs|ambiguous|several",
    ]);
    about("web", gone);
    assert.deepEqual(taken(), ["warn|http://s|refused"]);
    await clock.runUntil(600_000);
    late({ questions: 7, tookMs: 20_000.4 });
    late({ questions: 7, tookMs: 20_000 });
    about("jobs", several);
    assert.deepEqual(taken(), [
      "warn|7|20000",
      "info|http://s",
      "warn|jobs|ambiguous|several",
    ]);
  },
});
