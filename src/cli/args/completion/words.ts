import type { CommandHelp } from '../command.ts';
import type { Flag } from '../flags.ts';

/** What can stand in a place of a command line: one of these words, a path, or something that no shell can know. */
export type Values =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  /** Pipeline files, and folders on the way to them. */
  | { readonly kind: 'pipelines' }
  | { readonly kind: 'files' }
  | { readonly kind: 'folders' }
  | { readonly kind: 'none' };

/** A flag as a shell completes it. */
export interface CompletedFlag {
  readonly name: string;
  readonly short?: string;
  /** One line. */
  readonly help: string;
  readonly repeatable: boolean;
  /** Absent: it takes no value. */
  readonly value?: { readonly placeholder: string; readonly values: Values };
}

/** What stands behind a command, without its flags. */
export interface CompletedOperand {
  readonly placeholder: string;
  readonly values: Values;
  /** Any number of them. */
  readonly repeats: boolean;
}

/** A command as a shell completes it. */
export interface CompletedCommand {
  readonly name: string;
  /** One line. */
  readonly help: string;
  readonly operands: readonly CompletedOperand[];
  readonly flags: readonly CompletedFlag[];
}

/** Flags in the place of a command. */
export const topFlags = ['--help', '--version'] as const;

/** What shells complete, from the tables that the parser and help read, with `help COMMAND`. */
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

/** `JOB [FILE|DIR]`: brackets say that it may be left out, dots that it may be repeated. */
function operandsOf(text: string): readonly CompletedOperand[] {
  const words = text.split(' ').filter((word) => word !== '');
  return words.map((word) => {
    const placeholder = word.replaceAll(/[[\]…]/g, '');
    return { placeholder, values: valuesOf(placeholder, 'pipelines'), repeats: word.includes('…') };
  });
}

/** @param files what FILE stands for there: an operand is a pipeline, the value of a flag any file */
function valuesOf(placeholder: string, files: 'pipelines' | 'files'): Values {
  const parts = placeholder.split('|');
  if (parts.includes('FILE')) return { kind: files };
  if (parts.includes('DIR')) return { kind: 'folders' };
  if (parts.length > 1 && parts.every((part) => /^[a-z0-9-]+$/.test(part)))
    return { kind: 'words', words: parts };
  return { kind: 'none' };
}

/** Shells show a line for each, and cut it at the window's edge. */
const mostCharacters = 80;

function oneLine(text: string): string {
  const [line = ''] = text.split('\n');
  if (line.length <= mostCharacters) return line;
  const cut = line.slice(0, mostCharacters);
  return `${cut.slice(0, cut.lastIndexOf(' '))} …`;
}
