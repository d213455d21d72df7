/**
 * Results for programs.
 *
 * @module
 */
import { stringify } from "yaml";

/** A form of output; `patch` of `recommend` alone. */
export type OutputFormat = "table" | "wide" | "json" | "yaml" | "patch";

/** What all commands have, for help and completion. */
export const OUTPUT_FORMATS: readonly OutputFormat[] = ["table", "wide", "json", "yaml"];

/** The value as JSON or YAML, ended by a line feed; undefined for forms that people read. */
export function structuredOutput(value: unknown, format: OutputFormat): string | undefined {
  if (format === "json") return `${JSON.stringify(value, null, 2)}\n`;
  // By way of JSON: absent members stay absent, and nothing but plain data is left.
  if (format === "yaml") return stringify(JSON.parse(JSON.stringify(value)), { lineWidth: 0 });
  return undefined;
}
