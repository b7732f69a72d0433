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
    about: `A pipeline file may name the service it wants (service.baseUrl) and the variable that holds the key (service.apiKey). The key goes there only where you have said so: at a terminal you are asked once, elsewhere this command says it beforehand. What is trusted is one variable at one origin (scheme, host and port); an edit of the file or another value of the variable does not ask again. An address that you give yourself, with --base-url or PROMPTPRESS_BASE_URL, needs no trust. The same holds for keys of this machine and the addresses in a file of variables (--dotenv): gateway, engine, bucket; and for a bucket that a state names, on a machine on which you never named it yourself (--out).
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
        `variable that holds the key; default ${keyVariable}, of an engine PGPASSWORD, of a bucket AWS_SECRET_ACCESS_KEY`,
        variableName,
      ),
      forget: toggle('trust it no more: with --key this variable there, else all'),
    },
  },
  { least: 0, most: 1 },
  async ({ key, forget }, [given], { io }) => {
    if (key !== undefined && Object.values(io.env).includes(key))
      // The shell has replaced `$TEAM_KEY` in `--key $TEAM_KEY` by its value, which must not be stored.
      throw usageError(
        '--key takes the name of a variable, and this is what one holds.',
        'Write it without a $.',
      );
    const file = trustFile(io.env);
    const { trusted, damage } = readTrust(file);
    if (damage !== undefined)
      throw usageError(
        `What you trust cannot be read. ${damage}`,
        'Move that file away, then give this command again.',
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
      await io.out(`${origin} is trusted no more${key === undefined ? '' : ` with $${key}`}\n`);
      return exitCodes.ok;
    }
    const wanted = { key: key ?? keyOf(origin), origin };
    if (!isTrusted(trusted, wanted)) await writeTrust(file, [...trusted, wanted]);
    await io.out(`$${wanted.key} may be sent to ${originWords(origin)}\n`);
    return exitCodes.ok;
  },
);
