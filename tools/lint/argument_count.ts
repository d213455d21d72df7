/**
 * Exported functions take at most two positional arguments, and an options object.
 *
 * @module
 */
import { placeOf } from "./place.ts";

type FunctionNode =
  | Deno.lint.FunctionDeclaration
  | Deno.lint.FunctionExpression
  | Deno.lint.ArrowFunctionExpression;

/** True when a parameter is an options object: destructured, defaulted to one, or named so. */
function isOptions(parameter: Deno.lint.Parameter | Deno.lint.AssignmentPattern["left"]): boolean {
  if (parameter.type === "ObjectPattern") return true;
  if (parameter.type === "AssignmentPattern") return isOptions(parameter.left);
  return parameter.type === "Identifier" && /options$/i.test(parameter.name);
}

/** Refuses a third positional argument that is not an options object, and any fourth. */
export const argumentCount: Deno.lint.Rule = {
  create(context) {
    if (placeOf(context.filename).test) return {};
    const check = (node: FunctionNode, name: string): void => {
      const last = node.params.at(-1);
      const options = last !== undefined && isOptions(last) ? 1 : 0;
      const positional = node.params.length - options;
      if (positional > 2) {
        context.report({
          node,
          message: `${name} takes ${positional} positional arguments, more than 2`,
          hint: "Put what belongs together into an options object",
        });
      }
    };
    const checkClass = (node: Deno.lint.ClassDeclaration): void => {
      const parent = node.superClass;
      const isError = parent?.type === "Identifier" && parent.name.endsWith("Error");
      for (const member of node.body.body) {
        if (member.type !== "MethodDefinition") continue;
        const name = member.key.type === "Identifier" ? member.key.name : undefined;
        if (name === undefined || (isError && name === "constructor")) continue;
        if (member.value.type === "FunctionExpression") check(member.value, `${name}()`);
      }
    };
    return {
      ExportNamedDeclaration(node) {
        const declaration = node.declaration;
        if (declaration?.type === "FunctionDeclaration") {
          check(declaration, `${declaration.id?.name ?? "function"}()`);
        } else if (declaration?.type === "ClassDeclaration") {
          checkClass(declaration);
        } else if (declaration?.type === "VariableDeclaration") {
          for (const { id, init } of declaration.declarations) {
            if (init?.type !== "ArrowFunctionExpression" && init?.type !== "FunctionExpression") {
              continue;
            }
            check(init, id.type === "Identifier" ? `${id.name}()` : "function");
          }
        }
      },
    };
  },
};
