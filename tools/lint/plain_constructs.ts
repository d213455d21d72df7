/**
 * Language constructs the project does without, each with what takes its place. The compiler's option
 * `erasableSyntaxOnly` refuses enums, namespaces and parameter properties.
 *
 * @module
 */
import { placeOf } from "./place.ts";

/** Refuses default exports, except the plugin's own, which Deno asks for. */
export const noDefaultExport: Deno.lint.Rule = {
  create(context) {
    if (placeOf(context.filename).path === "tools/lint/plugin.ts") return {};
    return {
      ExportDefaultDeclaration(node) {
        context.report({ node, message: "No default exports", hint: "Export it by its name" });
      },
    };
  },
};

/** Refuses re-exports: users of a symbol import the file that defines it. A package's entry is one. */
export const noReexport: Deno.lint.Rule = {
  create(context) {
    if (placeOf(context.filename).path.endsWith("_library.ts")) return {};
    const hint = "Import the concrete file where the symbol is used";
    return {
      ExportAllDeclaration(node) {
        context.report({ node, message: "No re-exports", hint });
      },
      ExportNamedDeclaration(node) {
        if (node.source !== null) context.report({ node, message: "No re-exports", hint });
      },
    };
  },
};

/** Refuses the TypeScript keyword `private`, which ends at compile time while `#name` does not. */
export const noPrivateKeyword: Deno.lint.Rule = {
  create(context) {
    const check = (node: Deno.lint.Node & { accessibility?: string | undefined }): void => {
      if (node.accessibility === "private" || node.accessibility === "protected") {
        context.report({ node, message: `No ${node.accessibility} keyword`, hint: "Use #name" });
      }
    };
    return {
      MethodDefinition: check,
      PropertyDefinition: check,
    };
  },
};

/** Refuses inheritance, except from the built-in errors. */
export const noInheritance: Deno.lint.Rule = {
  create(context) {
    return {
      ClassDeclaration(node) {
        const parent = node.superClass;
        if (parent === null || (parent.type === "Identifier" && parent.name.endsWith("Error"))) {
          return;
        }
        context.report({ node, message: "No class inheritance", hint: "Use functions over data" });
      },
    };
  },
};

/** Refuses module-level `let`: two instances of a part must be able to live side by side. */
export const noModuleState: Deno.lint.Rule = {
  create(context) {
    const check = (node: Deno.lint.Node): void => {
      context.report({ node, message: "No module-level let", hint: "Keep state in a closure" });
    };
    return {
      "Program > VariableDeclaration[kind='let']": check,
      "Program > ExportNamedDeclaration > VariableDeclaration[kind='let']": check,
    };
  },
};

/**
 * Refuses `value!`, except on an indexed element: the compiler cannot see that an index is within
 * the bounds of a loop.
 */
export const noBlindAssertion: Deno.lint.Rule = {
  create(context) {
    if (placeOf(context.filename).test) return {};
    return {
      TSNonNullExpression(node) {
        const inner = node.expression;
        if (inner.type === "MemberExpression" && inner.computed) return;
        context.report({
          node,
          message: "No non-null assertion",
          hint: "Check, and say what then",
        });
      },
    };
  },
};
