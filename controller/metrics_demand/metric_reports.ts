/**
 * What the log tells of metric queries: each matter once, and again when it has lasted.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
import type { Log } from "../../shared/log.ts";
import type { DemandReading } from "./demand_reading.ts";
import type { MetricQuestion } from "./metric_question.ts";

/** Tells of answers. */
export interface MetricReports {
  answered(question: MetricQuestion, reading: DemandReading): void;
  /** All questions were asked, in `tookMs`; that is later than it should be. */
  late(round: { readonly questions: number; readonly tookMs: number }): void;
}

/** A matter that lasts is told again after this long, ms. */
const AGAIN_MS = 600_000;

/** Reports to this log; of a query that many pods name, one line stands for all. */
export function createMetricReports(
  { log, clock }: { readonly log: Log; readonly clock: Clock },
): MetricReports {
  const reportedAt = new Map<string, number>();
  let silent: string | undefined;

  function isNews(matter: string): boolean {
    const now = clock.monotonic();
    if (now - (reportedAt.get(matter) ?? -Infinity) < AGAIN_MS) return false;
    reportedAt.set(matter, now);
    return true;
  }

  return {
    answered({ server, name }, reading) {
      const { kind: outcome } = reading;
      if (outcome === "unreachable") {
        silent = server;
        if (isNews(`${outcome} ${server}`)) {
          log.warn("Prometheus does not answer", { server, error: reading.message });
        }
        return;
      }
      if (silent === server) {
        silent = undefined;
        reportedAt.delete(`unreachable ${server}`);
        log.info("Prometheus answers", { server });
      }
      if (outcome === "value" || !isNews(`${outcome} ${name}`)) return;
      log.warn("A metric query gives no demand", { query: name, outcome, error: reading.message });
    },
    late({ questions, tookMs }) {
      if (!isNews("late")) return;
      log.warn("Metric queries take longer than metrics.interval", {
        questions,
        tookMs: Math.round(tookMs),
      });
    },
  };
}
