/**
 * Functions say what they return. Deno's own rules for this also ask it of functions with a type that
 * is given by the context, such as `const rule: Rule = (x) => ...`; this one does not.
 *
 * @module
 */
import { placeOf } from "./place.ts";

/** Refuses function declarations, methods and exported arrows without a return type. */
export const returnType: Deno.lint.Rule = {
  create(context) {
    if (placeOf(context.filename).test) return {};
    const report = (node: Deno.lint.Node): void => {
      context.report({ node, message: "The function does not say what it returns" });
    };
    return {
      FunctionDeclaration(node) {
        if (!node.returnType) report(node.id ?? node);
      },
      MethodDefinition(node) {
        if (node.kind === "constructor" || node.kind === "set") return;
        if (node.value.type === "FunctionExpression" && !node.value.returnType) report(node.key);
      },
      "ExportNamedDeclaration > VariableDeclaration > VariableDeclarator"(
        node: Deno.lint.VariableDeclarator,
      ) {
        const { id, init } = node;
        const typed = id.type === "Identifier" && id.typeAnnotation;
        if (init?.type === "ArrowFunctionExpression" && !init.returnType && !typed) report(id);
      },
    };
  },
};
