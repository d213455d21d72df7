/**
 * The installation's rules of placement: what the settings file and the controller's variables say, by
 * the controller's own rows. The controller checks them; here what can't be read counts as not set.
 *
 * @module
 */
import { DRY_RUN_SETTING } from "../../../shared/config/schema.ts";
import {
  fileKeysOf,
  settingOf,
  type SettingSchema,
  settingsOf,
} from "../../../shared/config/setting.ts";
import * as z from "zod";
import { fileValues } from "../../../shared/config/file.ts";
import { type PlacementConfig, placementConfig } from "../../../shared/placement/config.ts";
import {
  PLACEMENT_SETTINGS,
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

const SCHEMA = z.object({ ...PLACEMENT_SETTINGS.shape, dryRun: DRY_RUN_SETTING });

const SWITCH_KEY = settingOf(PLACEMENT_SETTINGS.shape.placement).key;
const READ_ONLY_KEY = settingOf(PLACEMENT_SETTINGS.shape.readOnlyMode).key;

/** What holds: variable over file over default, as for the controller. */
export function placementRules({ text, variables }: InstalledText): InstalledRules {
  const { texts } = fileValues({ path: SETTINGS.key, text }, { settings: settingsOf(SCHEMA) });
  const notes: string[] = [];

  function valueOf(schema: SettingSchema<unknown>): unknown {
    const setting = settingOf(schema);
    const { env = "", expects } = setting;
    const key = fileKeysOf(setting).find((one) => texts.has(one));
    const given = [
      { where: `variable ${env} of the controller`, text: variables?.[env] ?? "" },
      { where: key ?? "", text: texts.get(key ?? "") ?? "" },
    ].find((one) => one.text !== "");
    const { success, data } = schema.safeParse(given?.text);
    if (success) return data;
    notes.push(
      `${given?.where} is ${
        quotedText(given?.text ?? "")
      }, expected ${expects}; its default is assumed`,
    );
    return schema.parse(undefined);
  }

  const values = Object.fromEntries(
    Object.entries(SCHEMA.shape).map(([name, schema]) => [name, valueOf(schema)]),
  ) as unknown as PlacementValues & { readonly dryRun: boolean };
  const rules = placementConfig(() => ({ ...values, namespace: SYSTEM_NAMESPACE }));
  // Manifests turn it on by a variable: without those it is unknown.
  const isKnown = variables !== undefined || texts.has(SWITCH_KEY);
  const switches = isKnown ? switchNotes(values, rules) : [];
  return { rules, notes: [...notes, ...placementFaults(values), ...switches] };
}

function switchNotes({ placement }: PlacementValues, { readOnly }: PlacementRules): string[] {
  if (!placement) {
    return [
      `Placement is off (${SWITCH_KEY}): nothing of this is done; the component ` +
      "placement of the manifests turns it on",
    ];
  }
  return readOnly ? [`Placement only reads (${READ_ONLY_KEY}): nothing of this is done`] : [];
}
