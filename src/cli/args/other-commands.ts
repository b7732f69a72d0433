import { type CliError, usageError } from '../../app/errors/cli-error.ts';
import { type Correction, writing } from '../../app/errors/correction.ts';
import { nearest } from '../../pipeline/diagnostics/did-you-mean.ts';
import type { CommandHelp } from './command.ts';
import type { UnknownFlagError } from './flags.ts';

/** Finds the command that a misspelled word probably meant. */
function commandMeant(word: string, names: readonly string[]): string | undefined {
  const small = word.toLowerCase().replace(/^-+/, '');
  return names.includes(small) ? small : nearest(small, names);
}

/** Kind of file at a path relative to the current folder. */
export type Kind = 'file' | 'folder' | undefined;

/**
 * Returns the error for a command line that does not begin with a command but with another word, a file or a flag.
 *
 * @param words of the command line after `promptpress`
 * @param kindOf returns the kind of file at a path
 */
export function noSuchCommand(
  words: readonly string[],
  commands: readonly CommandHelp[],
  kindOf: (path: string) => Kind,
): CliError {
  const [word = '', ...rest] = words;
  const names = commands.map(({ name }) => name);
  const list = `Commands: ${names.join(', ')}.`;
  const within = rest.find((one) => names.includes(one));
  const moved = within === undefined ? undefined : [within, word, ...rest.filter((one) => one !== within)];
  if (word.startsWith('-')) return flagFirst(words, moved, commands, list);

  const isYaml = /\.ya?ml$/i.test(word);
  const kind = kindOf(word) ?? (isYaml ? 'file' : undefined);
  const meant = commandMeant(word, names);
  if (kind === 'file' && (isYaml || meant === undefined))
    return usageError(
      `"${word}" is a file; the command before it is missing.`,
      'run runs a pipeline file, plan says what a run would do, validate checks the file.',
      writing(...(moved ?? ['run', ...words])),
    );
  if (kind === 'folder' && meant === undefined)
    return usageError(
      `"${word}" is a folder; the command before it is missing.`,
      'status says how far the run in a run directory is, ls lists the runs below a folder.',
      writing(...(moved ?? ['ls', ...words])),
    );
  return usageError(
    `There is no command "${word}".`,
    `${meant === undefined ? '' : `Did you mean ${meant}? `}${list}`,
    meant === undefined ? undefined : writing(meant, ...rest),
  );
}

/** Removes the hyphens and the value from a flag. */
const flagIn = (word: string): string => (word.split('=')[0] ?? '').replace(/^--?/, '');

function flagFirst(
  words: readonly string[],
  moved: readonly string[] | undefined,
  commands: readonly CommandHelp[],
  list: string,
): CliError {
  const [word = ''] = words;
  const message = `A command comes before its flags; "${word}" is not a command.`;
  if (moved !== undefined) return usageError(message, undefined, writing(...moved));
  const flag = flagIn(word);
  const having = commands.filter(({ flags }) => Object.hasOwn(flags, flag)).map(({ name }) => name);
  if (having.length > 0)
    return usageError(
      message,
      havingWords(flag, having),
      writing(having.includes('run') ? 'run' : (having[0] ?? ''), ...words),
    );
  const near = nearest(word, ['--version', '--help']);
  return usageError(
    message,
    `${near === undefined ? '' : `Did you mean ${near}? `}${list}`,
    near === undefined ? undefined : writing(near),
  );
}

/** Returns the error for `help TOPIC` with an unknown command. */
export function noSuchTopic(topic: string, commands: readonly CommandHelp[]): CliError {
  const names = commands.map(({ name }) => name);
  const flag = topic.replace(/^--?/, '');
  const having = commands.filter(({ flags }) => Object.hasOwn(flags, flag)).map(({ name }) => name);
  const isFlag = topic.startsWith('-') && having.length > 0;
  const meant = isFlag ? having[0] : commandMeant(topic, names);
  const hint = isFlag
    ? `${havingWords(flag, having)} `
    : meant === undefined
      ? ''
      : `Did you mean ${meant}? `;
  return usageError(
    topic.startsWith('-') ? `"${topic}" is a flag, not a command.` : `There is no command "${topic}".`,
    `${hint}Commands: ${names.join(', ')}.`,
    writing('help', ...(meant === undefined ? [] : [meant])),
  );
}

const havingWords = (flag: string, having: readonly string[]): string =>
  `--${flag} is a flag of ${having.join(', ')}.`;

/**
 * Adds to the error for an unknown flag which commands have it, unless a flag of the same command was meant. The correction uses that
 * command if it has all the flags.
 */
export function explainedFlag(
  error: UnknownFlagError,
  { name }: Pick<CommandHelp, 'name'>,
  commands: readonly CommandHelp[],
  words: readonly string[],
): CliError {
  const flag = error.flag.replace(/^--?/, '');
  const having = commands.filter(({ flags }) => Object.hasOwn(flags, flag));
  const [first] = having;
  if (first === undefined || having.some((one) => one.name === name)) {
    if (error.correction !== undefined) return error;
    return usageError(error.message, `promptpress help ${name} lists the flags of ${name}.`);
  }
  const names = having.map((one) => one.name);
  const given = words.filter((word) => word.startsWith('--') && word !== '--');
  const able = (having.find((one) => one.name === 'run') ?? first).flags;
  const takesAll = given.every((word) => Object.hasOwn(able, flagIn(word)));
  const run = names.includes('run') ? 'run' : first.name;
  return usageError(
    `promptpress ${name} has no flag --${flag}.`,
    `${havingWords(flag, names)} Leave it out here, or give the other command.`,
    takesAll ? otherCommand(run) : undefined,
  );
}

const otherCommand = (name: string): Correction => ({
  kind: 'example',
  words: ([, ...rest]) => [name, ...rest],
});
