/**
 * The setting that names custom sources of usage.
 *
 * @module
 */
import { type LoginFiles, readLoginFiles } from "../../../shared/config/login_files.ts";
import { serverURLKind } from "../../../shared/config/server_url_kind.ts";
import type { SettingKind } from "../../../shared/config/setting.ts";

/** A server of somebody's own, and how to log in to it. */
export interface CustomSource {
  readonly url: string;
  readonly login: LoginFiles;
}

/** Sources by the name that policies say. */
export type CustomSourceTable = ReadonlyMap<string, CustomSource>;

const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const NAMES = "expected a name of at most 63 of a-z, 0-9 and -";

/** A map of names to addresses, with words of a login after them; without any, the map is empty. */
export const customSourceTableKind: SettingKind<CustomSourceTable> = {
  expects: "a map of names to addresses, which may be followed by tokenFile=FILE, or user=NAME " +
    "passwordFile=FILE, and caFile=FILE",
  map: true,
  parse(text) {
    const table = readTable(text);
    return table instanceof Map ? table : undefined;
  },
  explain(text) {
    const table = readTable(text);
    return typeof table === "string" ? table : undefined;
  },
};

/** The table, or what is wrong with it. What may be a secret is not shown. */
function readTable(text: string): CustomSourceTable | string {
  const table = new Map<string, CustomSource>();
  const faults: string[] = [];
  const texts: Readonly<Record<string, string>> = text === "" ? {} : JSON.parse(text);
  for (const [name, words] of Object.entries(texts)) {
    const [address = "", ...rest] = words.trim().split(/\s+/);
    const url = serverURLKind.parse(address) ?? undefined;
    const login = readLoginFiles(rest.join(" "));
    if (!NAME.test(name)) faults.push(`${JSON.stringify(name)} is no name of a source, ${NAMES}`);
    else if (url === undefined) {
      const why = serverURLKind.explain?.(address) ??
        "it does not begin with the address of a server";
      faults.push(`${name}: ${why}`);
    } else if ("fault" in login) faults.push(`${name}: ${login.fault}`);
    else table.set(name, { url, login });
  }
  return faults.length === 0 ? table : faults.join("; ");
}
