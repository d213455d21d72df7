/** Completion of the command in real shells, and through kubectl: `deno task test:release`. */
import assert from "node:assert/strict";
import { COMPLETION_SCRIPTS } from "../../cli/coalloc/completion/completion_script.ts";
import { findProgram, run, wholePath } from "../cluster/harness/shell.ts";

const root = new URL("../../", import.meta.url).pathname;

/** Each command line, and what is offered for its last term. */
type Rows = readonly (readonly [line: string, offered: string])[];

const ROWS: Rows = [
  ["kubectl-coalloc rep", "report"],
  ["kubectl-coalloc simulate --format p", "prometheus"],
  ["kubectl-coalloc restore --d", "--dry-run"],
];

/** zsh's own functions exist in its editor alone; the stand-ins print what they are called with. */
const ZSH = `compdef() { }; compset() { }; _files() { ls }; _describe() { print -l -- "\${(@P)2}" }
  words=(\${(s: :)1}); [[ $1 == *" " ]] && words+=(""); CURRENT=$#words;`;

/** How each shell completes a line without a terminal, `$1`, after it has read the script, `$2`. */
const DRIVERS: Readonly<Record<string, string>> = {
  bash:
    `. "$2"; COMP_LINE=$1 COMP_POINT=\${#1}; _kubectl_coalloc; printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: `${ZSH} . "$2"; _kubectl_coalloc`,
  "zsh with the script in fpath":
    `${ZSH} fpath=("\${2:h}"); autoload -Uz _kubectl-coalloc; _kubectl-coalloc`,
  fish: `source $argv[2]; complete -C $argv[1]`,
};

/** A folder with the command, as a script, and kubectl's file of completion; its PATH leads there. */
async function withCommand(
  act: (folder: string, env: Record<string, string>) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const command = `#!/bin/sh\nexec "${Deno.execPath()}" run -q -A --config="${root}deno.json" ` +
      `"${root}cli/kubectl_coalloc.ts" "$@"\n`;
    await Deno.writeTextFile(`${folder}/kubectl-coalloc`, command, { mode: 0o755 });
    await Deno.writeTextFile(`${folder}/kubectl_complete-coalloc`, COMPLETION_SCRIPTS["kubectl"]!, {
      mode: 0o755,
    });
    await Deno.writeTextFile(`${folder}/load.yaml`, "");
    // No cluster and no settings of the user.
    const PATH = `${folder}:${wholePath(Deno.env.get("PATH"))}`;
    await act(folder, { PATH, HOME: folder, KUBECONFIG: `${folder}/none`, TERM: "dumb" });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Names without their descriptions, separated by spaces; no directive of the protocol among them. */
function namesOf(printed: string): string {
  return printed.split("\n").map((line) => line.split(/[\t:]/)[0] ?? "").filter(Boolean).join(" ");
}

for (const [name, driver] of Object.entries(DRIVERS)) {
  const [shell = ""] = name.split(" ");
  const ignore = await findProgram(shell, wholePath(Deno.env.get("PATH"))) === undefined &&
    Deno.env.get("CI") === undefined;
  Deno.test({
    name: `the completion script completes commands, flags, values and files in ${name}`,
    ignore,
    fn: () =>
      withCommand(async (folder, env) => {
        const script = `${folder}/_kubectl-coalloc`;
        await Deno.writeTextFile(script, COMPLETION_SCRIPTS[shell]!);
        const args = shell === "fish" ? ["--no-config", "-c"] : [`-${shell === "zsh" ? "f" : ""}c`];
        const complete = async (line: string): Promise<string> => {
          const parameters = shell === "fish" ? [line, script] : [shell, line, script];
          return namesOf(
            await run([shell, ...args, driver, ...parameters], { env, directory: folder }),
          );
        };
        for (const [line, offered] of ROWS) assert.equal(await complete(line), offered, line);
        // bash itself completes files, when the function offers nothing.
        const files = await complete("kubectl-coalloc simulate --trace lo");
        assert.equal(files.includes("load.yaml"), shell !== "bash");
        // It breaks lines at "=", too.
        const value = await complete("kubectl-coalloc top --output=y");
        assert.equal(value, shell === "bash" ? "yaml" : "--output=yaml");
      }),
  });
}

Deno.test("the completion script completes the plugin through kubectl", () =>
  withCommand(async (_, env) => {
    for (const [line, offered] of ROWS) {
      const args = line.replace("kubectl-coalloc", "coalloc").split(" ");
      const printed = await run(["kubectl", "__complete", ...args], { env });
      assert.equal(namesOf(printed), offered, line);
    }
  }));
