/**
 * How traces are written, and how to recognize it by their content.
 *
 * @module
 */

/** The ways in which a trace may be written; `parseTrace()` describes them. */
export const TRACE_FORMATS = ["rps", "cores", "arrivals", "prometheus"] as const;

/** How a trace is written. */
export type TraceFormat = (typeof TRACE_FORMATS)[number];

/**
 * JSON is an answer of Prometheus; lines without a comma are request rates; a CSV of two columns is
 * `timestamp,value`, and any other a list of arrivals. The guess may be wrong where no line shows it:
 * a list of sparse arrivals with a second column, for instance, reads as usage. A guess
 * therefore says so, with {@linkcode guessRemark}.
 */
export function guessTraceFormat(text: string): TraceFormat {
  const body = text.replace(/^\uFEFF/, "").trimStart();
  if (body.startsWith("{") || body.startsWith("[")) return "prometheus";
  const [first = "", second = ""] = body.split("\n", 2);
  // The first line may hold column names.
  const sample = second.trim() === "" ? first : second;
  const columns = sample.split(",").length;
  if (columns === 1) return /[:T]/.test(sample) ? "arrivals" : "rps";
  return columns === 2 ? "cores" : "arrivals";
}

/** The message about a recognized format; JSON can be nothing else. */
export function guessRemark(format: TraceFormat): string | undefined {
  return format === "prometheus" ? undefined : `read as ${format}; give --format otherwise`;
}
