/**
 * Completion scripts: each calls the hidden command `__complete`, as kubectl does. Not by a library:
 * @bomb.sh/tab 0.0.22, the maintained one for commander, does not await its sources, so that it can't offer
 * names of the API server, and has no `__complete`.
 *
 * @module
 */

/**
 * Scripts to be sourced, by shell; `kubectl` is an executable file, to be put on PATH, with which kubectl
 * completes its plugin.
 */
export const COMPLETION_SCRIPTS: Readonly<Record<string, string>> = {
  bash: `\
_kubectl_coalloc() {
  # Not as bash has them: it breaks arguments at "=", too.
  local line typed=\${COMP_LINE:0:COMP_POINT} args
  read -ra args <<< "$typed"
  [[ $typed == *[[:space:]] ]] && args+=("")
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :0) compopt -o default 2>/dev/null ;;
      :*) ;;
      *)
        line=\${line%%$'\\t'*}
        [[ $line == --*=* ]] && line=\${line#*=}
        COMPREPLY+=("$line")
        ;;
    esac
  done < <(kubectl-coalloc __complete "\${args[@]:1}" 2>/dev/null)
}
complete -F _kubectl_coalloc kubectl-coalloc
`,
  zsh: `\
#compdef kubectl-coalloc
_kubectl_coalloc() {
  local line files
  local -a found
  while IFS= read -r line; do
    case $line in
      :0) files=yes ;;
      :*) ;;
      *) found+=("\${\${line//:/\\\\:}/$'\\t'/:}") ;;
    esac
  done < <(kubectl-coalloc __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if [[ -n $files ]]; then
    compset -P '--*='
    _files
  else
    _describe 'kubectl-coalloc' found
  fi
}
# A file in fpath is the function itself when it is called first.
case $zsh_eval_context[-1] in
  file|eval) compdef _kubectl_coalloc kubectl-coalloc ;;
  *) _kubectl_coalloc "$@" ;;
esac
`,
  fish: `\
function __kubectl_coalloc_complete
  set -l current (commandline -ct)
  set -l tokens (commandline -opc) $current
  set -l lines (kubectl-coalloc __complete $tokens[2..-1] 2>/dev/null)
  if contains -- :0 $lines
    set -l flag (string match -r -- '^--[^=]+=' $current)
    __fish_complete_path (string replace -r -- '^--[^=]+=' '' $current) | string replace -r -- '^' "$flag"
  else
    string match -v -r '^:' -- $lines
  end
end
complete -c kubectl-coalloc -f -a '(__kubectl_coalloc_complete)'
`,
  kubectl: `\
#!/bin/sh
exec kubectl coalloc __complete "$@"
`,
};
