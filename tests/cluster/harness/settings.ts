/**
 * What was decided when a cluster was brought up, kept in its folder for later commands.
 *
 * @module
 */
import { z } from "zod";
import { readIfThere } from "./components/daemon.ts";
import type { Instance } from "./instance.ts";

const schema = z.strictObject({
  cpuManager: z.enum(["none", "static"]),
  /** Clusters of older harnesses have quotas. */
  cpuQuota: z.enum(["on", "off"]).default("on"),
  cniFolder: z.string(),
  snapshotter: z.enum(["overlayfs", "native"]),
  /** Paths by name; kubectl among them. */
  binaries: z.record(z.string(), z.string()),
});

/** The decisions. */
export type Settings = z.infer<typeof schema>;

/** Reads what {@linkcode writeSettings} wrote. Throws a `SyntaxError` for anything else. */
export function parseSettings(text: string): Settings {
  const result = schema.safeParse(JSON.parse(text));
  if (result.success) return result.data;
  throw new SyntaxError(
    `Cannot read the cluster's settings: ${result.error.issues[0]?.message}; bring it down and up`,
  );
}

/** The settings of an instance; undefined when it was not brought up. */
export async function readSettings({ directory }: Instance): Promise<Settings | undefined> {
  const text = await readIfThere(`${directory}/settings.json`);
  return text === undefined ? undefined : parseSettings(text);
}

/** Keeps the settings. */
export async function writeSettings({ directory }: Instance, settings: Settings): Promise<void> {
  await Deno.writeTextFile(`${directory}/settings.json`, `${JSON.stringify(settings, null, 2)}\n`);
}
