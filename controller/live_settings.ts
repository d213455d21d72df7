/**
 * The settings while the controller runs: the text of the file may change, and live settings follow it
 * without a restart.
 *
 * @module
 */
import type { SettingsFile } from "../shared/config/file.ts";
import { type Effective, effectiveSettings, type SettingSources } from "../shared/config/load.ts";
import { MARKET_SETTING } from "../shared/config/schema.ts";
import { settingOf } from "../shared/config/setting.ts";
import type { Log } from "../shared/log.ts";
import { CONTROLLER_SETTINGS, type ControllerSettings } from "./settings.ts";

/** The settings at the start. */
export interface StartSettings {
  readonly settings: Effective<typeof CONTROLLER_SETTINGS>;
  /** Their sources; flags and variables keep precedence over the file. */
  readonly sources: SettingSources;
  /** Their faults, where the program runs despite those. @default {[]} */
  readonly faults?: readonly string[];
}

/** The settings as they are now. */
export interface LiveSettings {
  values(): ControllerSettings;
  /** False while the last text of the file has faults. */
  readonly valid: boolean;
  /** Calls `onChange` after each change of live settings, until the returned function is called. */
  subscribe(onChange: () => void): () => void;
  /**
   * Takes the file's new text; undefined when the file is gone: then all settings stay. Faults are
   * logged, and of a text with faults only a market that is off counts.
   */
  takeFile(file: SettingsFile | { readonly path: string; readonly text: undefined }): void;
}

const MARKET_KEY = settingOf(MARKET_SETTING).key;

/** Live settings that begin with those of the start. */
export function createLiveSettings(
  { settings, sources, faults = [] }: StartSettings,
  log: Log,
): LiveSettings {
  const subscribers = new Set<() => void>();
  let values = settings.values;
  let valid = faults.length === 0;
  const texts = new Map([...settings.origins].map(([key, { text }]) => [key, text]));

  function take(
    next: Effective<typeof CONTROLLER_SETTINGS>,
    followedKeys: (key: string) => boolean = () => true,
  ): void {
    const followed: Record<string, unknown> = { ...values };
    let changes = 0;
    for (const [name, schema] of Object.entries(CONTROLLER_SETTINGS.shape)) {
      const { key, live = false } = settingOf(schema);
      const { text = "", origin = "default" } = next.origins.get(key) ?? {};
      const before = texts.get(key);
      if (before === text || !followedKeys(key)) continue;
      if (live) {
        texts.set(key, text);
        followed[name] = next.values[name as keyof ControllerSettings];
        changes++;
        log.info("Setting changed", { key, from: before, to: text, origin });
      } else {
        log.warn("Setting changed, restart to follow it", { key, from: before, to: text });
      }
    }
    if (changes === 0) return;
    values = followed as unknown as ControllerSettings;
    for (const onChange of subscribers) onChange();
  }

  return {
    values: () => values,
    get valid() {
      return valid;
    },
    subscribe(onChange) {
      subscribers.add(onChange);
      return () => void subscribers.delete(onChange);
    },
    takeFile(file) {
      if (file.text === undefined) {
        log.warn("The settings are gone: those from before stay", { path: file.path });
        return;
      }
      const next = effectiveSettings(CONTROLLER_SETTINGS, { ...sources, file });
      valid = !("faults" in next);
      if ("faults" in next) {
        for (const fault of next.faults) log.error("Settings refused", { fault });
        if (!next.readable.values.market) take(next.readable, (key) => key === MARKET_KEY);
      } else take(next);
      warnOfOverridden("faults" in next ? next.readable : next, log);
    },
  };
}

/** Logs each value of the file that has no effect. */
export function warnOfOverridden(
  { overridden }: Pick<Effective<typeof CONTROLLER_SETTINGS>, "overridden">,
  log: Log,
): void {
  for (const { key, inFile, holds, by } of overridden) {
    log.warn("Setting of the file is overridden", { key, inFile, holds, by });
  }
}
