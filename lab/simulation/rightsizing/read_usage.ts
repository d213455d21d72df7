/**
 * Text → a history of usage.
 *
 * @module
 */
import type { ResourceName } from "../../../shared/api/pod.ts";
import { guessTraceFormat, parseTimedValues, type TraceFormat } from "../trace.ts";
import { type UsageHistory, usageHistory } from "./usage_history.ts";

/** How usage is to be read. */
export interface ReadUsageOptions {
  /** For messages. */
  readonly name: string;
  readonly resource: ResourceName;
  /** Absent: its content shows it. */
  readonly format?: TraceFormat;
}

/** A petabyte: bytes need larger numbers than cores. */
const MOST_BYTES = 1e15;

/**
 * Reads CSV of `timestamp,value` or a Prometheus range query, in cores or bytes; gaps stay gaps. Throws
 * a
 * `SyntaxError` for other formats, which have no usage in them, and for what `parseTrace()` refuses.
 */
export function readUsage(text: string, options: ReadUsageOptions): UsageHistory {
  const { name, resource } = options;
  const format = options.format ?? guessTraceFormat(text);
  if (format !== "cores" && format !== "prometheus") {
    throw new SyntaxError(
      `Cannot read history "${name}": it is taken for ${format}, expected usage over time: CSV of ` +
        "timestamp,value or a Prometheus export",
    );
  }
  const samples = parseTimedValues(text, {
    name,
    format,
    ...(resource === "memory" ? { most: MOST_BYTES, counted: "bytes" } : {}),
  });
  return usageHistory(samples, { name, resource });
}
