import assert from "node:assert/strict";
import { declaredTypes, isMinded, parseDocFindings } from "./doc_findings.ts";

const MISSING = "exported symbol is missing JSDoc documentation";
const HIDDEN = "public type 'A' references private type 'Hidden'";
const OUTPUT = `error[missing-jsdoc]: ${MISSING}
  --> /p/shared/a.ts:12:1
   | 
12 | export function f(): void {}
   | ^


error[private-type-ref]: ${HIDDEN}
  --> /p/shared/b.ts:9:1
  | 
9 | export type A = Hidden;
  | ^
  = hint: make the referenced type public or remove the reference
  | 
1 | type Hidden = 1;
  | -


error: Found 2 documentation lint errors.
`;

Deno.test({
  name: "parseDocFindings() gives code, message, place and line of each finding",
  permissions: "none",
  fn() {
    assert.deepEqual(parseDocFindings(OUTPUT), [
      {
        code: "missing-jsdoc",
        message: MISSING,
        place: "/p/shared/a.ts:12:1",
        line: "export function f(): void {}",
      },
      {
        code: "private-type-ref",
        message: HIDDEN,
        place: "/p/shared/b.ts:9:1",
        line: "export type A = Hidden;",
      },
    ]);
    assert.deepEqual(parseDocFindings("Checked 3 files\n"), []);
  },
});

Deno.test({
  name: "isMinded() passes over members, schemas, typed constants and types of packages only",
  permissions: "none",
  fn() {
    const finding = (code: string, line: string, message = ""): boolean =>
      isMinded({ code, line, message, place: "" }, new Set(["Hidden"]));
    assert.equal(finding("missing-jsdoc", "  readonly name: string;"), false);
    assert.equal(finding("missing-jsdoc", "export const a = 1;"), true);
    assert.equal(finding("missing-explicit-type", "export const podSchema = z.object({"), false);
    assert.equal(finding("missing-explicit-type", "export const pod = load();"), true);
    assert.equal(finding("private-type-ref", "", "references private type 'ZodType'"), false);
    assert.equal(finding("private-type-ref", "", "references private type 'Hidden'"), true);
    assert.equal(finding("missing-return-type", "export const f: F = (a) => a;"), false);
    assert.equal(finding("missing-return-type", "export function f() {}"), true);
  },
});

Deno.test({
  name: "declaredTypes() finds interfaces, types and classes, exported or not",
  permissions: "none",
  fn() {
    const source = "export interface A {}\ntype B = 1;\nexport class C {}\nconst D = 1;\n";
    assert.deepEqual(declaredTypes(source), ["A", "B", "C"]);
  },
});
