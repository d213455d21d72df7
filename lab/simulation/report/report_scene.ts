/**
 * What the report says about the scene beyond the records.
 *
 * @module
 */

/** Where a trace comes from. */
export interface TraceSource {
  readonly name: string;
  /** Where it was published, as text or as a URL. */
  readonly source: string;
  readonly licence: string;
}

/** The scene as text. */
export interface ReportScene {
  /** What runs on what, in a sentence or two. */
  readonly description: string;
  readonly traces: readonly TraceSource[];
  /** The command that makes this report again. */
  readonly command?: string;
}
