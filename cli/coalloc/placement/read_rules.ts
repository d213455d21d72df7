/**
 * Reads the installation's rules of placement, where the user may.
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import { explainApiError } from "../api_problem.ts";
import type { Cluster } from "../ports.ts";
import { readSettings } from "../market_settings.ts";
import { type InstalledRules, placementRules } from "./placement_rules.ts";

/** The rules; of what can't be read the defaults are assumed, and the notes say so. */
export async function readRules(
  { reader, placement }: Pick<Cluster, "reader" | "placement">,
): Promise<InstalledRules> {
  const problems: string[] = [];
  const [settings, command] = await Promise.all([
    readSettings(reader),
    placement.controllerCommand().catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.status !== 403) throw error;
      problems.push(
        `${explainApiError("read the controller's variables", error)}. What they set is not known`,
      );
      return undefined;
    }),
  ]);
  const { rules, notes } = placementRules({
    text: settings.text,
    variables: command?.variables,
  });
  return { rules, notes: [...settings.problems, ...problems, ...notes] };
}
