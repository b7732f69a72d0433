import { type CompletedCommand, topFlags, type Values } from './words.ts';

/** Returns the completion script for bash 3.2 (that of macOS) and later. */
export function bashCompletion(commands: readonly CompletedCommand[]): string {
  const names = commands.map(({ name }) => name);
  return `# Completion of promptpress for bash, written by: promptpress completion bash

_promptpress_add() {
  local line
  while IFS= read -r line; do COMPREPLY+=("$line"); done
}

_promptpress() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command=\${COMP_WORDS[1]}
  local kind= words= flags= valued= position=0 i
  COMPREPLY=()
  # The sign = is a word of its own: --flag=value are three words.
  if [[ $cur == "=" ]]; then
    cur=
  elif [[ $prev == "=" ]]; then
    prev=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  if ((COMP_CWORD == 1)); then
    if [[ $cur == -* ]]; then words='${topFlags.join(' ')}'; else words='${names.join(' ')}'; fi
    _promptpress_add < <(compgen -W "$words" -- "$cur")
    return
  fi

  case $command in
${commands.map(flagCase).join('\n')}
  esac

  for ((i = 2; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in
      =) ((i++)) ;;
      -*) if [[ " $valued " == *" \${COMP_WORDS[i]} "* && \${COMP_WORDS[i+1]} != "=" ]]; then ((i++)); fi ;;
      *) ((position++)) ;;
    esac
  done

  case "$command $prev" in
${commands.flatMap(valueCases).join('\n')}
  esac
  if [[ -z $kind && $cur == -* ]]; then
    kind=words words=$flags
  elif [[ -z $kind ]]; then
    case $command:$position in
${commands.flatMap(operandCases).join('\n')}
    esac
  fi

  case $kind in
    words) _promptpress_add < <(compgen -W "$words" -- "$cur") ;;
    folders) _promptpress_add < <(compgen -d -- "$cur") ;;
    files) _promptpress_add < <(compgen -f -- "$cur") ;;
    pipelines)
      _promptpress_add < <(compgen -d -- "$cur"; compgen -f -X '!*.yaml' -- "$cur"; compgen -f -X '!*.yml' -- "$cur")
      ;;
  esac
  # Marks folders with a slash and quotes blanks; bash before version 4 does not have it.
  if [[ $kind == folders || $kind == files || $kind == pipelines ]]; then compopt -o filenames 2>/dev/null; fi
}

complete -F _promptpress promptpress
`;
}

function flagCase({ name, flags }: CompletedCommand): string {
  const all = flags.flatMap(({ name: flag, short }) => [
    ...(short === undefined ? [] : [`-${short}`]),
    `--${flag}`,
  ]);
  const valued = flags.filter(({ value }) => value !== undefined).map(({ name: flag }) => `--${flag}`);
  return `    ${name}) flags='${all.join(' ')}' valued='${valued.join(' ')}' ;;`;
}

const valueCases = ({ name, flags }: CompletedCommand): readonly string[] =>
  flags.flatMap(({ name: flag, value }) =>
    value === undefined ? [] : [`    '${name} --${flag}') ${assignment(value.values)} ;;`],
  );

const operandCases = ({ name, operands }: CompletedCommand): readonly string[] =>
  operands.map(({ values, repeats }, at) => `      ${name}:${repeats ? '*' : at}) ${assignment(values)} ;;`);

const assignment = (values: Values): string =>
  values.kind === 'words' ? `kind=words words='${values.words.join(' ')}'` : `kind=${values.kind}`;
