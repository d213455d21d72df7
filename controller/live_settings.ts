/**
 * The settings while the controller runs: the text of the file may change, and what can be followed
 * without a restart is followed.
 *
 * @module
 */
import {
  type Effective,
  effectiveSettings,
  type SettingSources,
} from "../shared/config/effective_settings.ts";
import { MARKET_ROW } from "../shared/config/program_rows.ts";
import type { SettingsFile } from "../shared/config/settings_file.ts";
import type { Log } from "../shared/log.ts";
import { CONTROLLER_PROGRAM, CONTROLLER_SETTINGS, type ControllerSettings } from "./settings.ts";

/** What the program began with. */
export interface StartSettings {
  readonly settings: Effective<typeof CONTROLLER_SETTINGS>;
  /** Where they came from; flags and variables go on to stand over the file. */
  readonly sources: SettingSources;
  /** What is wrong with them, where it runs despite faults. @default {[]} */
  readonly faults?: readonly string[];
}

/** The settings as they are now. */
export interface LiveSettings {
  values(): ControllerSettings;
  /** True while the last text that was taken had no faults. */
  readonly valid: boolean;
  /** Calls `onChange` after each change that is followed; the returned function ends it. */
  subscribe(onChange: () => void): () => void;
  /**
   * Takes the file's new text. One with faults is refused and logged: what was there stays, but for a
   * market that it turns off. When the file is gone, `text` undefined, everything stays.
   */
  takeFile(file: SettingsFile | { readonly path: string; readonly text: undefined }): void;
}

/** Settings that begin with what the program began with. */
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
    for (const [name, { key, live = false }] of Object.entries(CONTROLLER_SETTINGS)) {
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
      const next = effectiveSettings(CONTROLLER_SETTINGS, { ...sources, file }, CONTROLLER_PROGRAM);
      valid = !("faults" in next);
      if ("faults" in next) {
        for (const fault of next.faults) log.error("Settings refused", { fault });
        if (!next.readable.values.market) take(next.readable, (key) => key === MARKET_ROW.key);
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
