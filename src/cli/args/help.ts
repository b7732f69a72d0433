import type { CommandHelp } from './command.ts';
import type { FlagTable } from './flags.ts';

/** Largest width of help, in columns. */
const width = 96;

/** Returns the text of `promptpress --help`. */
export function overview(
  commands: readonly Pick<CommandHelp, 'name' | 'summary'>[],
  version: string,
): string {
  return lines(
    `promptpress ${version}: declarative batch pipelines for images and texts`,
    '',
    'A pipeline file says which prompts to try, which buttons to press on each result and what to ask a text',
    'model. promptpress runs it, many at once, within the limits of the service; it can be stopped at any moment',
    'and started again; it leaves images, texts and a manifest.csv that accounts for every planned row.',
    '',
    'Usage: promptpress COMMAND …',
    '',
    'Commands:',
    ...columns(commands.map(({ name, summary }) => [name, summary])),
    '',
    'Start here:',
    ...columns([
      ['promptpress init', 'writes a first pipeline.yaml'],
      ['promptpress plan pipeline.yaml', 'says what it would do'],
      [
        'promptpress run pipeline.yaml --sandbox',
        'runs it against a service on this machine: no key, no cost',
      ],
    ]),
    '',
    'Environment:',
    ...columns([
      ['PROMPTPRESS_BASE_URL', 'address of the service, for example https://gateway.example.com'],
      ['PROMPTPRESS_API_KEY', 'its key'],
      [
        'PROMPTPRESS_TRUSTED_ORIGINS',
        'addresses that pipeline files may name and that get the key, without a question',
      ],
      ['NO_COLOR', 'no colours'],
    ]),
    '',
    'promptpress help COMMAND explains one command. promptpress -v prints the version.',
  );
}

/** Returns the text of `promptpress help <command>` and `promptpress <command> --help`. */
export function commandHelp({ name, summary, operands, about, examples, flags }: CommandHelp): string {
  return lines(
    `promptpress ${name}: ${summary}`,
    '',
    `Usage: promptpress ${[name, operands, '[flags]'].filter((part) => part !== '').join(' ')}`,
    '',
    ...about.split('\n').flatMap((paragraph) => wrap(paragraph, width)),
    '',
    'Flags:',
    ...columns(flagRows(flags)),
    '',
    'Examples:',
    ...columns(examples.map(({ command, does }) => [command, does])),
  );
}

const flagRows = (flags: FlagTable): (readonly [string, string])[] =>
  Object.entries(flags).map(([name, { placeholder, help, repeatable, short }]) => [
    `${short === undefined ? '' : `-${short}, `}--${name}${placeholder === undefined ? '' : ` ${placeholder}`}`,
    repeatable ? `${help} (may be repeated)` : help,
  ]);

/** Formats two columns; if the left text is too wide, the right one starts on the next line. */
function columns(rows: readonly (readonly [string, string])[]): string[] {
  const widest = 46;
  const left = Math.min(widest, Math.max(...rows.map(([term]) => term.length)));
  return rows.flatMap(([term, text]) => {
    const [first = '', ...more] = text.split('\n').flatMap((line) => wrap(line, width - left - 4));
    const indented = more.map((line) => `${' '.repeat(left + 4)}${line}`);
    if (term.length > left) return [`  ${term}`, `${' '.repeat(left + 4)}${first}`, ...indented];
    return [`  ${term.padEnd(left)}  ${first}`.trimEnd(), ...indented];
  });
}

function wrap(text: string, most: number): string[] {
  const wrapped: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > most) {
      wrapped.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...wrapped, line];
}

const lines = (...text: readonly string[]): string => `${text.join('\n')}\n`;
