import { type CompletedCommand, type CompletedFlag, topFlags, type Values } from './words.ts';

/** Returns the completion script for fish 3 and later. */
export function fishCompletion(commands: readonly CompletedCommand[]): string {
  return `# Completion of promptpress for fish, written by: promptpress completion fish

function __promptpress_no_command
    test (count (commandline -opc)) -eq 1
end

function __promptpress_command
    set -l given (commandline -opc)
    test (count $given) -gt 1; and test $given[2] = $argv[1]
end

complete -c promptpress -f
${[
  ...topFlags.map((flag) => `complete -c promptpress -n __promptpress_no_command -l ${flag.slice(2)}`),
  ...commands.map(
    ({ name, help }) => `complete -c promptpress -n __promptpress_no_command -a ${name} -d ${quoted(help)}`,
  ),
  ...commands.flatMap(commandLines),
].join('\n')}
`;
}

const commandLines = ({ name, flags, operands }: CompletedCommand): readonly string[] => {
  const where = `complete -c promptpress -n '__promptpress_command ${name}'`;
  // fish does not know positions, so the values of all operands are offered at each.
  const kinds = new Map(operands.map(({ values }) => [JSON.stringify(values), values]));
  return [
    ...flags.map((flag) => `${where} ${flagWords(flag)}`),
    ...[...kinds.values()].flatMap((values) =>
      values.kind === 'none' ? [] : [`${where} -k -a ${quoted(listOf(values))}`],
    ),
  ];
};

function flagWords({ name, short, help, value }: CompletedFlag): string {
  const names = `${short === undefined ? '' : `-s ${short} `}-l ${name}`;
  const said = `-d ${quoted(help)}`;
  if (value === undefined) return `${names} ${said}`;
  const list = listOf(value.values);
  return list === '' ? `${names} -x ${said}` : `${names} -x -k -a ${quoted(list)} ${said}`;
}

/** Returns the argument of `complete -a`: words, or a command that lists them. */
function listOf(values: Values): string {
  switch (values.kind) {
    case 'words':
      return values.words.join(' ');
    case 'pipelines':
      return '(__fish_complete_suffix .yaml)';
    case 'files':
      return '(__fish_complete_path)';
    case 'folders':
      return '(__fish_complete_directories)';
    case 'none':
      return '';
  }
}

/** Quotes a text for fish, where `\` and `'` are escaped within single quotes. */
const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
