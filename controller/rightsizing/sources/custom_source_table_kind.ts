/**
 * The setting that names custom sources of usage.
 *
 * @module
 */
import { type LoginFiles, readLoginFiles } from "../../../shared/config/login_files.ts";
import { namedTableKind } from "../../../shared/config/named_table_kind.ts";
import { serverURLKind } from "../../../shared/config/server_url_kind.ts";
import type { SettingKind } from "../../../shared/config/setting.ts";

/** A server of somebody's own, and how to log in to it. */
export interface CustomSource {
  readonly url: string;
  readonly login: LoginFiles;
}

/** Sources by the name that policies say. */
export type CustomSourceTable = ReadonlyMap<string, CustomSource>;

/** A map of names to addresses, with words of a login after them; without any, the map is empty. */
export const customSourceTableKind: SettingKind<CustomSourceTable> = namedTableKind({
  expects: "a map of names to addresses, which may be followed by tokenFile=FILE, or user=NAME " +
    "passwordFile=FILE, and caFile=FILE",
  of: "a source",
  read(words) {
    const [address = "", ...rest] = words.trim().split(/\s+/);
    const url = serverURLKind.parse(address) ?? undefined;
    const login = readLoginFiles(rest.join(" "));
    if (url === undefined) {
      const why = serverURLKind.explain?.(address) ??
        "it does not begin with the address of a server";
      return { fault: `: ${why}` };
    }
    return "fault" in login ? { fault: `: ${login.fault}` } : { value: { url, login } };
  },
});
