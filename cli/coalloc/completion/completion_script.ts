/**
 * Completion scripts: each asks the program itself, by its hidden command `__complete`.
 *
 * @module
 */

/** The shells with a script; `kubectl` is the file by which kubectl completes its plugin. */
export const COMPLETION_SHELLS = ["bash", "zsh", "fish", "kubectl"] as const;

/** One of {@linkcode COMPLETION_SHELLS}. */
export type CompletionShell = typeof COMPLETION_SHELLS[number];

const SCRIPTS: Readonly<Record<CompletionShell, string>> = {
  bash: `\
_kubectl_coalloc() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    [[ $line == :* ]] && continue
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(kubectl-coalloc __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _kubectl_coalloc kubectl-coalloc
`,
  zsh: `\
#compdef kubectl-coalloc
_kubectl_coalloc() {
  local line
  local -a found
  while IFS= read -r line; do
    [[ $line == :* ]] && continue
    found+=("\${\${line//:/\\\\:}/$'\\t'/:}")
  done < <(kubectl-coalloc __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
  _describe 'kubectl-coalloc' found
}
compdef _kubectl_coalloc kubectl-coalloc
`,
  fish: `\
function __kubectl_coalloc_complete
  set -l tokens (commandline -opc) (commandline -ct)
  kubectl-coalloc __complete $tokens[2..-1] 2>/dev/null | string match -v -r '^:'
end
complete -c kubectl-coalloc -f -a '(__kubectl_coalloc_complete)'
`,
  kubectl: `\
#!/bin/sh
exec kubectl coalloc __complete "$@"
`,
};

/** The script to be sourced, or for \`kubectl\` the executable file to be put on PATH. */
export function completionScript(shell: CompletionShell): string {
  return SCRIPTS[shell];
}
