/**
 * The settings file: YAML with one section per part of the product. One file serves both programs.
 *
 * @module
 */
import { isMap as isMapNode, isNode, isScalar, parseDocument } from "yaml";
import { nearestName } from "./nearest_name.ts";
import { fileKeysOf, sectionOf, type SettingTable } from "./setting.ts";
import { OPTIPOD_KEYS } from "./optipod_keys.ts";

/** A settings file as it was read. */
export interface SettingsFile {
  /** For messages. */
  readonly path: string;
  readonly text: string;
  /** Settings beside it, where it is one of several keys of a ConfigMap. */
  readonly keys?: SettingsKeys;
}

/** The texts of the values by key, and what is wrong with the file. */
export interface FileValues {
  readonly texts: ReadonlyMap<string, string>;
  readonly faults: readonly string[];
}

/** What may stand in a file. */
export interface KnownSettings {
  readonly table: SettingTable;
  /** Sections that another program checks: keys that the table lacks are passed over there. */
  readonly otherSections?: readonly string[];
}

/**
 * Reads a settings file. A key that the table does not know is a fault; so is a value that is no
 * scalar and no list of scalars, or no map of texts where the setting is one. An empty file has no
 * values.
 */
export function fileValues(
  { path, text }: SettingsFile,
  { table, otherSections = [] }: KnownSettings,
): FileValues {
  const texts = new Map<string, string>();
  const faults: string[] = [];
  const settings = Object.values(table);
  const known = new Set(settings.flatMap(fileKeysOf));
  const maps = new Set(settings.filter(({ kind }) => kind.map).map(({ key }) => key));
  const trees = new Set(settings.filter(({ kind }) => kind.tree).flatMap(fileKeysOf));
  const sections = new Set([...known].map((key) => sectionOf(key) ?? key));
  const alone = new Set([...known].filter((key) => sectionOf(key) === undefined));
  const shorthands = new Map(
    settings.filter(({ shorthand }) => shorthand).map(({ key }) => [sectionOf(key), key]),
  );

  function put(key: string, value: unknown): void {
    if (maps.has(key)) return putMap(key, value ?? {});
    const found = scalarText(value) ?? (trees.has(key) ? JSON.stringify(value ?? "") : undefined);
    if (found === undefined) {
      faults.push(`${path}: ${key} is ${JSON.stringify(value)}, expected one value or a list`);
    } else texts.set(key, found);
  }

  function putMap(key: string, value: unknown): void {
    if (!isMap(value)) {
      faults.push(`${path}: ${key} is ${JSON.stringify(value)}, expected a map of names to texts`);
      return;
    }
    const others = Object.entries(value).filter(([, text]) => typeof text !== "string");
    for (const [name, text] of others) {
      faults.push(`${path}: ${key}.${name} is ${JSON.stringify(text)}, expected a text`);
    }
    texts.set(key, JSON.stringify(others.length === 0 ? value : {}));
  }

  /** The settings of a section, and of maps in it that are no values themselves. */
  function putAll(
    place: string,
    values: Readonly<Record<string, unknown>>,
    { isOther = false }: { readonly isOther?: boolean } = {},
  ): void {
    for (const [name, value] of Object.entries(values)) {
      const key = `${place}.${name}`;
      const hasMore = [...known].some((one) => one.startsWith(`${key}.`));
      if (hasMore && (isMap(value) || value === null)) putAll(key, value ?? {}, { isOther });
      else if (known.has(key)) put(key, value);
      else if (isOther) continue;
      else if (hasMore) faults.push(notMap(key, value));
      else faults.push(unknown(path, key, known));
    }
  }

  function notMap(key: string, value: unknown): string {
    return `${path}: ${key} is ${JSON.stringify(value)}, expected a map of settings`;
  }

  const { root, faults: unreadable } = readableYAML(text);
  faults.push(...unreadable.map((fault) => `${path}: is not YAML: ${fault}`));
  if (!isMap(root)) {
    faults.push(`${path}: is not a map of sections (${[...sections].join(", ")})`);
    return { texts, faults };
  }
  for (const [section, body] of Object.entries(root)) {
    if (otherSections.includes(section)) {
      if (isMap(body)) putAll(section, body, { isOther: true });
      continue;
    }
    const shorthand = shorthands.get(section);
    if (!sections.has(section)) {
      faults.push(unknown(path, section, new Set([...sections, ...otherSections])));
    } else if (body === null) continue;
    else if (alone.has(section)) put(section, body);
    else if (!isMap(body) && shorthand !== undefined) put(shorthand, body);
    else if (isMap(body)) putAll(section, body);
    else faults.push(notMap(section, body));
  }
  return { texts, faults };
}

/**
 * The content of a settings file, and why it is not YAML. What can be read of a text with faults is
 * there all the same, section by section: a market that is off must not depend on the rest.
 */
export function readableYAML(
  text: string,
): { readonly root: unknown; readonly faults: readonly string[] } {
  const document = parseDocument(text);
  const faults = document.errors.map(({ message }) => onOneLine(message));
  const { contents } = document;
  if (contents === null) return { root: {}, faults };
  if (!isMapNode(contents)) return { root: contents.toJS(document), faults };
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
  if (isMap(present) && present[section] !== undefined && !isMap(present[section])) {
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

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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
