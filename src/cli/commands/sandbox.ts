import { resolve } from 'node:path';
import { closingAfter } from '../../app/adapters/disposables.ts';
import { exitCodes, usageError } from '../../app/errors/cli-error.ts';
import { failureText } from '../../app/errors/render.ts';
import { refuseTracked } from '../../app/workspace/checks/tracked.ts';
import { ImageLibraryError, imageLibrary } from '../../artifacts/formats/image-library.ts';
import { failReasons } from '../../sandbox/faults/fault.ts';
import { neutralNames } from '../../sandbox/names.ts';
import type { Sandbox, SandboxOptions } from '../../sandbox/sandbox.ts';
import { defaultSettings } from '../../sandbox/settings.ts';
import { sandboxKey } from '../../service/http/secrets.ts';
import { nameKeys } from '../../service/names.ts';
import { databaseFiles } from '../../state/sqlite/sqlite.ts';
import { aborted, onPort } from '../adapters/server.ts';
import { command } from '../args/command.ts';
import { toggle, valued } from '../args/flags.ts';
import { flagSettings, namesOf, settingFlags } from '../args/sandbox-flags.ts';
import { summaries } from '../args/summaries.ts';
import { anyText, portNumber } from '../args/values.ts';

/** Names of the sandbox's files in its folder. */
const taskFiles = ['sandbox.sqlite', 'sandbox.lock'].flatMap(databaseFiles);

const keyVariable = 'PROMPTPRESS_API_KEY';

const {
  blockedMark,
  unsafeMark,
  recitedMark,
  emptyMark,
  notJsonMark,
  badCallMark,
  refusedMark,
  cutMark,
  streamErrorMark,
} = defaultSettings;

/** Help on marks in the prompts of texts. */
const textMarks =
  `${blockedMark} blocks the prompt, ${unsafeMark} and ${recitedMark} filter the answer, ${refusedMark} is refused, ` +
  `${emptyMark} and ${notJsonMark} spoil it, ${badCallMark} spoils a function call, ${cutMark} and ${streamErrorMark} break a stream off`;

/** `promptpress sandbox` */
export const sandbox = command(
  {
    name: 'sandbox',
    summary: summaries.sandbox,
    operands: '',
    about: `Serves the image workflow and the text endpoints on this machine only, with images drawn and texts written from the prompt: the same prompt gives the same answer. Its first line on standard output is its address. It runs until Ctrl-C. Its key is PROMPTPRESS_API_KEY, or the word sandbox if that is not set. A rehearsal does not need it: promptpress run FILE --sandbox starts its own.
Prompts with [banned] in them are refused; [moderated] and [fail:NAME] fail (${Object.keys(failReasons).join(', ')}, or words of your own), [broken] fails once, [cancelled] ends in CANCEL, [late] takes an hour longer, [stuck] never finishes. Texts: ${textMarks}. Faults on demand are written route:fault[=detail][:when].`,
    examples: [
      { command: 'promptpress sandbox --port 8080', does: 'on a port of your choice' },
      { command: 'promptpress sandbox --pace 0', does: 'every task is finished at once' },
      {
        command: 'promptpress sandbox --fault submit:429=2:10%',
        does: 'about every tenth submission is refused for 2 s',
      },
      {
        command: 'promptpress sandbox --fault imagine:reset-after:at-3',
        does: 'the third imagine is made but not answered',
      },
      {
        command: 'promptpress sandbox --names midjourney-proxy,keyHeader=x-api-key,path=art',
        does: 'with the words of one gateway',
      },
    ],
    flags: {
      port: valued('PORT', 'port on 127.0.0.1; default 0: any free one', portNumber),
      names: valued(
        'NAMES',
        `the words of the service, as in a pipeline: neutral or midjourney-proxy, and own ones after it, for example midjourney-proxy,path=art; words: ${nameKeys.join(', ')}; default neutral. With midjourney-proxy the sandbox also takes what other clients of that family send (the key in mj-api-secret, no botType, submit/change)`,
        namesOf,
      ),
      state: valued(
        'DIR',
        'keep the tasks in this folder, so that a sandbox started later continues them; default: memory',
        anyText,
      ),
      'trust-directory': toggle(
        'with --state: use a folder whose tasks git tracks, or that a tracked link leads to',
      ),
      ...settingFlags,
    },
  },
  { least: 0, most: 0 },
  async (flags, _operands, { io }) =>
    await closingAfter(async (disposables) => {
      const interrupts = io.interrupts();
      disposables.add(() => interrupts.stop());
      const state = flags.state === undefined ? undefined : resolve(io.cwd, flags.state);
      if (state !== undefined && !flags['trust-directory']) await refuseTracked(state, io.env, taskFiles);
      const running = await started({
        apiKey: io.env[keyVariable] || sandboxKey,
        names: flags.names ?? neutralNames,
        port: flags.port ?? 0,
        ...(state === undefined ? {} : { state }),
        settings: flagSettings(flags),
      });
      disposables.add(() => running.close());
      await io.out(`${running.url}\n`);
      const key = io.env[keyVariable] ? `the one in ${keyVariable}` : `"${sandboxKey}"`;
      io.err(`The key is ${key}. Counters: ${running.url}/sandbox/counters. Ctrl-C ends it.\n`);
      try {
        imageLibrary();
      } catch (error) {
        if (!(error instanceof ImageLibraryError)) throw error;
        io.err(failureText(`warning: ${error.message}`, `Only texts are served. ${error.hint}`));
      }
      await aborted(interrupts.drain);
      return exitCodes.ok;
    }),
);

/** Starts the sandbox. @throws CliError (exit 2) for a setting out of range or a taken port */
async function started(options: SandboxOptions): Promise<Sandbox> {
  const { startSandbox } = await import('../../sandbox/sandbox.ts');
  try {
    return await onPort(options.port ?? 0, () => startSandbox(options));
  } catch (error) {
    throw error instanceof RangeError ? usageError(error.message) : error;
  }
}
