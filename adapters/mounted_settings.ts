/**
 * A settings file on disk, with the keys beside it where it is one of a ConfigMap's.
 *
 * @module
 */
import type { SettingsFile } from "../shared/config/settings_file.ts";
import { settingsAmong } from "../shared/config/settings_keys.ts";

/**
 * Where the kubelet puts the data of a ConfigMap, a file for each key: what else is in the folder is
 * mounted below it.
 */
const DATA = "..data";

/**
 * Reads a settings file. Where a ConfigMap is mounted its other keys come with it, and the file itself
 * may be missing among them. Throws as `Deno.readTextFileSync()` does.
 */
export function readSettingsFile(path: string): SettingsFile {
  const slash = path.lastIndexOf("/") + 1;
  const [place, name] = [path.slice(0, slash), path.slice(slash)];
  const file = settingsAmong(mountedData(`${place}${DATA}`), { name, path, place });
  return file ?? { path, text: Deno.readTextFileSync(path) };
}

/** Texts by key; none where there is no such folder, or it may not be read. */
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
