/**
 * Settings that are keys of a ConfigMap by themselves, beside the one that has the settings file: so
 * OptiPod's ConfigMap has them.
 *
 * @module
 */
import { nearestName } from "./nearest_name.ts";
import { OPTIPOD_KEYS } from "./optipod_keys.ts";
import { fileKeysOf, sectionOf, type SettingTable } from "./setting.ts";
import type { FileValues, SettingsFile } from "./settings_file.ts";

/** The keys beside a settings file. */
export interface SettingsKeys {
  /** The key that has the file. */
  readonly beside: string;
  /** What stands before a key in messages, for instance `/etc/mbcas/`. */
  readonly place: string;
  readonly texts: ReadonlyMap<string, string>;
}

/** Which key has the file, and what messages call it and the others. */
export interface SettingsPlace {
  readonly name: string;
  readonly path: string;
  /** See {@linkcode SettingsKeys}. */
  readonly place: string;
}

/**
 * The settings file among the data of a ConfigMap, with the keys beside it; undefined when there is
 * neither. Without a file, but with keys, it has no text.
 */
export function settingsAmong(
  data: Readonly<Record<string, string>>,
  { name, path, place }: SettingsPlace,
): SettingsFile | undefined {
  const texts = new Map(Object.entries(data).filter(([key]) => key !== name));
  const text = data[name];
  if (texts.size === 0) return text === undefined ? undefined : { path, text };
  return { path, text: text ?? "", keys: { beside: name, place, texts } };
}

/**
 * Reads the keys. One that the table does not have in the file by itself, in no section, is a fault,
 * unless it is OptiPod's and so another program's. Spaces and line ends around a value don't count,
 * and an empty one is none.
 */
export function keyValues({ beside, place, texts }: SettingsKeys, table: SettingTable): FileValues {
  const own = Object.values(table).filter(({ kind }) => !kind.tree).flatMap(fileKeysOf)
    .filter((key) => sectionOf(key) === undefined);
  const valid = [...new Set([beside, ...own, ...OPTIPOD_KEYS])];
  const values = new Map<string, string>();
  const faults: string[] = [];
  for (const [key, text] of texts) {
    const value = text.trim();
    if (own.includes(key)) {
      if (value !== "") values.set(key, value);
    } else if (!valid.includes(key)) {
      const nearest = nearestName(key, valid);
      const guess = nearest === undefined ? "" : `did you mean ${nearest}? `;
      faults.push(`${place}${key} is not a setting; ${guess}known are ${valid.join(", ")}`);
    }
  }
  return { texts: values, faults };
}
