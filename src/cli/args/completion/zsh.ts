import {
  type CompletedCommand,
  type CompletedFlag,
  type CompletedOperand,
  topFlags,
  type Values,
} from './words.ts';

/** Returns the completion script for zsh, to be evaluated after `compinit` or stored as `_promptpress` in a folder of `$fpath`. */
export function zshCompletion(commands: readonly CompletedCommand[]): string {
  return `#compdef promptpress
# Completion of promptpress for zsh, written by: promptpress completion zsh

_promptpress() {
  local curcontext="$curcontext" command
  if (( CURRENT == 2 )); then
    if [[ $PREFIX == -* ]]; then
      compadd -- ${topFlags.join(' ')}
    else
      local -a commands
      commands=(
${commands.map(({ name, help }) => `        ${quoted(`${name}:${help.replaceAll(':', '\\:')}`)}`).join('\n')}
      )
      _describe -t commands command commands
    fi
    return
  fi

  command=$words[2]
  # The command stands where a program would: what follows is read by its own table.
  shift words
  (( CURRENT-- ))
  case $command in
${commands.map(commandCase).join('\n')}
  esac
}

if [[ $funcstack[1] == _promptpress ]]; then
  _promptpress "$@"
else
  compdef _promptpress promptpress
fi
`;
}

function commandCase({ name, flags, operands }: CompletedCommand): string {
  const specs = [...flags.flatMap(flagSpecs), ...operands.map(operandSpec)];
  return [
    `    ${name})`,
    '      _arguments -s -S : \\',
    ...specs.map((spec) => `        ${quoted(spec)} \\`),
    '        ;;',
  ].join('\n');
}

/** Returns the specifications of a flag. After `--out=` the value may follow with or without the sign; a star allows repetition. */
function flagSpecs({ name, short, help, repeatable, value }: CompletedFlag): readonly string[] {
  const star = repeatable ? '*' : '';
  const shown = `[${escaped(help)}]`;
  const behind = value === undefined ? '' : `:${escaped(value.placeholder)}:${action(value.values)}`;
  return [
    ...(short === undefined ? [] : [`${star}-${short}${shown}${behind}`]),
    `${star}--${name}${value === undefined ? '' : '='}${shown}${behind}`,
  ];
}

const operandSpec = ({ placeholder, values, repeats }: CompletedOperand, at: number): string =>
  `${repeats ? '*' : at + 1}:${escaped(placeholder)}:${action(values)}`;

function action(values: Values): string {
  switch (values.kind) {
    case 'words':
      return `(${values.words.join(' ')})`;
    case 'pipelines':
      return '_files -g "*.(yaml|yml)"';
    case 'files':
      return '_files';
    case 'folders':
      return '_files -/';
    case 'none':
      return ' ';
  }
}

/** Escapes a text for a specification of `_arguments`. */
const escaped = (text: string): string => text.replaceAll(/[\\[\]:]/g, '\\$&');

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
