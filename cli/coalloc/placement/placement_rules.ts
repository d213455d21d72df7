/**
 * The installation's rules of placement: what the settings file and the controller's variables say, by
 * the controller's own rows. The controller checks them; here what can't be read counts as not set.
 *
 * @module
 */
import { DRY_RUN_ROW } from "../../../shared/config/program_rows.ts";
import { fileKeysOf, type Setting } from "../../../shared/config/setting.ts";
import { fileValues } from "../../../shared/config/settings_file.ts";
import { type PlacementConfig, placementConfig } from "../../../shared/placement/config.ts";
import {
  PLACEMENT_ROWS,
  placementFaults,
  type PlacementValues,
} from "../../../shared/placement/settings.ts";
import { quotedText } from "../../../shared/quoted_text.ts";
import { SETTINGS, SYSTEM_NAMESPACE } from "../kube/installation.ts";

/** The rules that decide what is shown. */
export type PlacementRules = Pick<
  PlacementConfig,
  "scope" | "classes" | "departures" | "readOnly" | "cooldownMs" | "shortage"
>;

/** What the installation says. */
export interface InstalledText {
  /** The settings file; empty where there is none. */
  readonly text: string;
  /** Variables of the controller; undefined where there is none, or the user may not see it. */
  readonly variables: Readonly<Record<string, string>> | undefined;
}

/** The rules, and what else is to be said of them. */
export interface InstalledRules {
  readonly rules: PlacementRules;
  /** In sentences, for people. */
  readonly notes: readonly string[];
}

const ROWS = { ...PLACEMENT_ROWS, dryRun: DRY_RUN_ROW };

/** What holds: variable over file over default, as for the controller. */
export function placementRules({ text, variables }: InstalledText): InstalledRules {
  const { texts } = fileValues({ path: SETTINGS.key, text }, { table: ROWS });
  const notes: string[] = [];

  function valueOf<T>(row: Setting<T>): T {
    const { kind, env = "" } = row;
    const key = fileKeysOf(row).find((one) => texts.has(one));
    const given = [
      { where: `variable ${env} of the controller`, text: variables?.[env] ?? "" },
      { where: key ?? "", text: texts.get(key ?? "") ?? "" },
    ].find((one) => one.text !== "");
    const value = given && kind.parse(given.text);
    if (value !== undefined) return value;
    if (given !== undefined) {
      notes.push(
        `${given.where} is ${
          quotedText(given.text)
        }, expected ${kind.expects}; its default is assumed`,
      );
    }
    const usual = kind.parse(row.default);
    if (usual === undefined) {
      throw new TypeError(`Cannot read default of ${row.key}: ${row.default}`);
    }
    return usual;
  }

  const values = Object.fromEntries(
    Object.entries(ROWS).map(([name, row]) => [name, valueOf<unknown>(row)]),
  ) as unknown as PlacementValues & { readonly dryRun: boolean };
  const rules = placementConfig(() => ({ ...values, namespace: SYSTEM_NAMESPACE }));
  // Manifests turn it on by a variable: without those it is unknown.
  const isKnown = variables !== undefined || texts.has(PLACEMENT_ROWS.placement.key);
  const switches = isKnown ? switchNotes(values, rules) : [];
  return { rules, notes: [...notes, ...placementFaults(values), ...switches] };
}

function switchNotes({ placement }: PlacementValues, { readOnly }: PlacementRules): string[] {
  if (!placement) {
    return [
      `Placement is off (${PLACEMENT_ROWS.placement.key}): nothing of this is done; the component ` +
      "placement of the manifests turns it on",
    ];
  }
  return readOnly
    ? [`Placement only reads (${PLACEMENT_ROWS.readOnlyMode.key}): nothing of this is done`]
    : [];
}
