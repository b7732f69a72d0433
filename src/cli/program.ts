import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Context } from '../app/context.ts';
import { exitCodes } from '../app/errors/cli-error.ts';
import { shownErrorOf } from '../app/errors/render.ts';
import { jsonLine } from '../app/output/json-line.ts';
import { Redactor } from '../app/output/redact.ts';
import { type RawIo, safeIo } from '../app/output/safe-io.ts';
import { version } from '../app/version.ts';
import { shownDiagnostic } from '../report/text/validation.ts';
import type { Command } from './args/command.ts';
import { commandHelp, overview } from './args/help.ts';
import type { Kind } from './args/other-commands.ts';
import { type CommandName, summaries } from './args/summaries.ts';

/** Loaders of the commands; only the requested command is loaded. */
const commands: Readonly<Record<CommandName, () => Promise<Command>>> = {
  init: async () => (await import('./commands/init.ts')).init,
  validate: async () => (await import('./commands/validate.ts')).validate,
  plan: async () => (await import('./commands/plan.ts')).plan,
  run: async () => (await import('./commands/run.ts')).run,
  worker: async () => (await import('./commands/machine/worker.ts')).worker,
  stop: async () => (await import('./commands/machine/stop.ts')).stop,
  rm: async () => (await import('./commands/machine/remove.ts')).remove,
  status: async () => (await import('./commands/status/status.ts')).status,
  ls: async () => (await import('./commands/ls.ts')).ls,
  show: async () => (await import('./commands/show.ts')).show,
  resolve: async () => (await import('./commands/resolve.ts')).resolve,
  manifest: async () => (await import('./commands/results/manifest.ts')).manifest,
  report: async () => (await import('./commands/results/report.ts')).report,
  serve: async () => (await import('./commands/results/serve.ts')).serve,
  verify: async () => (await import('./commands/results/verify.ts')).verifyCommand,
  clean: async () => (await import('./commands/results/clean.ts')).clean,
  merge: async () => (await import('./commands/results/merge.ts')).merge,
  export: async () => (await import('./commands/results/export.ts')).exportCommand,
  trust: async () => (await import('./commands/machine/trust.ts')).trust,
  models: async () => (await import('./commands/models.ts')).models,
  sandbox: async () => (await import('./commands/sandbox.ts')).sandbox,
  completion: async () => (await import('./commands/machine/completion.ts')).completionOf(allCommands),
};

const names = Object.keys(summaries) as readonly CommandName[];

/** Loads all commands, in the order of a newcomer's use. */
export const allCommands = (): Promise<readonly Command[]> =>
  Promise.all(names.map((name) => commands[name]()));

const allHelp = (): string =>
  overview(
    names.map((name) => ({ name, summary: summaries[name] })),
    version,
  );

/**
 * Runs a command line and returns its exit code. Failures are printed and never thrown.
 *
 * @param args command line after `promptpress`
 */
export async function program(
  args: readonly string[],
  rawIo: RawIo,
  redactor = new Redactor(),
): Promise<number> {
  const safe = safeIo(rawIo, redactor);
  let hasData = false;
  const data = (text: string): Promise<void> => {
    hasData = true;
    return safe.data(text);
  };
  const io = { ...safe, data };
  for (const address of notifiedIn(args)) redactor.add(address);
  try {
    return await dispatch(args, { io, redactor });
  } catch (error) {
    const { exitCode, text, code, message, hint, diagnostics } = shownErrorOf(error, args);
    if (text !== undefined) io.err(withoutPasswords(text));
    if (!hasData && (await printsObject(args))) {
      // Messages are texts for people, so all secrets are removed.
      const texts = { message: redactor.apply(message), ...(hint && { hint: redactor.apply(hint) }) };
      const refused = { error: { code, ...texts } };
      const found = diagnostics && { diagnostics: diagnostics.map(shownDiagnostic) };
      await data(withoutPasswords(jsonLine({ ...refused, ...found })));
    }
    return exitCode;
  }
}

/** Whether a command always prints one JSON object, also for errors; `validate` and `verify` do not. */
async function printsObject([name = '', ...args]: readonly string[]): Promise<boolean> {
  if (!isCommand(name) || name === 'validate' || name === 'verify' || !namesFlag(args, '--json'))
    return false;
  return 'json' in (await commands[name]()).flags;
}

/** Notification addresses in a command line, which may contain tokens; an error may quote them before flags are read. */
const notifiedIn = (args: readonly string[]): readonly string[] =>
  args.flatMap((word, at) => {
    const value = word === '--notify' ? args[at + 1] : /^--notify=(.*)$/s.exec(word)?.[1];
    return value === undefined || value === '' || value.startsWith('--') ? [] : [value];
  });

/** Removes passwords of engine addresses, because an error may come before they are read. */
const withoutPasswords = (text: string): string =>
  text.replaceAll(/\b(postgres(?:ql)?:\/\/[^\s:/@]{0,200}):[^\s/@]{1,200}@/gi, '$1@');

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
    if (topic === undefined) return await say(context, allHelp());
    if (!isCommand(topic)) throw (await mistakes()).noSuchTopic(topic, await allCommands());
    return await say(context, commandHelp(await commands[topic]()));
  }

  if (!isCommand(name)) {
    const { noSuchCommand } = await mistakes();
    throw noSuchCommand(args, await allCommands(), (path) => kindOf(resolve(context.io.cwd, path)));
  }
  const chosen = await commands[name]();
  if (asksForHelp(rest)) return await say(context, commandHelp(chosen));
  try {
    return await chosen.run(rest, context);
  } catch (error) {
    const { UnknownFlagError } = await import('./args/flags.ts');
    if (!(error instanceof UnknownFlagError)) throw error;
    throw (await mistakes()).explainedFlag(error, chosen, await allCommands(), rest);
  }
}

/** Loaded only for errors. */
const mistakes = () => import('./args/other-commands.ts');

const isCommand = (word: string): word is CommandName => Object.hasOwn(commands, word);

/** Returns the kind of file at a path that stands in place of a command. */
function kindOf(path: string): Kind {
  try {
    const found = statSync(path);
    return found.isDirectory() ? 'folder' : 'file';
  } catch {
    // The path does not exist or cannot be read.
    return undefined;
  }
}

/** Whether help is requested, which has priority over other flags. */
const asksForHelp = (args: readonly string[]): boolean => namesFlag(args, '--help', '-h');

const namesFlag = (args: readonly string[], ...names: readonly string[]): boolean => {
  const flags = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  return names.some((name) => flags.includes(name));
};

async function say({ io }: Context, text: string): Promise<number> {
  await io.out(text);
  return exitCodes.ok;
}
