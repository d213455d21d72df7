/**
 * The project's own lint rules; each is one small file beside this one.
 *
 * @module
 */
import { argumentCount } from "./argument_count.ts";
import { commentOpening } from "./comment_opening.ts";
import { errorMessage } from "./error_message.ts";
import { fileLength, fileName, functionLength, moduleDoc } from "./file_shape.ts";
import { injectedWorld, pureShared } from "./ambient.ts";
import { layers } from "./layers.ts";
import {
  noBlindAssertion,
  noDefaultExport,
  noInheritance,
  noModuleState,
  noPrivateKeyword,
  noReexport,
} from "./plain_constructs.ts";
import { proseInAssertions } from "./prose_in_assertions.ts";
import { returnType } from "./return_type.ts";

/** Named in `deno.json` under `lint.plugins`; silence a rule with `deno-lint-ignore house/name`. */
const plugin: Deno.lint.Plugin = {
  name: "house",
  rules: {
    "argument-count": argumentCount,
    "comment-opening": commentOpening,
    "error-message": errorMessage,
    "file-length": fileLength,
    "file-name": fileName,
    "function-length": functionLength,
    "injected-world": injectedWorld,
    "layers": layers,
    "module-doc": moduleDoc,
    "no-blind-assertion": noBlindAssertion,
    "no-default-export": noDefaultExport,
    "no-inheritance": noInheritance,
    "no-module-state": noModuleState,
    "no-private-keyword": noPrivateKeyword,
    "no-reexport": noReexport,
    "prose-in-assertions": proseInAssertions,
    "pure-shared": pureShared,
    "return-type": returnType,
  },
};
export default plugin;
