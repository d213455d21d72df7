/**
 * The settings file: YAML with one section per part of the product. One file serves both programs.
 *
 * @module
 */
import { isMap, isNode, isScalar, parseDocument } from "yaml";
import { isMembers } from "../members.ts";
import { nearestName } from "../nearest_name.ts";
import { fileKeysOf, sectionOf, type Setting } from "./setting.ts";
import { OPTIPOD_KEYS } from "./aliases.ts";

/** A settings file as it was read. */
export interface SettingsFile {
  /** Named in faults. */
  readonly path: string;
  readonly text: string;
  /** Settings beside it, where it is one of several keys of a ConfigMap. */
  readonly keys?: SettingsKeys;
}

/** The texts of the values by key, and the faults of the file. */
export interface FileValues {
  readonly texts: ReadonlyMap<string, string>;
  readonly faults: readonly string[];
}

/** Settings that may be in a file. */
export interface KnownSettings {
  readonly settings: readonly Setting[];
  /** Sections that another program checks: keys that `settings` lacks are ignored there. */
  readonly ignoredSections?: readonly string[];
}

/**
 * Reads a settings file. An unknown key is a fault; so is a value that is no scalar and no list of
 * scalars, or no map of texts where the setting is one. An empty file has no values.
 */
export function fileValues(
  { path, text }: SettingsFile,
  { settings, ignoredSections = [] }: KnownSettings,
): FileValues {
  const { root, faults: unreadable } = readableYAML(text);
  const keys = new Map(settings.flatMap((one) => fileKeysOf(one).map((key) => [key, one])));
  const sections = new Set([...keys.keys()].map((key) => sectionOf(key) ?? key));
  const found: FoundValues = {
    path,
    keys,
    sections,
    ignoredSections,
    texts: new Map(),
    shorthands: new Map(
      settings.flatMap(({ shorthand, key }) => shorthand ? [[sectionOf(key), key]] : []),
    ),
    faults: unreadable.map((fault) => `${path}: is not YAML: ${fault}`),
  };
  if (isMembers(root)) takeAll(found, root);
  else found.faults.push(`${path}: is not a map of sections (${[...sections].join(", ")})`);
  return found;
}

/** The values read so far. */
interface FoundValues {
  readonly path: string;
  /** The settings by each of their keys. */
  readonly keys: ReadonlyMap<string, Setting>;
  readonly sections: ReadonlySet<string>;
  readonly ignoredSections: readonly string[];
  /** Keys of settings with values that may take the place of their sections. */
  readonly shorthands: ReadonlyMap<string | undefined, string>;
  readonly texts: Map<string, string>;
  readonly faults: string[];
}

/** Takes the settings of the file or a section, and of the maps in it that hold further settings. */
function takeAll(
  found: FoundValues,
  values: Readonly<Record<string, unknown>>,
  { place, isOther = false }: { readonly place?: string; readonly isOther?: boolean } = {},
): void {
  const { path, keys, sections, ignoredSections, shorthands, faults } = found;
  for (const [name, value] of Object.entries(values)) {
    const key = place === undefined ? name : `${place}.${name}`;
    const ignored = isOther || ignoredSections.includes(key);
    const hasMore = keys.keys().some((one) => one.startsWith(`${key}.`));
    const shorthand = shorthands.get(key);
    if (value === null && (hasMore || place === undefined && keys.has(key))) continue;
    if (hasMore && isMembers(value)) takeAll(found, value, { place: key, isOther: ignored });
    else if (keys.has(key)) takeValue(found, key, value);
    else if (ignored) continue;
    else if (shorthand !== undefined) takeValue(found, shorthand, value);
    else if (hasMore) {
      faults.push(`${path}: ${key} is ${JSON.stringify(value)}, expected a map of settings`);
    } else {
      const known = place === undefined ? sections.union(new Set(ignoredSections)) : keys.keys();
      faults.push(unknown(path, key, new Set(known)));
    }
  }
}

function takeValue(found: FoundValues, key: string, value: unknown): void {
  const { path, keys, texts, faults } = found;
  const form = keys.get(key)?.form;
  if (form === "map of texts") return takeMap(found, key, value ?? {});
  const text = scalarText(value) ?? (form === "tree" ? JSON.stringify(value ?? "") : undefined);
  if (text === undefined) {
    faults.push(`${path}: ${key} is ${JSON.stringify(value)}, expected one value or a list`);
  } else texts.set(key, text);
}

function takeMap({ path, texts, faults }: FoundValues, key: string, value: unknown): void {
  if (!isMembers(value)) {
    faults.push(`${path}: ${key} is ${JSON.stringify(value)}, expected a map of names to texts`);
    return;
  }
  const others = Object.entries(value).filter(([, text]) => typeof text !== "string");
  for (const [name, text] of others) {
    faults.push(`${path}: ${key}.${name} is ${JSON.stringify(text)}, expected a text`);
  }
  texts.set(key, JSON.stringify(others.length === 0 ? value : {}));
}

/**
 * The content of a settings file, and why it is not YAML. A text with faults still gives its readable
 * sections, so that `market: off` has an effect in it.
 */
export function readableYAML(
  text: string,
): { readonly root: unknown; readonly faults: readonly string[] } {
  const document = parseDocument(text);
  const faults = document.errors.map(({ message }) => onOneLine(message));
  const { contents } = document;
  if (contents === null) return { root: {}, faults };
  if (!isMap(contents)) return { root: contents.toJS(document), faults };
  const root: Record<string, unknown> = {};
  for (const { key, value } of contents.items) {
    try {
      root[String(isScalar(key) ? key.value : key)] = isNode(value) ? value.toJS(document) : value;
    } catch (error) {
      // An alias without its anchor is a ReferenceError.
      if (!(error instanceof ReferenceError)) throw error;
      faults.push(onOneLine(error.message));
    }
  }
  return { root, faults };
}

function onOneLine(message: string): string {
  return message.trim().replaceAll(/\s*\n\s*/g, " ");
}

/** The text of a settings file with one value changed; comments and order stay. */
export function withFileValue(
  text: string,
  { key, value }: { readonly key: string; readonly value: boolean | number | string },
): string {
  const document = parseDocument(text);
  const path = key.split(".");
  const [section = ""] = path;
  // A shorthand, as in `market: off`, gives way to the section.
  const present: unknown = document.toJS();
  if (isMembers(present) && present[section] !== undefined && !isMembers(present[section])) {
    document.delete(section);
  }
  document.setIn(path, value);
  return document.toString();
}

function unknown(path: string, key: string, known: ReadonlySet<string>): string {
  const nearest = nearestName(key, known);
  const remedy = nearest === undefined
    ? `known are ${[...known].sort().join(", ")}`
    : `did you mean ${nearest}?`;
  return `${path}: ${key} is not a setting; ${remedy}`;
}

function scalarText(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    const parts = value.map(scalarText);
    return parts.includes(undefined) ? undefined : parts.join(",");
  }
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : undefined;
}

/** The keys beside a settings file. */
export interface SettingsKeys {
  /** The key that has the file. */
  readonly beside: string;
  /** The text before a key in messages, for instance `/etc/mbcas/`. */
  readonly place: string;
  readonly texts: ReadonlyMap<string, string>;
}

/** Where a ConfigMap has the settings file, and how messages name the file and the keys beside it. */
export interface SettingsPlace {
  /** The key of the file. */
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
 * Reads the keys beside a settings file. Valid are the keys of settings without a section, and OptiPod's,
 * of which the other program reads some. Values are trimmed; an empty one counts as absent.
 */
export function keyValues(
  { beside, place, texts }: SettingsKeys,
  settings: readonly Setting[],
): FileValues {
  const settingKeys = settings.filter(({ form }) => form !== "tree").flatMap(fileKeysOf)
    .filter((key) => sectionOf(key) === undefined);
  const valid = [...new Set([beside, ...settingKeys, ...OPTIPOD_KEYS])];
  const values = new Map<string, string>();
  const faults: string[] = [];
  for (const [key, text] of texts) {
    const value = text.trim();
    if (settingKeys.includes(key)) {
      if (value !== "") values.set(key, value);
    } else if (!valid.includes(key)) {
      const nearest = nearestName(key, valid);
      const guess = nearest === undefined ? "" : `did you mean ${nearest}? `;
      faults.push(`${place}${key} is not a setting; ${guess}known are ${valid.join(", ")}`);
    }
  }
  return { texts: values, faults };
}
