import { exitCodes, usageError } from '../../../app/errors/cli-error.ts';
import { originsVariable, originWords, readOrigin } from '../../../app/service/trust.ts';
import {
  isTrusted,
  isVariableName,
  keyOf,
  keyVariable,
  readTrust,
  trustFile,
  writeTrust,
} from '../../../app/service/trust-file.ts';
import { command } from '../../args/command.ts';
import { toggle, valued } from '../../args/flags.ts';
import { summaries } from '../../args/summaries.ts';

const variableName = (text: string, name: string): string => {
  const variable = text.replace(/^\$\{?(.*?)\}?$/, '$1');
  if (isVariableName(variable)) return variable;
  throw usageError(`${name} takes the name of an environment variable, for example ${keyVariable}.`);
};

/** `promptpress trust [ORIGIN]` */
export const trust = command(
  {
    name: 'trust',
    summary: summaries.trust,
    operands: '[ORIGIN]',
    about: `A pipeline file may name its service (service.baseUrl) and the variable that holds the key (service.apiKey). The key is sent there only with your permission: at a terminal you are asked once; otherwise give it beforehand with this command. You trust one origin (scheme, host and port) with one variable; an edit of the file or another value of the variable does not ask again. An address that you give yourself, with --base-url or PROMPTPRESS_BASE_URL, needs no trust. The same holds for keys of this machine and addresses in a file of variables (--dotenv): gateway, engine, bucket; and for a bucket that a state names, if you never named it yourself (--out) on this machine.
Without ORIGIN it lists what is trusted. It is kept in $XDG_STATE_HOME/promptpress/trust.json (default: ~/.local/state). Where nothing can be kept, ${originsVariable} holds origins that are trusted with any key, separated by commas.`,
    examples: [
      { command: 'promptpress trust https://gateway.example', does: `with $${keyVariable}` },
      { command: 'promptpress trust https://gateway.example --key TEAM_KEY', does: 'with $TEAM_KEY' },
      {
        command: 'promptpress trust postgres://db.example:5432',
        does: 'with $PGPASSWORD: an engine that a file of variables names',
      },
      { command: 'promptpress trust s3://results', does: 'a bucket that a run on an engine names' },
      { command: 'promptpress trust https://gateway.example --forget', does: 'with nothing any more' },
      { command: 'promptpress trust', does: 'lists what is trusted' },
    ],
    flags: {
      key: valued(
        'NAME',
        `variable that holds the key; default ${keyVariable}, for an engine PGPASSWORD, for a bucket AWS_SECRET_ACCESS_KEY`,
        variableName,
      ),
      forget: toggle('end the trust: with --key for this variable, otherwise for all'),
    },
  },
  { least: 0, most: 1 },
  async ({ key, forget }, [given], { io }) => {
    if (key !== undefined && Object.values(io.env).includes(key))
      // The shell has replaced `$TEAM_KEY` in `--key $TEAM_KEY` by its value, which must not be stored.
      throw usageError(
        '--key takes the name of a variable, but this is the value of one.',
        'Write it without a $.',
      );
    const file = trustFile(io.env);
    const { trusted, damage } = readTrust(file);
    if (damage !== undefined)
      throw usageError(
        `What you trust cannot be read. ${damage}`,
        'Move that file away, then run this command again.',
      );
    if (given === undefined) {
      if (forget || key !== undefined) throw usageError('--key and --forget need an ORIGIN.');
      if (trusted.length === 0) io.err('Nothing is trusted yet.\n');
      await io.out(trusted.map((one) => `${one.origin}  $${one.key}\n`).join(''));
      return exitCodes.ok;
    }
    const origin = readOrigin(given, 'the command line');
    if (forget) {
      const left = trusted.filter((one) => one.origin !== origin || (key !== undefined && one.key !== key));
      if (left.length === trusted.length)
        throw usageError(`${origin} was not trusted with ${key ?? 'any key'}.`);
      await writeTrust(file, left);
      await io.out(`${origin} is no longer trusted${key === undefined ? '' : ` with $${key}`}\n`);
      return exitCodes.ok;
    }
    const wanted = { key: key ?? keyOf(origin), origin };
    if (!isTrusted(trusted, wanted)) await writeTrust(file, [...trusted, wanted]);
    await io.out(`$${wanted.key} may be sent to ${originWords(origin)}\n`);
    return exitCodes.ok;
  },
);
