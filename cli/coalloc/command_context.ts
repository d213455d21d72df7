/**
 * What every command works with: a connected cluster, the world, and the flags that all commands have.
 *
 * @module
 */
import type { TerminalLook } from "../terminal/paint.ts";
import type { Cluster, CommandWorld } from "./ports.ts";
import type { OutputFormat } from "./output.ts";

/** Which namespaces a command looks at. */
export type NamespaceChoice =
  /** All of them. */
  | { readonly all: true }
  | { readonly all: false; readonly name: string };

/** What a command works with. */
export interface CommandContext {
  readonly cluster: Cluster;
  readonly world: CommandWorld;
  readonly namespace: NamespaceChoice;
  readonly output: OutputFormat;
  readonly look: TerminalLook;
}

/** Something a command can't do, in a sentence for the user; the program then ends with code 1. */
export class CommandProblem extends Error {
  override readonly name = "CommandProblem";
}
