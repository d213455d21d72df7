/**
 * Logs problems of metric queries: each once, and again when it has lasted.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
import type { Log } from "../../shared/log.ts";
import type { DemandReading } from "./demand_reading.ts";
import type { MetricQuestion } from "./metric_question.ts";

/** Receives the answers. */
export interface MetricReports {
  answered(question: MetricQuestion, reading: DemandReading): void;
  /** The queries of a round took `tookMs`, longer than the interval. */
  late(round: { readonly questions: number; readonly tookMs: number }): void;
}

/** A problem that lasts is logged again after this long, ms. */
const AGAIN_MS = 600_000;

/** Reports to this log: one line for a query that many pods name. */
export function createMetricReports(
  { log, clock }: { readonly log: Log; readonly clock: Clock },
): MetricReports {
  const reportedAt = new Map<string, number>();
  let silent: string | undefined;

  function isNew(matter: string): boolean {
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
        if (isNew(`${outcome} ${server}`)) {
          log.warn("Prometheus does not answer", { server, error: reading.message });
        }
        return;
      }
      if (silent === server) {
        silent = undefined;
        reportedAt.delete(`unreachable ${server}`);
        log.info("Prometheus answers", { server });
      }
      if (outcome === "value" || !isNew(`${outcome} ${name}`)) return;
      log.warn("A metric query gives no demand", { query: name, outcome, error: reading.message });
    },
    late({ questions, tookMs }) {
      if (!isNew("late")) return;
      log.warn("Metric queries take longer than metrics.interval", {
        questions,
        tookMs: Math.round(tookMs),
      });
    },
  };
}
