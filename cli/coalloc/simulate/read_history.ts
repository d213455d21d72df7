/**
 * The user's history: from a file to a trace that can be played.
 *
 * @module
 */
import { guessTraceFormat, parseTrace, traceRefusal } from "../../../lab/simulation/trace.ts";
import { decodeText, guessOf, type TraceFile } from "../../../lab/simulation/trace_files.ts";
import { busiestWindow, requireLoad, wholeMinutes } from "../../../lab/simulation/trace_shape.ts";
import { readFault } from "../../file_problem.ts";
import { CommandProblem } from "../command_context.ts";
import type { CoallocWorld } from "../ports.ts";
import { chooseSeries } from "./choose_series.ts";
import type { HistorySource } from "./simulate_request.ts";

/** A history; its trace is what of it is played. */
export interface History extends TraceFile {
  readonly path: string;
  /** Minutes in the file. */
  readonly minutes: number;
}

/** The file's busiest minutes, all if it is shorter. Throws a CommandProblem or a SyntaxError. */
export async function readHistory(
  source: HistorySource,
  { readFile, mostMinutes }: {
    readonly readFile: CoallocWorld["readFile"];
    readonly mostMinutes: number;
  },
): Promise<History> {
  const { path, series } = source;
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new CommandProblem(`Cannot read trace "${path}": ${readFault(cause)}`, { cause });
  });
  const text = await decodeText(bytes, path);
  const format = source.format ?? guessTraceFormat(text);
  const guessed = source.format === undefined;
  const options = { format, name: path, guessed };
  const refuse = traceRefusal(options);
  if (text.trim() === "") throw refuse("it is empty, expected a history of requests or CPU");
  if (series !== undefined && format !== "prometheus") {
    throw refuse(`it is taken for ${format}, and --series chooses in a Prometheus export`);
  }
  const body = format === "prometheus"
    ? chooseSeries(text, { refuse, ...(series === undefined ? {} : { wanted: series }) })
    : text;
  const whole = parseTrace(body, options);
  requireLoad(whole, refuse);
  const minutes = wholeMinutes(whole, refuse);
  // A step may be longer than what is to be played.
  const trace = busiestWindow(whole, Math.max(mostMinutes * 60, whole.stepS));
  return { path, format, minutes, trace, ...(guessed ? guessOf(path, format) : {}) };
}
