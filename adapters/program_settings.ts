/**
 * A program's settings from arguments, environment and settings file.
 *
 * @module
 */
import { SPOTALIS_VARIABLES } from "../shared/config/aliases.ts";
import { commandFlags, type SettingsProgram } from "../shared/config/command_line.ts";
import { settingsAmong, type SettingsFile } from "../shared/config/file.ts";
import { type Effective, effectiveSettings, type SettingSources } from "../shared/config/load.ts";
import { settingsOf, type SettingsSchema } from "../shared/config/setting.ts";

/** Sources of the settings. */
export interface ProgramSettingsOptions {
  /** Arguments without the program's name. */
  readonly args: readonly string[];
  /** The environment, see {@linkcode programEnvironment}. */
  readonly env: Readonly<Record<string, string>>;
  /** Sections of the file that another program validates. */
  readonly ignoredSections?: readonly string[];
  /** Reads the settings file; throws when it can't. */
  readonly readFile?: (path: string) => SettingsFile;
}

/** Settings to run with, or a text to print and the exit code: 0 for help, 2 for faults. */
export type ProgramSettings<S extends SettingsSchema> =
  | {
    readonly settings: Effective<S>;
    readonly sources: SettingSources;
    /** Empty, unless the program starts despite faults. */
    readonly faults: readonly string[];
  }
  | { readonly exitCode: 0 | 2; readonly text: string };

/** The setting that names the file; it is read from its flag or variable only. */
const FILE_FLAG = "--config";

/** Reads flags, variables and file. Reports all faults at once, one line each. */
export function readProgramSettings<S extends SettingsSchema>(
  program: SettingsProgram<S>,
  options: ProgramSettingsOptions,
): ProgramSettings<S> {
  const { args, env, ignoredSections = [] } = options;
  const { readFile = readSettingsFile } = options;
  const command = commandFlags(program, args);
  if ("help" in command) return { exitCode: 0, text: command.help };
  const { flags } = command;
  const faults = [...command.faults];
  const fileVariable = settingsOf(program.schema).find(({ flag }) => flag === FILE_FLAG)?.env;
  const path = flags.get(FILE_FLAG) ?? (fileVariable === undefined ? "" : env[fileVariable] ?? "");
  const sources: SettingSources = { flags, env, ignoredSections };
  let file: SettingsFile | undefined;
  if (path !== "") {
    try {
      file = readFile(path);
    } catch (error) {
      faults.push(
        `${FILE_FLAG} ${path}: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
  const effective = effectiveSettings(
    program.schema,
    file === undefined ? sources : { ...sources, file },
  );
  if ("faults" in effective) {
    const despite = faults.length === 0 ? program.despiteFaults?.(effective.readable) : undefined;
    if (despite !== undefined) return { settings: despite, sources, faults: effective.faults };
    faults.push(...effective.faults);
  } else if (faults.length === 0) return { settings: effective, sources, faults };
  const lines = faults.map((fault) => `Cannot run ${program.name}: ${fault}\n`);
  return { exitCode: 2, text: lines.join("") };
}

/**
 * The part of the environment that the program may read: all of it with the right to list it, else the
 * variables of its settings and those of Spotalis. Misspelt names are found in the first case only.
 */
export function programEnvironment(schema: SettingsSchema): Readonly<Record<string, string>> {
  if (Deno.permissions.querySync({ name: "env" }).state === "granted") return Deno.env.toObject();
  const env: Record<string, string> = {};
  const variables = settingsOf(schema).flatMap(({ env: name }) => name ?? []);
  for (const name of [...variables, ...SPOTALIS_VARIABLES.keys()]) {
    const granted = Deno.permissions.querySync({ name: "env", variable: name }).state === "granted";
    const value = granted ? Deno.env.get(name) : undefined;
    if (value !== undefined) env[name] = value;
  }
  return env;
}

/**
 * The folder in which the kubelet keeps the data of a mounted ConfigMap, a file for each key. Other
 * entries beside it are further mounts.
 */
const DATA = "..data";

/**
 * Reads a settings file. From a mounted ConfigMap it reads the other keys, too, and the file itself may
 * be missing. Throws as `Deno.readTextFileSync()` does.
 */
export function readSettingsFile(path: string): SettingsFile {
  const slash = path.lastIndexOf("/") + 1;
  const [place, name] = [path.slice(0, slash), path.slice(slash)];
  const file = settingsAmong(mountedData(`${place}${DATA}`), { name, path, place });
  return file ?? { path, text: Deno.readTextFileSync(path) };
}

/** Texts by key; empty when the folder does not exist or may not be read. */
function mountedData(folder: string): Record<string, string> {
  const data: Record<string, string> = {};
  if (Deno.permissions.querySync({ name: "read", path: folder }).state !== "granted") return data;
  try {
    for (const { name, isFile } of Deno.readDirSync(folder)) {
      if (isFile) data[name] = Deno.readTextFileSync(`${folder}/${name}`);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return {};
  }
  return data;
}
