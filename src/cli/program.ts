import type { Command, Context } from './command.ts';
import { init } from './commands/init.ts';
import { manifest } from './commands/manifest.ts';
import { plan } from './commands/plan.ts';
import { run } from './commands/run.ts';
import { sandbox } from './commands/sandbox.ts';
import { status } from './commands/status.ts';
import { validate } from './commands/validate.ts';
import { exitCodes, usageError } from './failure.ts';
import { faultOf } from './fault.ts';
import { commandHelp, overview } from './help.ts';
import type { Io } from './io.ts';
import { Redactor } from './redact.ts';
import { didYouMean } from './suggest.ts';
import { version } from './version.ts';

/** Every command, in the order in which they are met. */
export const commands: readonly Command[] = [init, validate, plan, run, status, manifest, sandbox];

/**
 * Carries out one command line and gives back the exit code. All that goes wrong has been printed then; nothing is
 * thrown.
 *
 * @param args what stands behind `promptpress`
 */
export async function program(args: readonly string[], io: Io, redactor = new Redactor()): Promise<number> {
  try {
    return await dispatch(args, { io, redactor });
  } catch (error) {
    const { exitCode, text } = faultOf(error);
    if (text !== undefined) io.err(redactor.apply(text));
    return exitCode;
  }
}

async function dispatch(args: readonly string[], context: Context): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined) {
    context.io.err(overview(commands, version));
    return exitCodes.usage;
  }
  if (name === '--version' || name === '-V') return await say(context, `${version}\n`);
  if (name === '--help' || name === '-h') return await say(context, overview(commands, version));
  if (name === 'help') {
    const [topic] = rest;
    return await say(context, topic === undefined ? overview(commands, version) : commandHelp(find(topic)));
  }

  const chosen = find(name);
  if (asksForHelp(rest)) return await say(context, commandHelp(chosen));
  return await chosen.run(rest, context);
}

/** Help wins over every other flag: who asks for it has not got the others right yet. */
const asksForHelp = (args: readonly string[]): boolean => {
  const flags = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  return flags.includes('--help') || flags.includes('-h');
};

function find(name: string): Command {
  const known = commands.find((command) => command.name === name);
  if (known !== undefined) return known;
  const names = commands.map((command) => command.name);
  if (name.startsWith('-')) {
    throw usageError(
      `A command comes before its flags; "${name}" is none.`,
      `Commands: ${names.join(', ')}.`,
    );
  }
  throw usageError(
    `There is no command "${name}".`,
    [didYouMean(name, names), `Commands: ${names.join(', ')}.`]
      .filter((part) => part !== undefined)
      .join(' '),
  );
}

async function say({ io }: Context, text: string): Promise<number> {
  await io.out(text);
  return exitCodes.ok;
}
