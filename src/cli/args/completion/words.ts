import type { CommandHelp } from '../command.ts';
import type { Flag } from '../flags.ts';

/** Possible values in a command line: fixed words, paths, or values that a shell cannot know. */
export type Values =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  /** Pipeline files, and folders that may contain them. */
  | { readonly kind: 'pipelines' }
  | { readonly kind: 'files' }
  | { readonly kind: 'folders' }
  | { readonly kind: 'none' };

/** A flag, as completed by a shell. */
export interface CompletedFlag {
  readonly name: string;
  readonly short?: string;
  /** Description in one line. */
  readonly help: string;
  readonly repeatable: boolean;
  /** Value of the flag; absent if it takes none. */
  readonly value?: { readonly placeholder: string; readonly values: Values };
}

/** An operand of a command. */
export interface CompletedOperand {
  readonly placeholder: string;
  readonly values: Values;
  /** Whether it may be repeated. */
  readonly repeats: boolean;
}

/** A command, as completed by a shell. */
export interface CompletedCommand {
  readonly name: string;
  /** Description in one line. */
  readonly help: string;
  readonly operands: readonly CompletedOperand[];
  readonly flags: readonly CompletedFlag[];
}

/** Flags that stand in place of a command. */
export const topFlags = ['--help', '--version'] as const;

/** Returns the commands for completion, including `help COMMAND`, from the tables that parser and help share. */
export function completedCommands(commands: readonly CommandHelp[]): readonly CompletedCommand[] {
  const names = commands.map(({ name }) => name);
  return [
    ...commands.map(({ name, summary, operands, flags }) => ({
      name,
      help: oneLine(summary),
      operands: operandsOf(operands),
      flags: Object.entries(flags).map(([flag, entry]) => completedFlag(flag, entry)),
    })),
    {
      name: 'help',
      help: 'explains one command',
      operands: [{ placeholder: 'COMMAND', values: { kind: 'words', words: names }, repeats: false }],
      flags: [],
    },
  ];
}

const completedFlag = (
  name: string,
  { placeholder, help, short, repeatable, words }: Flag<unknown>,
): CompletedFlag => ({
  name,
  ...(short === undefined ? {} : { short }),
  help: oneLine(help),
  repeatable,
  ...(placeholder === undefined
    ? {}
    : {
        value: {
          placeholder,
          values: words === undefined ? valuesOf(placeholder, 'files') : { kind: 'words', words },
        },
      }),
});

/** Parses `JOB [FILE|DIR]`: brackets mark an optional operand, dots a repeated one. */
function operandsOf(text: string): readonly CompletedOperand[] {
  const words = text.split(' ').filter((word) => word !== '');
  return words.map((word) => {
    const placeholder = word.replaceAll(/[[\]…]/g, '');
    return { placeholder, values: valuesOf(placeholder, 'pipelines'), repeats: word.includes('…') };
  });
}

/** Returns the values of a placeholder. @param files meaning of FILE: a pipeline as an operand, any file as the value of a flag */
function valuesOf(placeholder: string, files: 'pipelines' | 'files'): Values {
  const parts = placeholder.split('|');
  if (parts.includes('FILE')) return { kind: files };
  if (parts.includes('DIR')) return { kind: 'folders' };
  if (parts.length > 1 && parts.every((part) => /^[a-z0-9-]+$/.test(part)))
    return { kind: 'words', words: parts };
  return { kind: 'none' };
}

/** Largest length of a description; shells cut lines at the edge of the window. */
const maxCharacters = 80;

function oneLine(text: string): string {
  const [line = ''] = text.split('\n');
  if (line.length <= maxCharacters) return line;
  const cut = line.slice(0, maxCharacters);
  return `${cut.slice(0, cut.lastIndexOf(' '))} …`;
}
