/**
 * Reads traces from files: those that come with the project, and the user's own.
 *
 * @module
 */
import {
  guessRemark,
  guessTraceFormat,
  parseTrace,
  type Trace,
  type TraceFormat,
} from "./trace.ts";

/** Traces that come with the project; source and licence stand beside them. */
const SHIPPED = new Map<string, { readonly file: string; readonly format: TraceFormat }>([
  ["diurnal", { file: "autothrottle-rps/diurnal.txt", format: "rps" }],
  ["bursty", { file: "autothrottle-rps/bursty.txt", format: "rps" }],
  [
    "azure-code",
    { file: "azure-llm-arrivals/AzureLLMInferenceTrace_code.csv.gz", format: "arrivals" },
  ],
  ...[0, 1, 2, 3, 4, 5].map((number) =>
    [
      `crane${number}`,
      { file: `crane-dsp-prod/input${number}.csv.gz`, format: "cores" },
    ] as const
  ),
]);

/** Names that `readShippedTrace` knows. */
export const SHIPPED_TRACES: readonly string[] = [...SHIPPED.keys()];

/**
 * Reads a trace of the project by name, for instance `bursty`. `crane0` to `crane5` hold days, in
 * units of their own: cut them with `busiestWindow` and scale them. `azure-code` holds requests one
 * by one; what they cost in CPU is not recorded. RangeError for another name.
 */
export async function readShippedTrace(name: string): Promise<Trace> {
  const { text, format } = await readShippedText(name);
  return parseTrace(text, { format, name });
}

/** The text of a trace of the project, and its format; RangeError as above. */
export async function readShippedText(
  name: string,
): Promise<{ readonly text: string; readonly format: TraceFormat }> {
  const shipped = SHIPPED.get(name);
  if (shipped === undefined) {
    throw new RangeError(
      `Cannot read trace "${name}": it does not come with the project, expected one of ${
        SHIPPED_TRACES.join(", ")
      }`,
    );
  }
  const bytes = await Deno.readFile(new URL(`traces/${shipped.file}`, import.meta.url));
  return { text: await decodeText(bytes, name), format: shipped.format };
}

/** A trace from a user's file, and how it was written. */
export interface TraceFile {
  readonly trace: Trace;
  readonly format: TraceFormat;
  /** A sentence for the reader where the format was guessed and may be another. */
  readonly guess?: string;
}

/**
 * Reads a user's file, gzipped or not; without a format its content shows it. Throws a SyntaxError that
 * says what is wrong in it, or the system's error with the path when it can't be opened.
 */
export async function readTraceFile(path: string, wanted?: TraceFormat): Promise<TraceFile> {
  const text = await decodeText(await Deno.readFile(path), path);
  const format = wanted ?? guessTraceFormat(text);
  const guessed = wanted === undefined;
  const trace = parseTrace(text, { format, name: path, guessed });
  return { trace, format, ...(guessed ? guessOf(path, format) : {}) };
}

/** The member of a trace that says what it was taken for; none where that is certain. */
export function guessOf(path: string, format: TraceFormat): Pick<TraceFile, "guess"> {
  const remark = guessRemark(format);
  return remark === undefined ? {} : { guess: `Trace "${path}" is ${remark}` };
}

/** Every gzip file begins with these (RFC 1952, 2.3.1). */
const GZIP_MAGIC = [0x1f, 0x8b];

/** The text of a file that may be gzipped. Throws a SyntaxError with `name` when it is damaged. */
export async function decodeText(bytes: Uint8Array<ArrayBuffer>, name: string): Promise<string> {
  const gzipped = GZIP_MAGIC.every((byte, index) => bytes[index] === byte);
  try {
    const plain = gzipped
      ? await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")))
        .arrayBuffer()
      : bytes;
    return new TextDecoder("utf-8", { fatal: true }).decode(plain);
  } catch (cause) {
    const kind = gzipped ? "a damaged gzip file" : "not UTF-8 text";
    throw new SyntaxError(`Cannot read trace "${name}": it is ${kind}, export it anew`, { cause });
  }
}
