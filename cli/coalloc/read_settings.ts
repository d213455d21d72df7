/**
 * The installation's settings, where the user may read them.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { ClusterReader } from "./ports.ts";

/** The text of the settings file; empty where there is none. */
export interface ReadSettings {
  readonly text: string;
  /** In sentences, for people. */
  readonly problems: readonly string[];
}

/** Not everybody may read them; their defaults are the likeliest then. */
export async function readSettings(
  reader: Pick<ClusterReader, "settingsText">,
): Promise<ReadSettings> {
  try {
    return { text: await reader.settingsText() ?? "", problems: [] };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error;
    return { text: "", problems: ["The installation's settings can't be read: defaults assumed"] };
  }
}
