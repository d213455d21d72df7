/**
 * A permission set of `deno.json` as the flags of `deno run`, for places without a `deno.json`.
 *
 * @module
 */

/** The permissions of one kind: everything, nothing, or the names in the list. */
type Allowance = boolean | readonly string[];

/** A set as it stands in `deno.json`. */
export type PermissionSet = Readonly<Record<string, unknown>>;

const KINDS: readonly string[] = ["read", "write", "net", "env", "sys", "run", "ffi", "import"];

/**
 * `--no-prompt` and one `--allow-…` for each kind that the set names. Throws a `SyntaxError` for
 * anything else in the set: a right that is left out silently would fail far from here.
 */
export function permissionFlags(set: PermissionSet): string[] {
  const flags = ["--no-prompt"];
  for (const [kind, allowance] of Object.entries(set)) {
    if (!KINDS.includes(kind) || !isAllowance(allowance)) {
      throw new SyntaxError(
        `Cannot turn the permission set into flags: ${kind} is ${JSON.stringify(allowance)}, ` +
          `expected one of ${KINDS.join(", ")} with true, false or a list without commas`,
      );
    }
    if (allowance === false) continue;
    flags.push(`--allow-${kind}${allowance === true ? "" : `=${allowance.join(",")}`}`);
  }
  return flags;
}

/** An empty list would become a flag without a value, which allows everything. */
function isAllowance(value: unknown): value is Allowance {
  if (typeof value === "boolean") return true;
  return Array.isArray(value) && value.length > 0 &&
    value.every((item) => typeof item === "string" && item !== "" && !item.includes(","));
}
