/**
 * One golden output: a file that a refactoring must leave byte for byte.
 *
 * @module
 */

/** What a part comes to. */
export interface Computed {
  /** What the file should hold; absent where it can't be computed on this machine. */
  readonly text?: string;
  /** Why it can't. */
  readonly leftOut?: string;
  /** For people, for instance how often each reason occurs. */
  readonly notes: readonly string[];
  /** What is wrong with the output itself, whatever is stored. */
  readonly problems: readonly string[];
}

/** An output and its file. */
export interface GoldenPart {
  /** As in `--only`. */
  readonly name: string;
  /** In `tests/golden/expected/`; gzipped where it ends in `.gz`. */
  readonly file: string;
  /** Computes the output, in a worker of its own. `cores` is how many threads it may use. */
  readonly compute: (options: { readonly cores: number }) => Promise<Computed>;
}
