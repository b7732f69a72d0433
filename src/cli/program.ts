import type { Command, Context } from './args/command.ts';
import { didYouMean } from './args/did-you-mean.ts';
import { commandHelp, overview } from './args/help.ts';
import { type CommandName, summaries } from './args/summaries.ts';
import { exitCodes, usageError } from './errors/cli-error.ts';
import { shownErrorOf } from './errors/render.ts';
import type { Io } from './terminal/io.ts';
import { plainIo } from './terminal/plain-io.ts';
import { Redactor } from './terminal/redact.ts';
import { version } from './version.ts';

/** Only the command that is wanted is loaded, with what it needs. */
const commands: Readonly<Record<CommandName, () => Promise<Command>>> = {
  init: async () => (await import('./commands/init.ts')).init,
  validate: async () => (await import('./commands/validate.ts')).validate,
  plan: async () => (await import('./commands/plan.ts')).plan,
  run: async () => (await import('./commands/run.ts')).run,
  status: async () => (await import('./commands/status/status.ts')).status,
  ls: async () => (await import('./commands/ls.ts')).ls,
  show: async () => (await import('./commands/show.ts')).show,
  resolve: async () => (await import('./commands/resolve.ts')).resolve,
  manifest: async () => (await import('./commands/manifest.ts')).manifest,
  trust: async () => (await import('./commands/machine/trust.ts')).trust,
  models: async () => (await import('./commands/models.ts')).models,
  sandbox: async () => (await import('./commands/sandbox.ts')).sandbox,
  completion: async () => (await import('./commands/machine/completion.ts')).completionOf(allCommands),
};

const names = Object.keys(summaries) as readonly CommandName[];

/** Every command with its flags, in the order in which they are met. */
export const allCommands = (): Promise<readonly Command[]> =>
  Promise.all(names.map((name) => commands[name]()));

const allHelp = (): string =>
  overview(
    names.map((name) => ({ name, summary: summaries[name] })),
    version,
  );

/**
 * Runs one command line and returns its exit code. Every failure has been printed by then; nothing is thrown.
 *
 * @param args what stands behind `promptpress`
 */
export async function program(
  args: readonly string[],
  processIo: Io,
  redactor = new Redactor(),
): Promise<number> {
  const io = plainIo(processIo);
  try {
    return await dispatch(args, { io, redactor });
  } catch (error) {
    const { exitCode, text } = shownErrorOf(error);
    if (text !== undefined) io.err(redactor.apply(text));
    return exitCode;
  }
}

async function dispatch(args: readonly string[], context: Context): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined) {
    context.io.err(allHelp());
    return exitCodes.usage;
  }
  if (name === '--version' || name === '-v' || name === '-V') return await say(context, `${version}\n`);
  if (name === '--help' || name === '-h') return await say(context, allHelp());
  if (name === 'help') {
    const [topic] = rest;
    return await say(context, topic === undefined ? allHelp() : commandHelp(await find(topic)));
  }

  const chosen = await find(name);
  if (asksForHelp(rest)) return await say(context, commandHelp(chosen));
  return await chosen.run(rest, context);
}

/** Help wins over every other flag: who asks for it has not got the others right yet. */
const asksForHelp = (args: readonly string[]): boolean => {
  const flags = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  return flags.includes('--help') || flags.includes('-h');
};

async function find(name: string): Promise<Command> {
  const known = names.find((one) => one === name);
  if (known !== undefined) return await commands[known]();
  if (name.startsWith('-')) {
    throw usageError(
      `A command comes before its flags; "${name}" is none.`,
      hintFor(name, ['--version', '--help']),
    );
  }
  throw usageError(`There is no command "${name}".`, hintFor(name, names));
}

const hintFor = (word: string, known: readonly string[]): string =>
  [didYouMean(word, known), `Commands: ${names.join(', ')}.`].filter((part) => part !== undefined).join(' ');

async function say({ io }: Context, text: string): Promise<number> {
  await io.out(text);
  return exitCodes.ok;
}
